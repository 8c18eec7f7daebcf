/**
 * Whose replica an address holds (CELL-16): one small file there names the cell and its term. It is put when a cell first carries something
 * there. A take-over closes the address with it: from then on nobody serves from there and nothing more is carried there, so that an
 * address belongs to one term of one cell. It carries a MAC under a key of the master key's: what somebody else put there ends nothing.
 */
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import type { ClaimPlace } from '../../actors/cells/term-fence.ts';
import type { DataLayout } from '../../storage/data-layout.ts';
import type { CellTerm } from '../../storage/moving/cell-term.ts';
import { type DirectorySeat, isOvertaken } from '../../storage/moving/directory-seat.ts';
import { isProven, provenBytes } from '../../storage/replica/replica-manifest.ts';
import type { Vault } from '../../storage/secrets/vault.ts';
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

const DAMAGED = `${NAME} at the address of the replica is not what a cell with this master key puts there. Look at it, and remove it only if no host took a cell over from there.`;

export type AddressHolder = v.InferOutput<typeof holderSchema>;

/** The address of a replica, and what proves what is there. */
export interface Address {
  readonly store: ReplicaStore;
  readonly vault: Vault;
}

/** What is at the address was put there by somebody without the master key, or is damaged. */
class UnprovenHolder extends Error {}

/** @throws UnprovenHolder */
function parseHolder({ vault }: Address, bytes: Buffer): AddressHolder {
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), holderSchema), bytes.toString('utf8'));
  if (!read.success || !isProven(vault, NAME, bytes)) throw new UnprovenHolder(DAMAGED);
  return read.output;
}

/** Undefined: nothing of a cell is there, or the folder or the bucket is not. @throws Error while the store does not answer; UnprovenHolder */
export async function readHolder(address: Address): Promise<AddressHolder | undefined> {
  const bytes = await address.store.get(NAME);
  return bytes && parseHolder(address, bytes);
}

/** Puts `is` there where `was` is read, by a conditional write where the store has it. False: something else is there by now. */
export function replaceHolder(address: Address, was: AddressHolder | undefined, is: AddressHolder): Promise<boolean> {
  const isWas = (bytes: Buffer | undefined) => isDeepStrictEqual(bytes && parseHolder(address, bytes), was);
  return address.store.replace(NAME, isWas, provenBytes(address.vault, NAME, is));
}

/**
 * Whether the address is of another directory than that of this seat, or was closed by a take-over; what somebody without the master key put
 * there says nothing of it. Undefined while the store does not answer, and while the claim is of where this directory lay before: the fence may take it.
 */
export async function isAnothers(address: Address, seat: Pick<DirectorySeat, 'own' | 'had'> | undefined): Promise<boolean | undefined> {
  try {
    const holder = await readHolder(address);
    if (holder?.taken_over !== undefined) return true;
    if (holder?.seat === undefined || holder.seat === seat?.own) return false;
    return seat?.had(holder.seat) === true ? undefined : true;
  } catch (error) {
    return error instanceof UnprovenHolder ? false : undefined;
  }
}

const ASK_MS = 10_000;

export class WhoseAddress {
  /** It is another directory's, or another host took over: nothing is carried there. Undefined: nobody could say yet, and it may be. */
  isAnothers: boolean | undefined;
  #asked: Promise<void> | undefined;
  #askedAtMs = 0;

  readonly #layout: DataLayout;

  constructor(layout: DataLayout, isAnothers: boolean | undefined) {
    this.#layout = layout;
    this.isAnothers = isAnothers;
  }

  /** Nothing is carried any more, also not what is left. */
  get isLost(): boolean {
    return this.isAnothers === true || isOvertaken(this.#layout);
  }

  /** Asks now and then. `waits`: until what is asked was answered. */
  async ask(address: Address | undefined, seat: DirectorySeat | undefined, nowMs: number, waits: boolean): Promise<void> {
    if (this.#asked === undefined && address !== undefined && nowMs - this.#askedAtMs >= ASK_MS) {
      this.#askedAtMs = nowMs;
      this.#asked = isAnothers(address, seat).then((said) => {
        this.#asked = undefined;
        // A directory that never was a cell has nobody to share an address with.
        this.isAnothers = said ?? this.isAnothers ?? (seat === undefined ? false : undefined);
      });
      if (waits) await this.#asked;
    }
  }
}

export interface AddressOptions extends Address {
  readonly own: CellTerm;
  readonly seat: string;
  /**
   * Whether it was noted as the address of the cell. One that is not proves nothing, because who takes the cell over may not know it; and one
   * that is and holds nothing is away.
   */
  isKnown(): boolean;
  onClaimed(): void;
}

/** The address as a place where the fence looks. */
export function addressAsPlace({ own, seat, isKnown, onClaimed, ...address }: AddressOptions): ClaimPlace {
  const holder = async () => {
    const read = await readHolder(address);
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
      const isPut = stands || (mayReplace && (await replaceHolder(address, read, next)));
      if (isPut && is.seat === seat) onClaimed();
      return isPut;
    },
  };
}
