/**
 * Composition: what the rest needs of this process as a node, whether there are others (join-cluster.ts) or, without REDIS_URL, not. Nothing here
 * knows Redis or sockets.
 */
import { type Announcer, silentAnnouncer } from '../actors/announcements.ts';
import { ownCounts, type SharedCounts } from '../actors/cluster/bus/shared-counts.ts';
import { type CensusServices, type ClusterView, soleView } from '../actors/cluster/nodes/census.ts';
import { type ChoreServices, type Chores, noChores } from '../actors/cluster/nodes/chores.ts';
import type { Liveness } from '../actors/cluster/nodes/heartbeat.ts';
import { grantedLeases, type Leases } from '../actors/leases.ts';
import type { NodeStore } from '../actors/node.ts';
import { soleOwner } from '../actors/turns/epoch.ts';
import type { TurnOptions } from '../actors/turns/facts.ts';
import type { TurnHost } from '../actors/turns/host.ts';
import { LocalTurns } from '../actors/turns/local-turns.ts';

export interface ComposedNode {
  readonly node: NodeStore;
  readonly others: Announcer;
  readonly leases: Leases;
  readonly counts: SharedCounts;
  /** Whether a process of this data directory still is, by the name under which it uses organisations' files. */
  liveness(process: string): Promise<Liveness>;
  /** Where its turns run. */
  host(services: Omit<TurnOptions, 'ownership'>): TurnHost;
  chores(services: Omit<ChoreServices, 'members'>): Chores;
  view(census: CensusServices): ClusterView;
  /** Calls back once this process may write: at once, but in a cell that another host may have taken over (CELL-17). */
  whenHeld(begin: () => void): void;
  close(): Promise<void>;
}

/** This process as the only one of its data directory. */
export function standAlone(node: NodeStore): ComposedNode {
  return {
    node,
    others: silentAnnouncer,
    leases: grantedLeases,
    counts: ownCounts,
    // Any other was here before this one.
    liveness: async () => 'gone',
    host: (services) => new LocalTurns({ ...services, ownership: soleOwner() }),
    chores: () => noChores,
    view: soleView,
    whenHeld: (begin) => begin(),
    async close() {},
  };
}
