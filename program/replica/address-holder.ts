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

const holderSchema = v.object({
  cell: v.string(),
  term: v.number(),
  /** The host that took the cell over from here, and when (RFC 3339). */
  taken_over: v.optional(v.object({ by: v.string(), at: v.string() })),
});

export type AddressHolder = v.InferOutput<typeof holderSchema>;

/** Undefined: nothing of a cell is there, or the folder or the bucket is not. @throws Error while the store does not answer, or for another file */
export async function readHolder(store: ReplicaStore): Promise<AddressHolder | undefined> {
  const bytes = await store.get(NAME);
  return bytes === undefined ? undefined : v.parse(holderSchema, JSON.parse(bytes.toString('utf8')));
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
