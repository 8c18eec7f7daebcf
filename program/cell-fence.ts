/** Composition: the fence of a cell (CELL-17, CELL-18): this process writes only while its directory is the cell. */
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { claimsAsPlace } from '../actors/cells/term-claims.ts';
import { type Fence, raiseFence } from '../actors/cells/term-fence.ts';
import type { RedisConnection } from '../actors/cluster/bus/redis-connection.ts';
import { type CellTerm, FIRST_TERM, readCellTerm } from '../storage/moving/cell-term.ts';
import { type DirectorySeat, isOvertaken, noteOvertaken, openSeat } from '../storage/moving/directory-seat.ts';
import { isFenced } from '../storage/sqlite/storage-error.ts';
import type { WriteLease } from '../storage/sqlite/write-lease.ts';
import type { Storage } from '../storage/storage.ts';
import type { CellConfig, ReplicaConfig } from './config.ts';
import { addressAsPlace, readHolder } from './replica/address-holder.ts';
import { shownUrl } from './replica/litestream-configuration.ts';
import { type ReplicaStore, replicaStore } from './replica/store.ts';

/** How long a start waits for Redis, which may be away. */
export const REDIS_WAIT_MS = 2_000;

export interface CellFence extends Fence {
  /** The term in which this process serves. */
  readonly own: CellTerm;
  /** The address of the cell's replica, for who takes the cell over; undefined: it has none. */
  readonly replica: string | undefined;
}

interface FenceParts {
  readonly config: CellConfig;
  readonly replica: ReplicaConfig | undefined;
  readonly redis: RedisConnection;
  readonly storage: Storage;
  readonly lease: WriteLease;
  readonly log: Logger;
}

/** Settles once Redis can be used, or after REDIS_WAIT_MS. */
export async function whenUp(redis: RedisConnection): Promise<void> {
  const up = new Promise<void>((resolve) => {
    if (redis.up) resolve();
    else redis.onUp(resolve);
  });
  await Promise.race([up, pause(REDIS_WAIT_MS, undefined, { ref: false })]);
}

interface Ground {
  readonly own: CellTerm;
  readonly seat: DirectorySeat;
  readonly store: ReplicaStore | undefined;
  /** The address of the replica as it is noted; '': there is none that can be asked. */
  readonly address: string;
}

/** What is noted in the directory. @throws Error when it is another cell's */
function groundOf({ config, replica, storage }: FenceParts): Ground {
  const noted = readCellTerm(storage.control);
  if (noted !== undefined && noted.cell !== config.id)
    throw new Error(`CELL_ID is "${config.id}", and DATA_DIR is a directory of cell "${noted.cell}". Set one of them right.`);
  const store = replica && replicaStore(replica);
  const hasAddress = store !== undefined && replica !== undefined;
  return {
    own: { cell: config.id, term: noted?.term ?? FIRST_TERM },
    seat: openSeat(storage.layout),
    store,
    address: hasAddress ? storage.vault.digest('cell', Buffer.from(replica.url)).toString('hex') : '',
  };
}

/** @throws Error when the address of the replica cannot be this directory's: it was taken over from there, or it is of another one. */
async function requireOwnAddress({ replica, storage }: FenceParts, { own, seat, store, address }: Ground): Promise<void> {
  const holder = store && (await readHolder({ store, vault: storage.vault }).catch(() => undefined));
  if (holder === undefined || replica === undefined) return;
  const isOfSeat = holder.seat === undefined || holder.seat === seat.own || seat.had(holder.seat);
  const isKnown = readCellTerm(storage.control)?.replica === address;
  const isUsable = holder.taken_over === undefined ? isOfSeat || isKnown || seat.isNew : !isOfSeat;
  if (holder.cell === own.cell && (holder.term > own.term || (holder.term === own.term && isUsable))) return;
  const closed = holder.taken_over === undefined ? '' : ', closed by a take-over';
  throw new Error(
    `REPLICA_URL ${shownUrl(replica.url)} holds the replica of cell "${holder.cell}", term ${holder.term}${closed}; this is cell "${own.cell}", term ${own.term}. Give each an address of its own.`,
  );
}

/**
 * Raises the fence and waits for its first look.
 * @throws Error when this directory, or the address of its replica, is another cell's, or another directory serves as this cell.
 */
export async function openFence(parts: FenceParts): Promise<CellFence> {
  const { replica, redis, storage, lease, log } = parts;
  const { layout, control, vault } = storage;
  const ground = groundOf(parts);
  const { own, seat, store, address } = ground;
  if (!isOvertaken(layout)) await requireOwnAddress(parts, ground);
  const noted = () => readCellTerm(control);
  const isKnown = () => noted()?.replica === address;
  const note = (replicaAddress: string) => {
    storage.writeControl('noteCell', { cell: own.cell, replica: replicaAddress, nowMs: Date.now() }).catch((error: unknown) => {
      // Before the first look has ended nothing may be written; each look tries again.
      if (!isFenced(error)) log.error({ err: error }, 'noting the term of this cell failed: trying again');
    });
  };
  let isClaimed = false;
  const onClaimed = () => {
    isClaimed = true;
    if (!isKnown()) note(address);
  };
  await whenUp(redis);
  const claim = { host: hostname(), data_dir: layout.dir, at_ms: Date.now(), seat: seat.own };
  const claims = claimsAsPlace(redis, vault, own, claim);
  const isReplicated = () => noted() !== undefined && noted()?.replica !== '';
  const fence = raiseFence({
    ...{ own, seat, lease, log, conditions: storage.conditions },
    places: store === undefined ? [claims] : [claims, addressAsPlace({ store, vault, own, seat: seat.own, isKnown, onClaimed })],
    // A term that was taken over is somebody's claim, and a copy is known by a claim only.
    mustProve: () => isReplicated() || own.term > FIRST_TERM || (!seat.isNew && !seat.wasHere),
    mayFollow: (isHere) => noted() !== undefined && (isHere || !isReplicated() || isKnown()),
    isOvertaken: () => isOvertaken(layout),
    noteOvertaken: (sentence) => noteOvertaken(layout, sentence),
  });
  await fence.looked;
  fence.whenHeld(() => {
    if (noted() === undefined || (isClaimed && !isKnown())) note(isClaimed ? address : '');
  });
  // Where nobody can take the cell over from, the address is of no use to others, and may hold a password.
  return Object.assign(fence, { own, replica: store === undefined ? undefined : replica?.url });
}
