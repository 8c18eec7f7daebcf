/**
 * How a parser process is started so that it can do no harm: with limits of the system's own on its memory and time, without
 * environment, without the right to write or to start anything, and able to read the program and its libraries only.
 */
import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface ParserLimits {
  /** Bound on JavaScript's heap. A page of 10 MB makes a DOM of some 150 MB. */
  readonly heapMaxMb: number;
  /**
   * Bound on all writable memory (RLIMIT_DATA), buffers included. Node starts with 80 MB of it, mostly reserved for stacks, and has 175 MB
   * with all libraries loaded.
   */
  readonly dataMaxMb: number;
  /** CPU seconds of its whole life (RLIMIT_CPU). */
  readonly cpuMaxS: number;
}

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * Bound on the address space (RLIMIT_AS), for kernels that count less in RLIMIT_DATA. Node reserves 1.1 GB without using it; other releases
 * may reserve more.
 */
const ADDRESS_SPACE_MAX_MB = 4_096;
/** Node needs some twenty to start, and a parser opens nothing but modules. */
const OPEN_FILES_MAX = 128;
const MB = 1024 * 1024;
const USUAL_FOLDERS = ['/usr/bin', '/bin', '/usr/local/bin'];

/** The path of `prlimit` (util-linux), which sets limits and then becomes the program; undefined where there is none. */
function findPrlimit(path = process.env.PATH ?? ''): string | undefined {
  const folders = [...path.split(delimiter).filter((folder) => folder.startsWith('/')), ...USUAL_FOLDERS];
  return folders
    .map((folder) => join(folder, 'prlimit'))
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

const LIMITED_BY = findPrlimit();

/** Whether the system itself bounds a parser's memory; else only V8 and the parser's own watch do (watch-thread.ts). */
export const isLimitedBySystem = LIMITED_BY !== undefined;

/** `watchMb`: resident memory beyond which the parser's watch ends it. */
export function launchOf(limits: ParserLimits, watchMb: number): Launch {
  const node = [
    `--max-old-space-size=${limits.heapMaxMb}`,
    // Native code of libraries is outside of every bound of JavaScript's: nothing here needs any.
    '--no-addons',
    // Named so by Node 20, and still understood by Node 22.
    '--experimental-permission',
    ...ROOMS.map((room) => `--allow-fs-read=${room}`),
    `--allow-fs-read=${libraryFolder()}`,
    '--allow-worker',
    fileURLToPath(new URL('./parser-program.js', import.meta.url)),
    String(process.pid),
    String(watchMb),
  ];
  if (LIMITED_BY === undefined) return { command: process.execPath, args: node };
  const { dataMaxMb, cpuMaxS } = limits;
  return {
    command: LIMITED_BY,
    args: [
      `--data=${dataMaxMb * MB}`,
      `--as=${ADDRESS_SPACE_MAX_MB * MB}`,
      // The soft limit sends SIGXCPU, which ends the process as well.
      `--cpu=${cpuMaxS}:${cpuMaxS + 1}`,
      `--nofile=${OPEN_FILES_MAX}`,
      '--fsize=0',
      '--core=0',
      '--',
      process.execPath,
      ...node,
    ],
  };
}
