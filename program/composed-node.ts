/** Composition: what the rest needs of this process as a node, whether there are others (join-cluster.ts) or not (stand-alone.ts). */
import type { Announcer } from '../actors/announcements.ts';
import type { SharedCounts } from '../actors/cluster/bus/shared-counts.ts';
import type { CensusServices } from '../actors/cluster/nodes/census.ts';
import type { ChoreServices, Chores } from '../actors/cluster/nodes/chores.ts';
import type { Liveness } from '../actors/cluster/nodes/heartbeat.ts';
import type { ClusterView } from '../actors/cluster/nodes/view.ts';
import type { Leases } from '../actors/leases.ts';
import type { NodeStore } from '../actors/node.ts';
import type { TurnHost } from '../actors/turns/host.ts';
import type { TurnOptions } from '../actors/turns/scope.ts';

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
