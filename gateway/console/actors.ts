/** Console: what is alive in the cluster now, and on which node (CONSOLE-23). */

import * as v from 'valibot';
import type { ActorRecord } from '../../actors/actor-record.ts';
import type { ActorEntry, ActorsAnswer } from '../../protocol/console/answers.ts';
import { Refusal } from '../../protocol/errors.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { checkQuery } from '../http/query.ts';
import { defineRoute, json, type Route } from '../route.ts';
import { pageLimit } from './pages.ts';

/** A page that a person reads; the most is an answer of some 300 KB. */
const ACTORS_DEFAULT = 200;
const ACTORS_MAX = 1_000;

const KINDS = ['conversation', 'setup_session'] as const;

const filters = v.object({
  node: v.optional(v.string()),
  kind: v.optional(v.picklist(KINDS)),
});

function actorToWire(actor: ActorRecord): ActorEntry {
  return {
    kind: actor.kind,
    id: actor.id,
    node: actor.node,
    org_id: actor.organisationId,
    app_id: actor.appId,
    state: actor.state,
    turn_id: actor.turnId,
    waiting: actor.waiting,
    since: timestamp(actor.sinceMs),
  };
}

/** Those that have been in their state for the longest first: what hangs is what an operator looks for. */
function longestFirst(one: ActorRecord, other: ActorRecord): number {
  return one.sinceMs - other.sinceMs || (one.id < other.id ? -1 : 1);
}

const listActorsRoute = defineRoute({
  method: 'GET',
  path: '/console/api/actors',
  caller: 'operator',
  async handle({ query }, { cluster }) {
    const { node, kind } = checkQuery(filters, query);
    const limit = pageLimit(query, ACTORS_DEFAULT, ACTORS_MAX);
    const known = cluster.nodes().map(({ id }) => id);
    const { actors, unreachable } = await cluster.actors();
    if (node !== undefined && !known.includes(node) && !unreachable.includes(node)) {
      throw new Refusal('not_found', `There is no node ${node}. GET /console/api/nodes lists them by their id.`);
    }
    const wanted = actors.filter((actor) => (node ?? actor.node) === actor.node && (kind ?? actor.kind) === actor.kind);
    return json<ActorsAnswer>({
      actors: [...wanted].sort(longestFirst).slice(0, limit).map(actorToWire),
      total: wanted.length,
      unreachable: unreachable.filter((id) => (node ?? id) === id),
    });
  },
});

/** For the console's route table. */
export const actorRoutes: readonly Route[] = [listActorsRoute];
