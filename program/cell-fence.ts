/** Composition: the fence of a cell (CELL-17): this process writes only while nobody has taken the cell over. */
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Fence, raiseFence } from '../actors/cells/fence.ts';
import { createTermClaims } from '../actors/cells/term-claims.ts';
import type { RedisConnection } from '../actors/cluster/bus/redis-connection.ts';
import { type CellTerm, FIRST_TERM, readCellTerm } from '../storage/moving/cell-term.ts';
import type { WriteLease } from '../storage/sqlite/write-lease.ts';
import type { Storage } from '../storage/storage.ts';
import type { CellConfig } from './config-cluster.ts';
import type { ReplicaConfig } from './config-replica.ts';
import { askAddress, readHolder } from './replica/address-holder.ts';
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

/** @throws Error when this directory, or the address of its replica, is another cell's. */
async function requireOwn(config: CellConfig, replica: ReplicaConfig | undefined, store: ReplicaStore | undefined, storage: Storage) {
  const noted = readCellTerm(storage.control);
  if (noted !== undefined && noted.cell !== config.id)
    throw new Error(`CELL_ID is "${config.id}", and DATA_DIR is a directory of cell "${noted.cell}". Set one of them right.`);
  const own: CellTerm = { cell: config.id, term: noted?.term ?? FIRST_TERM };
  const holder = store && (await readHolder({ store, vault: storage.vault }).catch(() => undefined));
  if (holder === undefined || replica === undefined) return own;
  const isOwn = holder.cell === own.cell && holder.term <= own.term && (holder.term === own.term || holder.taken_over !== undefined);
  if (!isOwn && holder.taken_over === undefined)
    throw new Error(
      `REPLICA_URL ${shownUrl(replica.url)} holds the replica of cell "${holder.cell}", term ${holder.term}; this is cell "${own.cell}", term ${own.term}. Give each an address of its own.`,
    );
  return own;
}

/** Raises the fence and waits for its first look. @throws Error when this directory, or the address of its replica, is another cell's. */
export async function openFence({ config, replica, redis, storage, lease, log }: FenceParts): Promise<CellFence> {
  const store = replica && replicaStore(replica);
  const own = await requireOwn(config, replica, store, storage);
  const address =
    store === undefined || replica === undefined ? '' : storage.vault.digest('cell', Buffer.from(replica.url)).toString('hex');
  const isKnown = () => readCellTerm(storage.control)?.replica === address;
  await whenUp(redis);
  const fence = raiseFence({
    own,
    claim: { host: hostname(), data_dir: storage.layout.dir, at_ms: Date.now() },
    claims: createTermClaims(redis, storage.vault),
    askReplica: store && (() => askAddress({ store, vault: storage.vault }, own, isKnown)),
    lease,
    conditions: storage.conditions,
    log,
  });
  await fence.looked;
  fence.whenHeld(() => {
    if (isKnown()) return;
    storage.writeControl('noteCell', { cell: own.cell, replica: address, nowMs: Date.now() }).catch((error: unknown) => {
      log.error({ err: error }, 'noting the term of this cell failed: the next start tries again');
    });
  });
  // Where nobody can take the cell over from, the address is of no use to others, and may hold a password.
  return Object.assign(fence, { own, replica: store === undefined ? undefined : replica?.url });
}
