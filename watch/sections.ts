/**
 * What ran on this thread: names of the pieces of synchronous work that took long enough to matter, for the stall watch to read.
 * One list a thread, because a thread has one event loop. Two clock reads a section and nothing kept for a short one; what runs
 * for every delta of an answer is no section.
 */

/** Shorter ones are what a loop is for. */
const NOTED_FROM_MS = 10;
/** Noted between two looks of the watch; further ones are as many as these and less telling. */
const NOTED_MAX = 16;
/** An SQL text is told from others by its beginning. */
const NAME_MAX_CHARS = 160;

export interface Section {
  /** `POST /v1/chat`, `read SELECT …`, `turn callModel`. Never anything that a caller wrote. */
  readonly what: string;
  /** A request's, an organisation's or a turn's id; '' where there is none. */
  readonly id: string;
  readonly ms: number;
}

let noted: Section[] = [];
let lastWhat = '';
let lastId = '';

/** Does `work`, synchronously, under a name. What it returns or throws is handed on; of a promise only the synchronous part counts. */
export function section<T>(what: string, id: string, work: () => T): T {
  lastWhat = what;
  lastId = id;
  const startedMs = performance.now();
  try {
    return work();
  } finally {
    const ms = performance.now() - startedMs;
    if (ms >= NOTED_FROM_MS) note(what, id, ms);
  }
}

/** Says what continues now, where the work that follows is not one call: continuations after a write, a message of another thread. */
export function passing(what: string, id = ''): void {
  lastWhat = what;
  lastId = id;
}

/** A piece of work that was timed by whoever did it. */
export function note(what: string, id: string, ms: number): void {
  if (ms < NOTED_FROM_MS || noted.length >= NOTED_MAX) return;
  noted.push({ what: what.replaceAll(/\s+/g, ' ').trim().slice(0, NAME_MAX_CHARS), id, ms: Math.round(ms) });
}

/** What was noted since the last call, the longest first, and what began last, however short it was. */
export function takeSections(): { readonly ran: readonly Section[]; readonly last: { readonly what: string; readonly id: string } } {
  const ran = noted;
  if (ran.length > 0) noted = [];
  return { ran: ran.sort((one, other) => other.ms - one.ms), last: { what: lastWhat, id: lastId } };
}
