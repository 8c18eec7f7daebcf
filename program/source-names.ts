/**
 * Stack traces in the log name the sources' files and lines, not those of the compiled program (RUN-34). The source maps are read when a trace is first
 * written: `--enable-source-maps` would read all of them as the program starts, and keep them.
 */
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';
import { LRUCache } from 'lru-cache';
import pino from 'pino';

/** Maps of some 100 KB in memory each. A trace has ten frames, and one that shows again is mostly the same. */
const MAPS_KEPT = 32;
/** Frames of a trace, with those of its causes; further ones stay as they are. */
const FRAMES_MAX = 60;
/** A frame of a module: what stands before its address, file, line, column and what follows. */
const FRAME = /^( {4}at (?:async )?(?:[^\n()]+ \()?)(file:\/\/[^\s()]+\.js):(\d{1,9}):(\d{1,9})(\)?)$/;

/** Null: a file that has no map, as those of packages. */
type KnownMap = { readonly map: SourceMap } | { readonly map: null };

const maps = new LRUCache<string, KnownMap>({ max: MAPS_KEPT });

function mapOf(url: string): SourceMap | null {
  const known = maps.get(url);
  if (known !== undefined) return known.map;
  let map: SourceMap | null = null;
  try {
    map = new SourceMap(JSON.parse(readFileSync(fileURLToPath(`${url}.map`), 'utf8')));
  } catch {
    // Whatever is wrong with a map must not hide the error that is being logged.
  }
  maps.set(url, { map });
  return map;
}

function sourceLine(line: string): string {
  const [, before = '', url = '', row, column, after = ''] = FRAME.exec(line) ?? [];
  if (url === '') return line;
  const origin = mapOf(url)?.findOrigin(Number(row), Number(column));
  if (origin === undefined || !('fileName' in origin)) return line;
  return `${before}${fileURLToPath(new URL(origin.fileName, url))}:${origin.lineNumber}:${origin.columnNumber}${after}`;
}

/** The stack trace with the frames of this program in terms of its sources. Never throws. */
export function inSources(stack: string): string {
  const lines = stack.split('\n');
  return [...lines.slice(0, FRAMES_MAX).map(sourceLine), ...lines.slice(FRAMES_MAX)].join('\n');
}

/** How the log writes what was thrown: an error as pino does, with its trace in terms of the sources; anything else as it is. */
export function loggedError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const logged = pino.stdSerializers.err(error);
  return { ...logged, stack: inSources(logged.stack) };
}
