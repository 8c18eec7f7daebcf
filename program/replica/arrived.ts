/**
 * What the destination itself has of a database: for those of which Litestream has had nothing to send since its start, which says nothing.
 */
import { indexOf, type Place, positionOf } from './lag.ts';
import { unpackedLength } from './lz4-length.ts';
import { type DatabaseSeal, openPiece } from './sealing.ts';
import type { ReplicaStore } from './store.ts';

const SEGMENT = /_([0-9a-f]{8})\.wal\.lz4$/;

/**
 * The end of what arrived of the segment in which `read` is, of the database `name`; undefined: nothing of it.
 * @throws Error when the destination refuses or is away.
 */
export async function arrivedPlace(
  store: ReplicaStore,
  name: string,
  seal: DatabaseSeal,
  { generation, position }: Place,
): Promise<Place | undefined> {
  const index = indexOf(position);
  const segments = await store.list(`${name}/generations/${generation}/wal/${index.toString(16).padStart(8, '0')}_`);
  const newest =
    segments
      .map((segment) => segment.name)
      .sort()
      .at(-1) ?? '';
  const [, offset] = SEGMENT.exec(newest) ?? [];
  const bytes = offset === undefined ? undefined : await store.get(newest);
  if (offset === undefined || bytes === undefined) return undefined;
  return { generation, position: positionOf(index, Number.parseInt(offset, 16) + unpackedLength(await openPiece(seal, bytes))) };
}
