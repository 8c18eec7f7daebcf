/**
 * Names of the synchronous work on this thread that took long enough to matter, for the stall watch. One list for each thread, because a
 * thread has one event loop. A section costs two clock reads, and short ones are not kept. Work done for every delta is no section.
 */

/** Shorter sections are normal. */
const NOTED_FROM_MS = 10;
/** Sections kept between two measurements; more would add little. */
const NOTED_MAX = 16;
/** The beginning identifies an SQL text. */
const NAME_MAX_CHARS = 160;

export interface Section {
  /** `POST /v1/chat`, `read SELECT …`, `turn callModel`. Never a caller's text. */
  readonly what: string;
  /** A request's, an organisation's or a turn's id; '' where there is none. */
  readonly id: string;
  readonly ms: number;
}

let noted: Section[] = [];
let lastWhat = '';
let lastId = '';

/** Runs `work` under a name and passes on what it returns or throws. Only the synchronous part counts. */
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

/** Names the work that follows where it is not one call: continuations after a write, a message from another thread. */
export function passing(what: string, id = ''): void {
  lastWhat = what;
  lastId = id;
}

/** Notes work that its caller has timed. */
export function note(what: string, id: string, ms: number): void {
  if (ms < NOTED_FROM_MS || noted.length >= NOTED_MAX) return;
  noted.push({ what: what.replaceAll(/\s+/g, ' ').trim().slice(0, NAME_MAX_CHARS), id, ms: Math.round(ms) });
}

/** Sections since the last call, the longest first, and the one that began last, however short. */
export function takeSections(): { readonly ran: readonly Section[]; readonly last: { readonly what: string; readonly id: string } } {
  const ran = noted;
  if (ran.length > 0) noted = [];
  return { ran: ran.sort((one, other) => other.ms - one.ms), last: { what: lastWhat, id: lastId } };
}
