/**
 * Whose replica an address holds (CELL-16): one small file there names the cell and its term. It is put when a cell first carries something
 * there. A take-over closes the address with it: from then on nobody serves from there and nothing more is carried there, so that an
 * address belongs to one term of one cell.
 */
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import type { ClaimPlace } from '../../actors/cells/fence.ts';
import type { CellTerm } from '../../storage/moving/cell-term.ts';
import type { ReplicaStore } from './store.ts';

const NAME = 'cell.json';

/** Names of cells and hosts, and times: whoever may write to the address writes to the operator's terminal. */
const printable = v.pipe(v.string(), v.regex(/^[\w.:+-]+$/), v.maxLength(253));

const holderSchema = v.object({
  cell: printable,
  term: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  /** Which directory serves from here, or took over (directory-seat.ts), and which one waits for that. Absent: an earlier release put it. */
  seat: v.optional(printable),
  next: v.optional(printable),
  /** The host that took the cell over from here, and when (RFC 3339). */
  taken_over: v.optional(v.object({ by: printable, at: printable })),
});

const DAMAGED = `${NAME} at the address of the replica is not what a cell puts there. Look at it, and remove it only if no host took a cell over from there.`;

export type AddressHolder = v.InferOutput<typeof holderSchema>;

/** Undefined: nothing of a cell is there, or the folder or the bucket is not. @throws Error while the store does not answer, or for a damaged file */
export async function readHolder(store: ReplicaStore): Promise<AddressHolder | undefined> {
  const bytes = await store.get(NAME);
  return bytes && parseHolder(bytes);
}

function parseHolder(bytes: Buffer): AddressHolder {
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), holderSchema), bytes.toString('utf8'));
  if (!read.success) throw new Error(DAMAGED);
  return read.output;
}

/** Puts `is` there where `was` is read, by a conditional write where the store has it. False: something else is there by now. */
export function replaceHolder(store: ReplicaStore, was: AddressHolder | undefined, is: AddressHolder): Promise<boolean> {
  const isWas = (bytes: Buffer | undefined) => isDeepStrictEqual(bytes && parseHolder(bytes), was);
  return store.replace(NAME, isWas, Buffer.from(`${JSON.stringify(is)}\n`));
}

/** Whether the address is of another directory than that of this seat, or was closed by a take-over. Undefined while the store does not answer. */
export async function isAnothers(store: ReplicaStore, seat: string | undefined): Promise<boolean | undefined> {
  try {
    const holder = await readHolder(store);
    return holder?.taken_over !== undefined || (holder?.seat !== undefined && holder.seat !== seat);
  } catch {
    return undefined;
  }
}

export interface AddressOptions {
  readonly store: ReplicaStore;
  readonly own: CellTerm;
  readonly seat: string;
  /**
   * Whether it was noted as the address of the cell. One that is not proves nothing, because who takes the cell over may not know it; and one
   * that is and holds nothing is away.
   */
  isKnown(): boolean;
  /** The claim of this directory stands there. */
  onClaimed(): void;
}

/** The address as a place where the fence looks. */
export function addressAsPlace({ store, own, seat, isKnown, onClaimed }: AddressOptions): ClaimPlace {
  const holder = async () => {
    const read = await readHolder(store);
    if (read === undefined && isKnown()) throw new Error(`${NAME} is away from the address of the replica`);
    if (read !== undefined && (read.cell !== own.cell || read.term < own.term)) throw new Error('the address is of another cell or term');
    return read;
  };
  return {
    async read() {
      const read = await holder();
      if (read !== undefined && (read.term > own.term || read.taken_over !== undefined)) return 'later';
      const provesNothing = !isKnown() && (read?.seat ?? seat) === seat;
      return provesNothing ? undefined : read;
    },
    async replace(was, is) {
      const read = await holder();
      const stands = read !== undefined && read.seat === is.seat && read.next === is.next && read.taken_over === undefined;
      const isWas = read?.seat === was?.seat && read?.next === was?.next;
      const mayReplace = isWas && (read === undefined || (read.term === own.term && read.taken_over === undefined));
      const next = { ...own, seat: is.seat, ...(is.next !== undefined && { next: is.next }) };
      const isPut = stands || (mayReplace && (await replaceHolder(store, read, next)));
      if (isPut && is.seat === seat) onClaimed();
      return isPut;
    },
  };
}
