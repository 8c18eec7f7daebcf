/** Composition: joins this process to the nodes of its cell, when REDIS_URL says that there may be some (CLUSTER-1). */
import type { Logger } from 'pino';
import { createBus } from '../actors/cluster/bus/bus.ts';
import { openRedis, type RedisConnection } from '../actors/cluster/bus/redis-connection.ts';
import { createSharedCounts } from '../actors/cluster/bus/shared-counts.ts';
import { cellView } from '../actors/cluster/nodes/census.ts';
import { createChores } from '../actors/cluster/nodes/chores.ts';
import { createMembers, type Members, mintNodeId, type NodeRecord } from '../actors/cluster/nodes/members.ts';
import { watchStoppedWriters } from '../actors/cluster/nodes/stopped-writer.ts';
import { NodeLeases } from '../actors/cluster/nodes/write-lease.ts';
import { NodeQuestions } from '../actors/cluster/questions/node-questions.ts';
import { PlacedTurns } from '../actors/cluster/remote/placed-turns.ts';
import type { Ownership } from '../actors/turns/epoch.ts';
import { LocalTurns } from '../actors/turns/local-turns.ts';
import type { Storage } from '../storage/storage.ts';
import type { ComposedNode } from './composed-node.ts';
import type { ClusterConfig } from './config.ts';

/** This process as a node among others. */
export interface ClusterNode extends ComposedNode {
  readonly members: Members;
  readonly questions: NodeQuestions;
  readonly redis: RedisConnection;
}

export interface JoinOptions {
  readonly config: ClusterConfig;
  readonly dataDir: string;
  readonly storage: Storage;
  readonly log: Logger;
  nowMs(): number;
}

/** What a process tells of itself before it listens. */
export function nodeRecord(id: string, name: string | undefined, cell: string | null, startedAtMs: number): NodeRecord {
  return {
    id,
    name: name ?? id.slice(0, id.lastIndexOf('~')),
    pid: process.pid,
    cell,
    url: null,
    startedAtMs,
    state: 'serving',
    actors: 0,
  };
}

/** A connection that breaks is there again within this, as a rule: nobody needs to hear of it. */
const REDIS_LOOK_MS = 1_000;

function noteRedis({ conditions }: Storage, isUp: boolean): void {
  if (isUp) conditions.close('redis_away');
  else
    conditions.open(
      'redis_away',
      'Redis is away: see REDIS_URL. Until it is back nodes look up what others change, and each counts the limits of a minute for itself.',
    );
}

/** @throws Error when DATA_DIR is too long for the sockets of nodes. Does not wait for a Redis that is away. */
export async function joinCell({ config, dataDir, storage, log, nowMs }: JoinOptions): Promise<ClusterNode> {
  const { redisUrl, nodeId } = config;
  const cell = config.cell?.id ?? null;
  const self = mintNodeId(nodeId);
  const redis = openRedis({ redisUrl, log });
  const bus = await createBus({ redisUrl, cell, self, vault: storage.vault, log, nowMs });
  const presence = { redis, vault: storage.vault };
  const questions = new NodeQuestions({ dataDir, self, log, nowMs });
  const members = await createMembers({
    dataDir,
    self: nodeRecord(self, nodeId, cell, nowMs()),
    presence,
    onQuestion: (socket, first) => questions.accept(socket, first),
    log,
  });
  members.onLost((node) => questions.drop(node));
  const stopWatching = watchStoppedWriters(members, log);
  const looks = setInterval(() => noteRedis(storage, redis.up), REDIS_LOOK_MS).unref();
  const ownership: Ownership = {
    self,
    process: self,
    isLost: (process) => members.liveness(process) !== 'alive',
    mayTake: ({ owner }) => owner === '' || members.liveness(owner) !== 'alive',
  };
  return {
    self,
    others: bus,
    members,
    questions,
    redis,
    leases: new NodeLeases({ storage, members, log, nowMs }),
    counts: createSharedCounts(bus),
    host: (services) => new PlacedTurns({ ...services, members, questions, local: new LocalTurns({ ...services, ownership }) }),
    chores: (services) => createChores({ ...services, members }),
    view: (census) => cellView({ bus, members, questions }, census),
    listening: (url) => members.update({ url }),
    async close() {
      stopWatching();
      clearInterval(looks);
      questions.close();
      await members.close();
      await bus.close();
      redis.close();
    },
  };
}
