/** Starts a parser so that it can do no harm: namespaces and limits, no environment, nothing to write, start or read but the program. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface ParserLimits {
  /** Bound on JavaScript's heap. A page of 10 MB makes a DOM of some 150 MB. */
  readonly heapMaxMb: number;
  /** All writable memory (RLIMIT_DATA). Node starts with 80 MB of it and has 175 MB with all libraries loaded. */
  readonly dataMaxMb: number;
  /** CPU seconds of its whole life (RLIMIT_CPU). */
  readonly cpuMaxS: number;
}

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

/** RLIMIT_AS, for kernels that count less in RLIMIT_DATA. Node reserves 1.1 GB without using it; other releases may reserve more. */
const ADDRESS_SPACE_MAX_MB = 4_096;
/** V8 reserves memory for code as it was writable from release 13 on; it counts in RLIMIT_DATA, unused as it is. */
const CODE_RANGE_MB = Number.parseInt(process.versions.v8, 10) >= 13 ? 512 : 0;
/** On the scale up to 19: documents only use cores that turns leave idle. */
const NICENESS = '5';
const OOM_SCORE = '1000';
/** Node needs some twenty to start, and a parser opens nothing but modules. */
const OPEN_FILES_MAX = 128;
const MB = 1024 * 1024;
const USUAL_FOLDERS = ['/usr/bin', '/bin', '/usr/local/bin'];

/** The path of a program of the system's; undefined where there is none. */
function find(program: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter).filter((folder) => folder.startsWith('/')), ...USUAL_FOLDERS];
  return folders
    .map((folder) => join(folder, program))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** Folders that the libraries lie in: as they are named, and where links lead. */
function libraryFolder(): string {
  const resolved = createRequire(import.meta.url).resolve('pdfjs-dist/package.json');
  const marker = `${sep}node_modules${sep}`;
  return resolved.slice(0, resolved.indexOf(marker) + marker.length);
}

/** The rooms whose files a parser runs, with a separator behind. */
const ROOMS = ['assistant', 'protocol', 'watch'].map((room) => fileURLToPath(new URL(`../../${room}/`, import.meta.url)));

const PROGRAM = fileURLToPath(new URL('./parser-program.js', import.meta.url));
/** Tells modules from scripts. */
const PACKAGE = fileURLToPath(new URL('../../../package.json', import.meta.url));
const PERMISSION = process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission';

/** Makes, as the first process of its namespaces, a read-only file system of the paths up to `--`, and runs what follows in it. */
const ENCLOSE = `set -e
mount -t tmpfs -o mode=755,size=64k,nr_inodes=512 tmpfs /proc
cd /proc
mkdir proc
mount -t proc proc proc
while [ "$1" != -- ]; do
  if [ -e ".$1" ] || [ ! -e "$1" ]; then :
  elif [ -L "$1" ]; then cp -P "$1" ".$1"
  else
    if [ -d "$1" ]; then mkdir -p ".$1"; else mkdir -p ".\${1%/*}"; : > ".$1"; fi
    mount --rbind -o ro,nosuid,nodev "$1" ".$1"
  fi
  shift
done
shift
mount -o remount,ro .
chroot . "$@"
exit $?`;
/** Where the system's programs, libraries and fonts lie. */
const SYSTEM_FOLDERS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/etc/fonts'];
const PROBE_TIMEOUT_MS = 10_000;

/** Before a command, so that it sees no process, network or file of the host and ends with the service; undefined: a program is missing. */
function enclosure(): readonly string[] | undefined {
  const [setpriv, unshare, env] = ['setpriv', 'unshare', 'env'].map(find);
  if (process.platform !== 'linux' || setpriv === undefined || unshare === undefined || env === undefined) return undefined;
  return [
    ...[setpriv, '--pdeathsig', 'KILL', '--'],
    ...[unshare, '--user', '--map-root-user', '--net', '--pid', '--ipc', '--mount', '--fork', '--kill-child', '--'],
    ...['/bin/sh', '-c', ENCLOSE, 'sh', ...SYSTEM_FOLDERS, process.execPath, ...ROOMS, libraryFolder(), PACKAGE, '--'],
    ...[env, '-i', setpriv, '--bounding-set=-all', '--inh-caps=-all', '--no-new-privs', '--'],
  ];
}

let enclosed: readonly string[] | null | undefined;

/** Tried once: containers and hardened kernels refuse namespaces to users. */
function enclosedBy(): readonly string[] | null {
  if (enclosed === undefined) {
    const [command, ...args] = enclosure() ?? [];
    const isAllowed =
      command !== undefined &&
      spawnSync(command, [...args, process.execPath, '--version'], { env: {}, cwd: '/', stdio: 'ignore', timeout: PROBE_TIMEOUT_MS })
        .status === 0;
    enclosed = isAllowed ? [command, ...args] : null;
  }
  return enclosed;
}

const PRLIMIT = find('prlimit');

/** Whether the system itself bounds a parser's memory; else only V8 and the parser's own watch do (watch-thread.ts). */
export const isLimitedBySystem = PRLIMIT !== undefined;

/** Whether a parser that was taken over is alone with its document: else it reaches what the service's user does, the network and sockets too. */
export const isIsolated = () => enclosedBy() !== null;

/** Programs that each set something and become the next one. A host that is out of memory kills parsers first. */
function bounds({ dataMaxMb, cpuMaxS }: ParserLimits): string[] {
  const [choom, nice] = ['choom', 'nice'].map(find);
  const limits = [
    `--data=${(dataMaxMb + CODE_RANGE_MB) * MB}`,
    `--as=${ADDRESS_SPACE_MAX_MB * MB}`,
    // The soft limit sends SIGXCPU, which ends the process as well.
    `--cpu=${cpuMaxS}:${cpuMaxS + 1}`,
    `--nofile=${OPEN_FILES_MAX}`,
    '--fsize=0',
    '--core=0',
  ];
  return [
    ...(choom === undefined ? [] : [choom, '-n', OOM_SCORE, '--']),
    ...(nice === undefined ? [] : [nice, '-n', NICENESS]),
    ...(PRLIMIT === undefined ? [] : [PRLIMIT, ...limits, '--']),
  ];
}

/** `watchMb`: resident memory beyond which the parser's watch ends it. */
export function launchOf(limits: ParserLimits, watchMb: number): Launch {
  const around = enclosedBy();
  const [command = '', ...args] = [
    ...(around ?? []),
    ...bounds(limits),
    process.execPath,
    `--max-old-space-size=${limits.heapMaxMb}`,
    PERMISSION,
    // Images are decoded by native code: within the system's bounds, outside of JavaScript's.
    '--allow-addons',
    ...[...ROOMS, libraryFolder()].map((folder) => `--allow-fs-read=${folder}`),
    '--allow-worker',
    PROGRAM,
    // Enclosed, it ends with the service all the same, and its parent is the shell.
    String(around === null ? process.pid : 1),
    String(watchMb),
  ];
  return { command, args };
}
