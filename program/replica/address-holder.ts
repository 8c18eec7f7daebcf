/**
 * Whose replica an address holds (CELL-16): one small file there names the cell and its term. It is put when a cell first carries something
 * there. A take-over closes the address with it: from then on nobody serves from there and nothing more is carried there, so that an
 * address belongs to one term of one cell. It carries a MAC under a key of the master key's: what somebody else put there ends nothing.
 */
import * as v from 'valibot';
import type { Verdict } from '../../actors/cells/fence.ts';
import type { CellTerm } from '../../storage/moving/cell-term.ts';
import { isProven, provenBytes } from '../../storage/replica/replica-manifest.ts';
import type { Vault } from '../../storage/secrets/vault.ts';
import type { ReplicaStore } from './store.ts';

const NAME = 'cell.json';

/** Names of cells and hosts, and times: whoever may write to the address writes to the operator's terminal. */
const printable = v.pipe(v.string(), v.regex(/^[\w.:+-]+$/), v.maxLength(253));

const holderSchema = v.object({
  cell: printable,
  term: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
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

function isClaim(holder: AddressHolder, own: CellTerm): boolean {
  return holder.cell === own.cell && holder.term === own.term && holder.taken_over === undefined;
}

/** `own`: its claim is known without a MAC as well, as an older release put it. */
async function read({ store, vault }: Address, own?: CellTerm): Promise<{ holder: AddressHolder; proven: boolean } | undefined> {
  const bytes = await store.get(NAME);
  if (bytes === undefined) return undefined;
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), holderSchema), bytes.toString('utf8'));
  const proven = isProven(vault, NAME, bytes);
  if (!parsed.success || !(proven || (own !== undefined && isClaim(parsed.output, own)))) throw new Error(DAMAGED);
  return { holder: parsed.output, proven };
}

/**
 * Undefined: nothing of a cell is there, or the folder or the bucket is not. @throws Error while the store does not answer, or for what is damaged
 * or was put there by somebody else
 */
export async function readHolder(address: Address): Promise<AddressHolder | undefined> {
  return (await read(address))?.holder;
}

export async function putHolder({ store, vault }: Address, holder: AddressHolder): Promise<void> {
  await store.put(NAME, provenBytes(vault, NAME, holder));
}

/** Whether a host took over from here. False while the store does not answer. */
export async function isClosed(address: Address): Promise<boolean> {
  return (await readHolder(address).catch(() => undefined))?.taken_over !== undefined;
}

/** Asks the address for this term. `isKnown`: whether it was put there before, so that an absent one means that the place is away. */
export async function askAddress(address: Address, own: CellTerm, isKnown: () => boolean): Promise<Verdict> {
  const found = await read(address, own);
  if (found === undefined && isKnown()) return 'silent';
  if (found?.proven !== true) await putHolder(address, own);
  return found === undefined || isClaim(found.holder, own) ? 'newest' : 'overtaken';
}
