/**
 * Takes a cell over on another host (CELL-16): claims the next term of the cell, closes the address of its replica, waits until the old host
 * cannot write any more, and restores what was replicated until then. The old host is fenced from the first step on, also when a later one fails.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pino from 'pino';
import { type CellEntry, readCellEntry } from '../../actors/cells/cell-map.ts';
import { createTermClaims, type TermClaim } from '../../actors/cells/term-claims.ts';
import { TAKE_OVER_WAIT_MS } from '../../actors/cells/term-fence.ts';
import { openRedis, type RedisConnection } from '../../actors/cluster/bus/redis-connection.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { requireEmpty } from '../../storage/backup/restore.ts';
import { dataLayout, makeFolder } from '../../storage/data-layout.ts';
import { type CellTerm, FIRST_TERM, readCellTerm } from '../../storage/moving/cell-term.ts';
import { type DirectorySeat, openSeat } from '../../storage/moving/directory-seat.ts';
import { openVault, type Vault } from '../../storage/secrets/vault.ts';
import { reading } from '../../storage/sqlite/database.ts';
import type { ReplicaConfig } from '../config.ts';
import { type Address, type AddressHolder, readHolder, replaceHolder } from './address-holder.ts';
import { versionProblem } from './litestream.ts';
import { shownUrl } from './litestream-configuration.ts';
import { Fetcher, type ReplicaRestoreOptions, type ReplicaRestoreReport, restoreReplica } from './restore-replica.ts';
import { replicaStore } from './store.ts';

export interface TakeOverOptions extends Pick<ReplicaRestoreOptions, 'dataDir' | 'log'> {
  readonly cell: string;
  /** Where the replica of the cell is, and how it is reached. */
  readonly replica: ReplicaConfig;
  readonly redisUrl: string;
  readonly masterKey: string;
  /** A claimed term whose host never served. */
  readonly abandoned: number | undefined;
  nowMs(): number;
  /** Waits until the old host cannot write any more. */
  pause(ms: number): Promise<void>;
}

/** A Redis that is there answers at once. */
const REDIS_WAIT_MS = 5_000;
const REDIS_LOOK_MS = 50;

/** @throws Error when Redis does not answer */
async function withRedis<Value>(redisUrl: string, work: (redis: RedisConnection) => Promise<Value>): Promise<Value> {
  const redis = openRedis({ redisUrl, log: pino({ level: 'silent' }) });
  try {
    for (let waitedMs = 0; !redis.up; waitedMs += REDIS_LOOK_MS) {
      if (waitedMs >= REDIS_WAIT_MS) throw new Error('Redis does not answer at REDIS_URL, nothing was changed: the cells meet there.');
      await pause(REDIS_LOOK_MS);
    }
    return await work(redis);
  } finally {
    redis.close();
  }
}

function vaultOf(masterKey: string): Vault {
  return openVault('', masterKey);
}

/** What the cell told last of itself in Redis; undefined: nothing. @throws Error when Redis does not answer */
export function cellTold(redisUrl: string, masterKey: string, cell: string): Promise<CellEntry | undefined> {
  return withRedis(redisUrl, (redis) => readCellEntry(redis, vaultOf(masterKey), cell));
}

/** Whose the address is. @throws Error when it holds no replica, or another cell's, or somebody took the cell over from there. */
async function requireOpen(
  address: Address,
  { cell, replica, abandoned }: TakeOverOptions,
  seat: DirectorySeat,
  next: TermClaim | undefined,
): Promise<AddressHolder> {
  const at = shownUrl(replica.url);
  const holder = await readHolder(address);
  if (holder === undefined) throw new Error(`${at} does not hold the replica of a cell, nothing was changed.`);
  if (holder.cell !== cell) throw new Error(`${at} holds the replica of cell "${holder.cell}", nothing was changed.`);
  const isPassed = next !== undefined || abandoned === holder.term || (holder.seat !== undefined && isOf(seat, holder.seat));
  if (holder.taken_over !== undefined && !isPassed)
    throw new Error(
      `${at} was closed by a take-over at ${holder.taken_over.at} by ${holder.taken_over.by}. Take the cell over from its newer replica.`,
    );
  return holder;
}

function isOf(seat: DirectorySeat, other: string): boolean {
  return other === seat.own || seat.had(other);
}

/** The term in which the replicated directory served. */
async function replicatedTerm(options: TakeOverOptions): Promise<CellTerm> {
  const { cell, replica: config } = options;
  const folder = mkdtempSync(join(tmpdir(), 'assistant-take-over-'));
  const fetcher = new Fetcher({ ...options, config, atMs: undefined }, vaultOf(options.masterKey));
  const path = join(folder, 'control.sqlite');
  try {
    await fetcher.requireDatabase('control.sqlite', path);
    return { cell, term: reading(path, readCellTerm)?.term ?? FIRST_TERM };
  } finally {
    fetcher.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @throws Error when another host, or another directory of this one, has claimed the term. */
async function claimNext(
  redis: RedisConnection,
  vault: Vault,
  old: CellTerm,
  seat: DirectorySeat,
  options: TakeOverOptions,
): Promise<CellTerm> {
  const { cell, abandoned, dataDir, nowMs } = options;
  const claims = createTermClaims(redis, vault);
  const own: TermClaim = { host: hostname(), data_dir: dataLayout(dataDir).dir, at_ms: nowMs(), seat: seat.own };
  const served = (await readCellEntry(redis, vault, cell))?.term ?? FIRST_TERM;
  if (abandoned !== undefined && served >= abandoned)
    throw new Error(`Term ${abandoned} of cell ${cell} was served: take the cell over from the replica of that host.`);
  const next = { cell, term: abandoned === undefined ? old.term + 1 : abandoned + 1 };
  seat.note();
  const standing = await claims.make(next, own);
  if (standing.seat !== undefined && isOf(seat, standing.seat)) return next;
  throw new Error(
    `${standing.host} (${standing.data_dir}) claimed term ${next.term} of cell ${cell} at ${timestamp(standing.at_ms)}. Where it serves, take the cell over from its replica. Where it never served and never will, repeat with --abandon ${next.term}.`,
  );
}

/**
 * Takes the cell over. May be repeated on the same host and for the same directory, when something failed.
 * @throws Error with one sentence for the operator. Once the claim is made, the old host stays fenced.
 */
export async function takeOver(options: TakeOverOptions): Promise<ReplicaRestoreReport & { readonly term: number }> {
  const { cell, replica, redisUrl, masterKey, dataDir, log, nowMs } = options;
  const store = replicaStore(replica);
  if (store === undefined) throw new Error('A cell can be taken over from an s3 or a file address: only there the old host can be fenced.');
  const problem = await versionProblem(replica.bin);
  if (problem !== undefined) throw new Error(`${problem}. Nothing was changed.`);
  const vault = vaultOf(masterKey);
  const old = await replicatedTerm(options);
  requireEmpty(dataLayout(dataDir).dir);
  makeFolder(dataDir);
  const seat = openSeat(dataLayout(dataDir));
  const { next, holder } = await withRedis(redisUrl, async (redis) => {
    const claimed = await createTermClaims(redis, vault).read({ cell, term: old.term + 1 });
    const standing = await requireOpen({ store, vault }, options, seat, claimed);
    return { holder: standing, next: await claimNext(redis, vault, old, seat, options) };
  });
  const closed = { ...next, seat: seat.own, taken_over: { by: hostname(), at: timestamp(nowMs()) } };
  if (holder.term > next.term || !(await replaceHolder({ store, vault }, holder, closed)))
    throw new Error(
      `Another host closes ${shownUrl(replica.url)} at this time. Look who serves as cell ${cell}, and repeat where nobody does.`,
    );
  log.info({ term: next.term, seconds: TAKE_OVER_WAIT_MS / 1_000 }, 'the old host is fenced: waiting until it cannot write any more');
  await options.pause(TAKE_OVER_WAIT_MS);
  const restored = await restoreReplica({ config: replica, dataDir, masterKey, log, atMs: undefined, raised: { ...next, nowMs: nowMs() } });
  return { ...restored, term: next.term };
}
