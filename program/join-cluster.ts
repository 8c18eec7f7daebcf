/** Composition: joins this process to the nodes of its cell, when REDIS_URL says that there may be some (CLUSTER-1). */
import type { Logger } from 'pino';
import { createBus } from '../actors/cluster/bus/bus.ts';
import { openRedis, type RedisConnection } from '../actors/cluster/bus/redis-connection.ts';
import { createSharedCounts } from '../actors/cluster/bus/shared-counts.ts';
import { cellView } from '../actors/cluster/nodes/census.ts';
import { NodeChores } from '../actors/cluster/nodes/chores.ts';
import { createMembers, type Members } from '../actors/cluster/nodes/members.ts';
import { nameOf } from '../actors/cluster/nodes/node-id.ts';
import { NodeLeases } from '../actors/cluster/nodes/node-leases.ts';
import { watchStoppedWriters } from '../actors/cluster/nodes/stopped-writer.ts';
import { NodeQuestions } from '../actors/cluster/questions/node-questions.ts';
import { PlacedTurns } from '../actors/cluster/remote/placed-turns.ts';
import { createNode, type NodeContext, type NodeStore } from '../actors/node.ts';
import type { Ownership } from '../actors/turns/epoch.ts';
import { LocalTurns } from '../actors/turns/local-turns.ts';
import type { WriteLease } from '../storage/sqlite/write-lease.ts';
import type { Storage } from '../storage/storage.ts';
import { type CellFence, openFence } from './cell-fence.ts';
import type { ClusterConfig, ReplicaConfig } from './config.ts';
import type { ComposedNode } from './stand-alone.ts';

/** This process as a node among others. */
export interface ClusterNode extends ComposedNode {
  readonly members: Members;
  readonly questions: NodeQuestions;
  readonly redis: RedisConnection;
  /** Undefined outside a cell. */
  readonly fence: CellFence | undefined;
}

export interface JoinOptions {
  readonly config: ClusterConfig;
  readonly replica: ReplicaConfig | undefined;
  /** A cell's: its writes wait for it. */
  readonly lease: WriteLease | undefined;
  readonly dataDir: string;
  /** Its storage uses organisations' files under this node's id. */
  readonly storage: Storage;
  readonly log: Logger;
  nowMs(): number;
}

/** A broken connection usually recovers within this time and is not reported. */
const REDIS_PATIENCE_MS = 1_000;
const REDIS_AWAY =
  'Redis is away: see REDIS_URL. Until it is back nodes look up what others change, and each counts the limits of a minute for itself.';

/** Opens a condition of this node when Redis is away for longer than a moment. Returns a function that stops watching. */
function watchRedis(node: NodeStore, { conditions }: Storage): () => void {
  let timer: NodeJS.Timeout | undefined;
  const note = (redis: NodeContext['redis']) => {
    clearTimeout(timer);
    if (redis === 'connected') conditions.close('redis_away');
    else timer = setTimeout(() => conditions.open('redis_away', REDIS_AWAY), REDIS_PATIENCE_MS).unref();
  };
  const selected = node.select(({ redis }) => redis);
  const subscription = selected.subscribe(note);
  note(selected.get());
  return () => {
    clearTimeout(timer);
    subscription.unsubscribe();
  };
}

/** @throws Error when DATA_DIR is too long for the sockets of nodes, or another cell's. Does not wait for a Redis that is away. */
export async function joinCell({ config, replica, dataDir, storage, lease, log, nowMs }: JoinOptions): Promise<ClusterNode> {
  const { redisUrl, nodeId } = config;
  const cell = config.cell?.id ?? null;
  const self = storage.process;
  const node = createNode({ id: self, name: nodeId ?? nameOf(self), cell, startedAtMs: nowMs() }, 'away');
  const onConnection = (isConnected: boolean) => node.send({ type: 'redisChanged', isConnected });
  const redis = openRedis({ redisUrl, log });
  const bus = await createBus({ redisUrl, cell, self, vault: storage.vault, log, nowMs, onConnection });
  const presence = { redis, vault: storage.vault };
  const questions = new NodeQuestions({ dataDir, self, log, nowMs });
  const members = await createMembers({
    dataDir,
    node,
    presence,
    onQuestion: (socket, first) => questions.accept(socket, first),
    log,
  });
  members.onLost((other) => questions.drop(other));
  const stopWatching = watchStoppedWriters(members, log);
  const stopWatchingRedis = watchRedis(node, storage);
  const ownership: Ownership = {
    self,
    process: self,
    isLost: (process) => members.liveness(process) !== 'alive',
    mayTake: ({ owner }) => owner === '' || members.liveness(owner) !== 'alive',
  };
  const fence = config.cell && lease && (await openFence({ config: config.cell, replica, redis, storage, lease, log }));
  return {
    node,
    fence,
    whenHeld: (begin) => (fence === undefined ? begin() : fence.whenHeld(begin)),
    others: bus,
    members,
    questions,
    redis,
    leases: new NodeLeases({ storage, members, log, nowMs }),
    counts: createSharedCounts(bus),
    liveness: (process) => members.probe(process),
    host: (services) => new PlacedTurns({ ...services, members, questions, local: new LocalTurns({ ...services, ownership }) }),
    chores: (services) => new NodeChores({ ...services, members }),
    view: (census) => cellView({ members, questions }, census),
    async close() {
      fence?.close();
      stopWatching();
      stopWatchingRedis();
      questions.close();
      await members.close();
      await bus.close();
      redis.close();
    },
  };
}
