/** The operator's command `restore --from`, run as they run it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { litestreamBin } from './litestream.ts';

const CLI = fileURLToPath(new URL('../../cli.js', import.meta.url));

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command of the operator's on `dataDir`, with the environment `env` and Litestream. */
export async function runCli(args: readonly string[], dataDir: string, env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const child = spawn(process.execPath, ['--enable-source-maps', CLI, ...args], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: dataDir, LITESTREAM_BIN: litestreamBin(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].on('data', (chunk: Buffer) => {
      said[stream] += chunk.toString('utf8');
    });
  }
  const [code] = (await once(child, 'close')) as [number];
  return { code, ...said };
}
