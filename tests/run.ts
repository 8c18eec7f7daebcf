/**
 * Runs the tests of one tier: `node dist/tests/run.js <tier> [part of a path …]`, so `npm test -- gateway/http` runs one folder. Files
 * share a process, and processes stand side by side as far as the machine and the tier allow.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { filesBelow } from './support/files-below.ts';
import { endLeftBehind, testFolder } from './support/left-behind.ts';
import { AWAITS_AT_TOP } from './support/rooms.ts';

interface Tier {
  readonly files: (path: string) => boolean;
  /** Files in one process; absent: each has its own, because it starts programs, or counts what its process does. */
  readonly together?: number;
  readonly processes: number;
  readonly timeoutMinutes: number;
  /** Whether files lie in memory: the disk is not what is tested. */
  readonly inMemory?: boolean;
  readonly env?: NodeJS.ProcessEnv;
  /** A script that is run first, with the run's folder. */
  readonly before?: string;
}

const CORES = Math.max(2, availableParallelism());
/**
 * What copies organisations, fills disks, packs, attacks every expression, lays out every picture or reads answers byte by byte for half a
 * minute. So is, wherever it lies, what starts the program.
 */
const SYSTEM = /^(?:bench|program|scenarios)\/|^expressions\.|^machines\/pictures\.|^assistant\/models\/makers\.|^web\/client\/package\./;
const OTHERS = ['kills', 'browser', 'examples'];
/** Seeds in plenty: what strangers send, and what may happen to the processes of a cell. */
const SEEDED = ['fuzz', 'simulation'];
const roomOf = (path: string) => path.split('/')[0] ?? '';
const below =
  (rooms: readonly string[], ending = '.test.js') =>
  (path: string) =>
    rooms.includes(roomOf(path)) && path.endsWith(ending);

const here = dirname(fileURLToPath(import.meta.url));
const MAIN = join(here, '..', 'main.js');

const IMPORTED = / from '(\.[^']+\.js)';$/gm;
/** Or imported later, or started as a program of its own. */
const NAMED = /(?: from |\bimport\(|\bnew URL\()'(\.[^']+\.js)'/g;

/** Whether a file, or one of ours that it names in such a way, is such a one. */
function reaches(path: string, named: RegExp, isSuch: (path: string, text: string) => boolean, seen = new Set<string>()): boolean {
  if (seen.has(path)) return false;
  seen.add(path);
  const text = readFileSync(path, 'utf8');
  if (isSuch(path, text)) return true;
  const files = Array.from(text.matchAll(named), ([, to = '']) => join(dirname(path), to));
  return files.some((to) => (to === MAIN || (to.startsWith(here) && existsSync(to))) && reaches(to, named, isSuch, seen));
}

/** A start of the whole program takes seconds: what needs one is of the system, also below a room. */
const isOfSystem = (path: string) =>
  path.endsWith('.test.js') &&
  !OTHERS.includes(roomOf(path)) &&
  (SYSTEM.test(path) || reaches(join(here, path), NAMED, (each) => each === MAIN));

/**
 * Whether a file awaits something before its tests are known. Beside others it would come after the first of their tests, and `node --test`
 * may have ended by then.
 */
const awaitsAtTop = (path: string) => reaches(join(here, path), IMPORTED, (_, text) => AWAITS_AT_TOP.test(text));

const TIERS: Readonly<Record<string, Tier>> = {
  unit: {
    files: (path) => path.endsWith('.test.js') && !OTHERS.includes(roomOf(path)) && !isOfSystem(path),
    // A process reads the whole program first, which costs half a second; a dozen files keep the queues even.
    together: 12,
    // Some wait for a process or a socket, and leave their core to the one more.
    processes: CORES + 1,
    timeoutMinutes: 10,
    inMemory: true,
  },
  // Starts, copies and restores: they wait for each other more than they compute.
  system: { files: isOfSystem, processes: 2 * CORES, timeoutMinutes: 10 },
  kills: { files: below(['kills']), processes: 2, timeoutMinutes: 10 },
  browser: { files: below(['browser']), processes: 2, timeoutMinutes: 10, before: 'browser/unpack.js' },
  // They install from the registry.
  examples: { files: below(['examples']), processes: 1, timeoutMinutes: 10 },
  chaos: { files: below(['chaos'], '.chaos.js'), processes: 1, timeoutMinutes: 60, env: { THOROUGH: '1' } },
  fuzz: { files: below(SEEDED, '.fuzz.js'), processes: 2, timeoutMinutes: 240 },
};

/** In memory only where there is room for it: containers give some megabytes. */
const MEMORY = '/dev/shm';
const MEMORY_MIN_BYTES = 2 * 1024 ** 3;

function memoryFolder(): string | undefined {
  if (!existsSync(MEMORY)) return undefined;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= MEMORY_MIN_BYTES ? MEMORY : undefined;
}

/** Groups of files of one folder each; the order is that of the paths. */
function grouped(paths: readonly string[], together: number): (readonly string[])[] {
  const groups = new Map<string, string[][]>();
  for (const path of paths) {
    const folder = awaitsAtTop(path) ? path : path.split('/').slice(0, -1).slice(0, 2).join('/');
    const ofFolder = groups.get(folder) ?? [[]];
    groups.set(folder, ofFolder);
    if (ofFolder.at(-1)?.length === together) ofFolder.push([]);
    ofFolder.at(-1)?.push(path);
  }
  return [...groups.values()].flat();
}

/** One file for each group, which imports the group's: what `node --test` starts a process for. */
function entries(folder: string, groups: readonly (readonly string[])[]): string[] {
  return groups.map((paths, index) => {
    const [first = ''] = paths;
    if (paths.length === 1) return join(here, first);
    const entry = join(folder, `${first.split('/').slice(0, -1).join('-') || 'root'}-${index}.mjs`);
    writeFileSync(entry, paths.map((path) => `import '${pathToFileURL(join(here, path)).href}';\n`).join(''));
    return entry;
  });
}

function refuse(why: string): never {
  process.stderr.write(`${why}\n`);
  process.exit(2);
}

function run(name: string, words: readonly string[]): void {
  const tier = TIERS[name];
  if (tier === undefined) refuse(`There is no tier "${name}". There are: ${Object.keys(TIERS).join(', ')}.`);
  const named = filesBelow(here, '', '.js').filter(
    (path) => words.length === 0 || words.some((word) => path.includes(word.replace(/^(?:dist\/)?tests\/|\.[jt]s$/g, ''))),
  );
  const paths = named.filter(tier.files);
  const elsewhere = Object.keys(TIERS).filter((other) => other !== name && named.some((TIERS[other] as Tier).files));
  if (paths.length === 0)
    refuse(`No test of "${name}" has ${words.join(' or ')} in its path.${elsewhere.map((other) => ` "${other}" has.`).join('')}`);
  const folder = testFolder(tier.inMemory === true ? memoryFolder() : undefined);
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
  const env = { ...process.env, ...tier.env, TMPDIR: folder };
  if (tier.before !== undefined) spawnSync(process.execPath, [join(here, tier.before)], { stdio: 'inherit', env });
  const flags = [
    '--enable-source-maps',
    '--import',
    pathToFileURL(join(here, 'support', 'seed.js')).href,
    '--test',
    `--test-concurrency=${tier.processes}`,
    `--test-timeout=${tier.timeoutMinutes * 60_000}`,
    '--test-force-exit',
  ];
  const child = spawn(process.execPath, [...flags, ...entries(folder, grouped(paths, tier.together ?? 1))], {
    stdio: 'inherit',
    env,
    // A group of its own, so that the programs which tests started end with them, however that comes.
    detached: true,
  });
  const endAll = (signal: NodeJS.Signals) => {
    try {
      process.kill(-(child.pid as number), signal);
    } catch {
      // None is left.
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => endAll('SIGTERM'));
  child.once('exit', async (code) => {
    const left = await endLeftBehind(child.pid as number, folder);
    endAll('SIGKILL');
    process.exit(left.length > 0 ? 1 : (code ?? 1));
  });
}

const [tier = '', ...words] = process.argv.slice(2);
run(tier, words);
