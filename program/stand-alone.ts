/** Composition: this process as the only one of its data directory, without REDIS_URL. Nothing here knows Redis or sockets. */
import { silentAnnouncer } from '../actors/announcements.ts';
import { ownCounts } from '../actors/cluster/bus/shared-counts.ts';
import { soleView } from '../actors/cluster/nodes/census.ts';
import { noChores } from '../actors/cluster/nodes/chores.ts';
import { grantedLeases } from '../actors/leases.ts';
import type { NodeStore } from '../actors/node.ts';
import { soleOwner } from '../actors/turns/epoch.ts';
import { LocalTurns } from '../actors/turns/local-turns.ts';
import type { ComposedNode } from './composed-node.ts';

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
