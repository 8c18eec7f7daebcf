/** The cluster as an operator sees it: its nodes, the actors that live on them, and the way to drain one (CONSOLE-21, CONSOLE-22). */

import type { ActorRecord } from '../../actor-record.ts';
import type { NodeRecord } from './members.ts';

export interface ClusterView {
  /** Nodes that are alive, the one that answers first; a process without a cluster alone. */
  nodes(): readonly NodeRecord[];
  /** Nodes of other cells, as Redis knows them; none while it is away. */
  elsewhere(): Promise<readonly NodeRecord[]>;
  /** Null: this process needs no Redis. */
  redis(): 'connected' | 'away' | null;
  /** Live actors of all nodes; `unreachable` are ids of nodes that did not answer in time, whose actors are missing. Never rejects. */
  actors(): Promise<{ readonly actors: readonly ActorRecord[]; readonly unreachable: readonly string[] }>;
  /**
   * Has the node do what SIGTERM does; settles once it has begun, not when it is done. False: there is no such node.
   * @throws Refusal 503 when it did not answer.
   */
  drain(node: string): Promise<boolean>;
}
