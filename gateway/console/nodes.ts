/** Console: the nodes of the cluster, and the drain of one (CONSOLE-21, CONSOLE-22). */
import * as v from 'valibot';
import type { ActorRecord } from '../../actors/actor-record.ts';
import type { NodeRecord } from '../../actors/cluster/nodes/members.ts';
import type { AboutEntry, ActorEntry, ActorsAnswer, NodeEntry, NodesAnswer } from '../../protocol/console/answers.ts';
import { Refusal } from '../../protocol/errors.ts';
import { isId } from '../../protocol/ids.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { readApp } from '../../storage/apps/apps.ts';
import { organisationOfApp, readOrganisation } from '../../storage/organisations/organisations.ts';
import { leavingToWire } from '../cells/move-wire.ts';
import { shownConditions } from '../conditions.ts';
import { checkQuery } from '../http/body.ts';
import { consoleRoute, json, type Route } from '../route.ts';
import type { Services } from '../services.ts';
import { pageLimit } from './pages.ts';

/** A cell moves a few organisations at a time; an answer is small whatever happens. */
const MOVES_SHOWN = 50;

function nodeToWire({ id, name, pid, cell, url, state, startedAtMs, actors }: NodeRecord, self: boolean): NodeEntry {
  return { id, name, pid, cell, url, state, started_at: timestamp(startedAtMs), actors, self };
}

type NamedEntry = Pick<AboutEntry, 'id' | 'name' | 'organisation'>;

/** With the names that people know. What cannot be read, as its file may be what is wrong, keeps its id alone. */
function named<Entry extends NamedEntry>(each: Entry, storage: Services['storage']): Entry {
  try {
    const organisationId = isId('org', each.id) ? each.id : organisationOfApp(storage.control, each.id);
    const organisation = organisationId === undefined ? undefined : readOrganisation(storage.control, organisationId);
    if (organisation === undefined) return each;
    if (organisation.id === each.id) return { ...each, name: organisation.name };
    const app = readApp(storage.organisation(organisation.id), each.id, organisation.id);
    return app === undefined ? each : { ...each, name: app.name, organisation: organisation.name };
  } catch {
    return each;
  }
}

const listNodesRoute = consoleRoute('GET', '/nodes', undefined, async (_, { cluster, moves, storage }) => {
  // The view lists the node that answers first.
  const nodes = cluster.nodes().map((node, index) => nodeToWire(node, index === 0));
  const elsewhere = (await cluster.elsewhere()).map((node) => nodeToWire(node, false));
  const conditions = shownConditions(await cluster.conditions(), true).map((condition) => {
    return condition.about === undefined ? condition : { ...condition, about: condition.about.map((each) => named(each, storage)) };
  });
  const underWay =
    moves == null
      ? []
      : moves.leaving
          .unfinished()
          .slice(0, MOVES_SHOWN)
          .map((move) => leavingToWire(move, moves));
  return json<NodesAnswer>({ nodes: [...nodes, ...elsewhere], redis: cluster.redis(), conditions, moves: underWay });
});

const drainNodeRoute = consoleRoute('POST', '/nodes/:node/drain', undefined, async ({ params }, { cluster, log }) => {
  const node = params.node ?? '';
  const found = await cluster.drain(node);
  if (!found) throw new Refusal('not_found', `There is no node ${node}. GET /console/api/nodes lists them by their id.`);
  log.info({ drained: node }, 'a drain was requested on the console');
  return json({ draining: true }, 202);
});

/** A page that a person reads; the most is an answer of some 300 KB. */
const ACTORS_DEFAULT = 200;
const ACTORS_MAX = 1_000;

const KINDS = ['conversation', 'setup_session'] as const;

const filters = v.object({
  node: v.optional(v.string()),
  kind: v.optional(v.picklist(KINDS)),
});

function actorToWire(actor: ActorRecord, app: string | undefined): ActorEntry {
  return {
    kind: actor.kind,
    id: actor.id,
    node: actor.node,
    org_id: actor.organisationId,
    app_id: actor.appId,
    ...(app !== undefined && { app }),
    state: actor.state,
    turn_id: actor.turnId,
    waiting: actor.waiting,
    since: timestamp(actor.sinceMs),
  };
}

function longestFirst(one: ActorRecord, other: ActorRecord): number {
  return one.sinceMs - other.sinceMs || (one.id < other.id ? -1 : 1);
}

const listActorsRoute = consoleRoute('GET', '/actors', undefined, async ({ query }, { cluster, storage }) => {
  const { node, kind } = checkQuery(filters, query);
  const limit = pageLimit(query, ACTORS_DEFAULT, ACTORS_MAX);
  const known = cluster.nodes().map(({ id }) => id);
  const { actors, unreachable } = await cluster.actors();
  if (node !== undefined && !known.includes(node) && !unreachable.includes(node)) {
    throw new Refusal('not_found', `There is no node ${node}. GET /console/api/nodes lists them by their id.`);
  }
  // Hundreds of actors are of a few apps.
  const names = new Map<string, string | undefined>();
  const nameOf = (id: string) => {
    if (!names.has(id)) names.set(id, named<NamedEntry>({ id }, storage).name);
    return names.get(id);
  };
  const wanted = actors.filter((actor) => (node ?? actor.node) === actor.node && (kind ?? actor.kind) === actor.kind);
  return json<ActorsAnswer>({
    actors: [...wanted]
      .sort(longestFirst)
      .slice(0, limit)
      .map((actor) => actorToWire(actor, nameOf(actor.appId))),
    total: wanted.length,
    unreachable: unreachable.filter((id) => (node ?? id) === id),
  });
});

export const nodeRoutes: readonly Route[] = [listNodesRoute, drainNodeRoute, listActorsRoute];
