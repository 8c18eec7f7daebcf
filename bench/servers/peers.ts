/** The servers of others, `bench/peers/<name>/`, as candidates: installed on first use, started on the server's core, left as they are. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from '../load/compile.ts';
import { diskOfRun } from '../meters/slow-disk.ts';
import type { Candidate, Scene, Target } from './candidate.ts';
import { type PeerDescription, readPeers } from './peer-description.ts';
import { freePort, newDataDir, SERVER_CORE, start } from './processes.ts';

/** The largest has some hundred megabytes to fetch. */
const INSTALL_MAX_MS = 10 * 60_000;
/** What was installed, kept beside it: npm takes it away with the rest when it installs anew. */
const INSTALLED_FROM = 'node_modules/.installed-from';

export interface Peer extends Candidate {
  readonly role: 'peer';
  /** Brings its packages here unless they are. @throws, in one line, when they cannot be had */
  install(): void;
}

function fingerprintOf(folder: string): string {
  return createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex');
}

/** Lines of npm's errors that say little to a reader. */
const NOT_SAYING = /^(?:code|syscall|errno|path|A complete log) /;

/** The first sentence of an error of npm. */
function whatNpmSays(stderr: string): string {
  const said = stderr.split('\n').filter((line) => line.startsWith('npm error '));
  const lines = said.map((line) => line.slice('npm error '.length).trim());
  return lines.find((line) => line !== '' && !NOT_SAYING.test(line)) ?? 'it says nothing';
}

function install({ name, folder }: PeerDescription): void {
  const stamp = join(folder, INSTALLED_FROM);
  const wanted = fingerprintOf(folder);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  process.stderr.write(`Installing ${name}, on first use …\n`);
  // Their install scripts are no part of what is measured: reports of who installs, and types.
  const args = ['ci', '--ignore-scripts', '--no-fund', '--no-audit'];
  const { status, stderr, error } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8', timeout: INSTALL_MAX_MS });
  if (status !== 0) {
    throw new Error(`npm ci in ${folder} failed: ${error?.message ?? whatNpmSays(stderr)}`);
  }
  writeFileSync(stamp, wanted);
}

async function startPeer(
  peer: PeerDescription,
  { model, upstream, streams, outDir, env, disk = diskOfRun(outDir, peer.name) }: Scene,
): Promise<Target> {
  const port = await freePort();
  const address = `${upstream}/v1`;
  const filled = (text: string): string => text.replaceAll('%UPSTREAM%', address).replaceAll('%MODEL%', model);
  const { path: dataDir, remove } = newDataDir(`bench-${peer.name}`);
  try {
    const process = await start({
      name: peer.name,
      core: SERVER_CORE,
      file: join(peer.folder, 'server.mjs'),
      args: [],
      env: {
        PORT: String(port),
        OPENAI_BASE_URL: address,
        OPENAI_API_KEY: 'x',
        MODEL: model,
        STREAMS: String(streams),
        DATA_DIR: dataDir,
        HOME: dataDir,
        // Nothing is to leave this machine.
        DO_NOT_TRACK: '1',
        ...peer.env,
        ...disk?.env,
        ...env,
      },
      logFile: join(outDir, `${peer.name}.log`),
      readyUrl: `http://127.0.0.1:${port}${peer.ready}`,
    });
    return {
      name: peer.name,
      process,
      port,
      path: peer.request.path,
      headers: ['Content-Type: application/json', ...peer.request.headers.map(filled)],
      body: filled(JSON.stringify(peer.request.body)),
      answer: peer.answer,
      stop: async () => {
        await process.stop();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Every peer that has a folder. */
export function peers(): readonly Peer[] {
  return readPeers(join(projectDir(), 'bench/peers')).map((peer) => ({
    name: peer.name,
    what: peer.what,
    role: 'peer',
    versions: peer.versions,
    keeps: peer.keeps,
    notes: peer.notes,
    openStreams: peer.openStreams,
    install: () => install(peer),
    start: (scene) => startPeer(peer, scene),
  }));
}
