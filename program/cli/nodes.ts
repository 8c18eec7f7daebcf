/** Commands about the running cluster: list nodes, list actors, drain a node. */
import * as v from 'valibot';
import { type Call, type Command, CommandFailed } from './command.ts';
import { ago, table } from './table.ts';

const nodeSchema = v.object({
  id: v.string(),
  name: v.string(),
  pid: v.number(),
  cell: v.nullable(v.string()),
  url: v.nullable(v.string()),
  state: v.string(),
  started_at: v.string(),
  actors: v.number(),
  self: v.boolean(),
});
const nodesSchema = v.object({ nodes: v.array(nodeSchema), redis: v.nullable(v.string()) });
type Node = v.InferOutput<typeof nodeSchema>;

const actorsSchema = v.object({
  actors: v.array(
    v.object({
      kind: v.string(),
      id: v.string(),
      node: v.string(),
      org_id: v.string(),
      app_id: v.string(),
      state: v.string(),
      turn_id: v.nullable(v.string()),
      waiting: v.number(),
      since: v.string(),
    }),
  ),
  total: v.number(),
  unreachable: v.array(v.string()),
});

/** The node that `given` means: its id, or its name where only one has it. @throws CommandFailed naming those that there are. */
function requireNode(nodes: readonly Node[], given: string): Node {
  const found = nodes.filter(({ id }) => id === given);
  const named = found.length > 0 ? found : nodes.filter(({ name }) => name === given);
  const [node] = named;
  if (node !== undefined && named.length === 1) return node;
  const ids = (list: readonly Node[]) => list.map(({ id }) => id).join(', ');
  throw new CommandFailed(
    node === undefined
      ? `There is no node ${given}. There are: ${ids(nodes)}.`
      : `Several nodes are called ${given}. Say which by its id: ${ids(named)}.`,
  );
}

async function listNodes(call: Call): Promise<void> {
  const found = await call.service().ask('GET', '/nodes', nodesSchema);
  const rows = found.nodes.map(({ id, state, actors, cell, pid, url, started_at }) => {
    return [id, state, actors, cell, pid, url, ago(started_at, call.nowMs())];
  });
  const answering = found.nodes.find(({ self }) => self)?.id ?? '-';
  const redis = found.redis === null ? 'One process, without Redis.' : `Redis is ${found.redis}.`;
  const columns = ['NODE', 'STATE', 'ACTORS', 'CELL', 'PID', 'URL', 'UP FOR'];
  call.answer(found, `${table(columns, rows)}\n\n${redis} This was answered by ${answering}.`);
}

async function listActors(call: Call): Promise<void> {
  const service = call.service();
  const query = new URLSearchParams();
  const given = call.option('node');
  if (given !== undefined) {
    const { nodes } = await service.ask('GET', '/nodes', nodesSchema);
    query.set('node', requireNode(nodes, given).id);
  }
  for (const name of ['kind', 'limit']) {
    const value = call.option(name);
    if (value !== undefined) query.set(name, value);
  }
  const found = await service.ask('GET', `/actors?${query}`, actorsSchema);
  const { actors, total, unreachable } = found;
  const rows = actors.map(({ kind, id, node, state, since, waiting, app_id, turn_id }) => {
    return [kind, id, node, state, ago(since, call.nowMs()), waiting, app_id, turn_id];
  });
  const columns = ['KIND', 'ID', 'NODE', 'STATE', 'FOR', 'WAITING', 'APP', 'TURN'];
  const more = total > actors.length ? `\n\n${actors.length} of ${total} are shown; --limit shows up to 1000.` : '';
  call.answer(found, total === 0 ? 'Nothing is alive: no turn runs or waits, and no setup session works.' : table(columns, rows) + more);
  if (unreachable.length > 0) call.note(`These nodes did not answer, their actors are missing: ${unreachable.join(', ')}.`);
}

async function drain(call: Call): Promise<void> {
  const service = call.service();
  const { nodes } = await service.ask('GET', '/nodes', nodesSchema);
  const node = requireNode(nodes, call.args[0] ?? '');
  await service.ask('POST', `/nodes/${encodeURIComponent(node.id)}/drain`, v.object({ draining: v.boolean() }));
  call.answer({ node: node.id, draining: true }, `${node.id} drains: its open turns get 30 seconds to end, then process ${node.pid} ends.`);
}

export const nodesCommand: Command = {
  name: 'nodes',
  usage: '',
  does: 'Lists the nodes of the running service, and whether Redis is there.',
  arity: [0, 0],
  options: {},
  run: listNodes,
};

export const actorsCommand: Command = {
  name: 'actors',
  usage: '',
  does: 'Lists what is alive, and on which node; what has not moved for the longest comes first.',
  arity: [0, 0],
  options: {
    node: { value: '<node>', does: 'of this node only, by its id or name' },
    kind: { value: '<kind>', does: 'conversation or setup_session only' },
    limit: { value: '<n>', does: 'at most so many, 1 to 1000 (200)' },
  },
  run: listActors,
};

export const drainCommand: Command = {
  name: 'drain',
  usage: '<node>',
  does: 'Has a node do what SIGTERM does; one that a supervisor looks after is started again.',
  arity: [1, 1],
  options: {},
  run: drain,
};
