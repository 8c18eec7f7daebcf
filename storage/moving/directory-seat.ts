/**
 * Which data directory this is, among all that may say that they are a cell (CELL-18). Its seat is a random id that is minted into it, and where
 * it lies: a copy has the id and lies elsewhere. Owns the files `directory-id`, which also lists the seats that it had, and `overtaken`.
 */
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs';
import type { DataLayout } from '../data-layout.ts';
import { readOrMint } from '../secrets/minted-file.ts';

export interface DirectorySeat {
  /** What stands in its claims as long as it lies here, in this boot of the machine. */
  readonly own: string;
  /** It never claimed anything. */
  readonly isNew: boolean;
  /** It claimed something while it lay here, in whichever boot. */
  readonly wasHere: boolean;
  /** Whether it had this seat before. A copy had those of what it was copied from. */
  had(seat: string): boolean;
  /** Whether the seat is of this very directory, in whichever boot. */
  isHere(seat: string): boolean;
  /** Lists its seat as one that it had. To be called before it claims anything. @throws the system's error */
  note(): void;
}

const ID_BYTES = 16;
const DIGEST_CHARS = 16;

function digest(...parts: readonly (string | bigint)[]): string {
  return createHash('sha256').update(parts.join(' ')).digest('hex').slice(0, DIGEST_CHARS);
}

/** Random for each start of the machine; a clone of its disk on another machine has another one. '' where the system has none. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}

function seatOf(dir: string, id: string): { readonly here: string; readonly own: string } {
  const { dev, ino, birthtimeNs } = statSync(dir, { bigint: true });
  const here = `${id}.${digest(ino, birthtimeNs)}.`;
  return { here, own: here + digest(bootId(), dev) };
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

/** The seat of an existing directory, which gets its id when it has none. @throws the system's error */
export function openSeat({ dir, directoryId }: DataLayout): DirectorySeat {
  const [id = '', ...seats] = linesOf(readOrMint(directoryId, () => randomBytes(ID_BYTES).toString('hex')));
  const { here, own } = seatOf(dir, id);
  let isNoted = seats.includes(own);
  return {
    own,
    isNew: seats.length === 0,
    wasHere: seats.some((seat) => seat.startsWith(here)),
    had: (seat) => seat !== own && seats.includes(seat),
    isHere: (seat) => seat.startsWith(here),
    note() {
      if (isNoted) return;
      const file = openSync(directoryId, 'a');
      try {
        // Begins a line of its own also behind one that a crash cut off.
        writeSync(file, `\n${own}\n`);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      isNoted = true;
    },
  };
}

/** The seat of a directory that has an id; undefined: it has none, and was never a cell. @throws the system's error */
export function existingSeat(layout: DataLayout): DirectorySeat | undefined {
  return existsSync(layout.directoryId) ? openSeat(layout) : undefined;
}

/** Whether another host took over from this directory, once and for all. */
export function isOvertaken({ overtaken }: DataLayout): boolean {
  return existsSync(overtaken);
}

/** Writes down for good that another host took over. @throws the system's error */
export function noteOvertaken({ overtaken }: DataLayout, sentence: string): void {
  writeFileSync(overtaken, `${sentence}\n`, { mode: 0o600, flush: true });
}
