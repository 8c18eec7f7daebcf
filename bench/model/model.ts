/** The fake model (`upstream.ts`), started for as long as something is measured. */
import { join } from 'node:path';
import { CLIENT_CORE, freePort, start } from '../servers/processes.ts';

export type Model = Awaited<ReturnType<typeof startModel>>;

export interface Served {
  readonly requests: number;
  readonly bytes: number;
}

export async function withModel<T>(outDir: string, work: (model: Model) => Promise<T>): Promise<T> {
  const model = await startModel(outDir);
  try {
    return await work(model);
  } finally {
    await model.process.stop();
  }
}

async function startModel(outDir: string) {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const process = await start({
    name: 'upstream',
    core: CLIENT_CORE,
    file: join(import.meta.dirname, 'upstream.js'),
    args: ['--port', String(port)],
    env: {},
    logFile: join(outDir, 'upstream.log'),
    readyUrl: `${origin}/healthz`,
  });
  const served = async (): Promise<Served> => (await (await fetch(`${origin}/served`)).json()) as Served;
  return { process, origin, served };
}
