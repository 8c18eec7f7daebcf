/** Console: the nodes of the cluster, and the drain of one (CONSOLE-21, CONSOLE-22). */

import type { NodeRecord } from '../../actors/cluster/nodes/members.ts';
import type { NodeEntry, NodesAnswer } from '../../protocol/console/answers.ts';
import { Refusal } from '../../protocol/errors.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { leavingToWire } from '../cells/move-wire.ts';
import { shownConditions } from '../conditions.ts';
import { defineRoute, json, type Route } from '../route.ts';

/** A cell moves a few organisations at a time; an answer is small whatever happens. */
const MOVES_SHOWN = 50;

function nodeToWire({ id, name, pid, cell, url, state, startedAtMs, actors }: NodeRecord, self: boolean): NodeEntry {
  return { id, name, pid, cell, url, state, started_at: timestamp(startedAtMs), actors, self };
}

const listNodesRoute = defineRoute({
  method: 'GET',
  path: '/console/api/nodes',
  caller: 'operator',
  async handle(_, { cluster, storage, moves }) {
    // The view lists the node that answers first.
    const nodes = cluster.nodes().map((node, index) => nodeToWire(node, index === 0));
    const elsewhere = (await cluster.elsewhere()).map((node) => nodeToWire(node, false));
    const conditions = shownConditions(storage.conditions.list(), true);
    const underWay =
      moves == null
        ? []
        : moves.leaving
            .unfinished()
            .slice(0, MOVES_SHOWN)
            .map((move) => leavingToWire(move, moves));
    return json<NodesAnswer>({ nodes: [...nodes, ...elsewhere], redis: cluster.redis(), conditions, moves: underWay });
  },
});

const drainNodeRoute = defineRoute({
  method: 'POST',
  path: '/console/api/nodes/:node/drain',
  caller: 'operator',
  async handle({ params }, { cluster, log }) {
    const node = params.node ?? '';
    const found = await cluster.drain(node);
    if (!found) throw new Refusal('not_found', `There is no node ${node}. GET /console/api/nodes lists them by their id.`);
    log.info({ drained: node }, 'a drain was requested on the console');
    return json({ draining: true }, 202);
  },
});

/** For the console's route table. */
export const nodeRoutes: readonly Route[] = [listNodesRoute, drainNodeRoute];
