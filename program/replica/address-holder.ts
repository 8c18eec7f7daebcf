/**
 * Whose replica an address holds (CELL-16): one small file there names the cell and its term. It is put when a cell first carries something
 * there. A take-over closes the address with it: from then on nobody serves from there and nothing more is carried there, so that an
 * address belongs to one term of one cell.
 */
import * as v from 'valibot';
import type { Verdict } from '../../actors/cells/fence.ts';
import type { CellTerm } from '../../storage/moving/cell-term.ts';
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

const DAMAGED = `${NAME} at the address of the replica is not what a cell puts there. Look at it, and remove it only if no host took a cell over from there.`;

export type AddressHolder = v.InferOutput<typeof holderSchema>;

/** Undefined: nothing of a cell is there, or the folder or the bucket is not. @throws Error while the store does not answer, or for a damaged file */
export async function readHolder(store: ReplicaStore): Promise<AddressHolder | undefined> {
  const bytes = await store.get(NAME);
  if (bytes === undefined) return undefined;
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), holderSchema), bytes.toString('utf8'));
  if (!read.success) throw new Error(DAMAGED);
  return read.output;
}

export async function putHolder(store: ReplicaStore, holder: AddressHolder): Promise<void> {
  await store.put(NAME, Buffer.from(`${JSON.stringify(holder)}\n`));
}

/** Whether a host took over from here. False while the store does not answer. */
export async function isClosed(store: ReplicaStore): Promise<boolean> {
  return (await readHolder(store).catch(() => undefined))?.taken_over !== undefined;
}

/** Asks the address for this term. `isKnown`: whether it was put there before, so that an absent one means that the place is away. */
export async function askAddress(store: ReplicaStore, own: CellTerm, isKnown: () => boolean): Promise<Verdict> {
  const holder = await readHolder(store);
  if (holder === undefined) {
    if (isKnown()) return 'silent';
    await putHolder(store, own);
    return 'newest';
  }
  const isOwn = holder.cell === own.cell && holder.term === own.term && holder.taken_over === undefined;
  return isOwn ? 'newest' : 'overtaken';
}
