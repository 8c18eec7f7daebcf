/**
 * What pages read about machines, for a program that does not answer it itself: tables worked out from the definitions, and pictures that put
 * states in rows. A program that answers is asked.
 */
import type { Page } from 'playwright-core';
import { edgeLabel, type MachineGraph, machineGraph } from '../../machines/graph.ts';
import { type ListedMachine, MACHINES } from '../../machines/index.ts';
import type { MachinePicture, PictureEdge, PictureState } from '../../machines/picture.ts';
import type { RunningService } from '../support/service.ts';

const VERSION = '0123456789abcdef';
const COLUMNS = 3;
const [WIDTH, HEIGHT, GAP] = [170, 96, 90];

function innermost(graph: MachineGraph): readonly string[] {
  return graph.nodes.filter(({ id }) => !graph.nodes.some(({ parent }) => parent === id)).map(({ id }) => id);
}

/** One region as a machine of its own, its states without the region's name. */
function drawn(graph: MachineGraph): MachineGraph {
  const [region] = graph.nodes;
  if (graph.parallel === undefined || region === undefined) return graph;
  const own = (id: string) => id.slice(region.id.length + 1);
  const nodes = graph.nodes.filter(({ parent }) => parent === region.id).map(({ id, final, initial }) => ({ id: own(id), final, initial }));
  const edges = graph.edges
    .filter(({ from }) => from.startsWith(`${region.id}.`))
    .map((edge) => ({ ...edge, from: own(edge.from), to: own(edge.to) }));
  return { id: graph.id, nodes, edges };
}

function stateAt(graph: MachineGraph, id: string, index: number): PictureState {
  const [x, y] = [GAP + (index % COLUMNS) * (WIDTH + GAP), 40 + Math.floor(index / COLUMNS) * (HEIGHT + GAP)];
  const rows = graph.edges
    .filter((edge) => edge.from === id && edge.to === id)
    .slice(0, 4)
    .map(({ event, guard }, row) => ({ event, ...(guard === undefined ? {} : { guard }), y: y + 28 + row * 14 }));
  const node = graph.nodes.find((one) => one.id === id);
  return { id, label: id, final: node?.final === true, x, y, width: WIDTH, height: HEIGHT, rows };
}

function edgesOf(graph: MachineGraph, states: readonly PictureState[]): PictureEdge[] {
  const merged = new Map<string, PictureEdge>();
  for (const edge of graph.edges) {
    const from = states.find(({ id }) => id === edge.from);
    const to = states.find(({ id }) => id === edge.to);
    if (from === undefined || to === undefined || from === to) continue;
    const key = `${from.id} ${to.id}`;
    const before = merged.get(key);
    const [x, y] = [(from.x + to.x + WIDTH) / 2 - 60, (from.y + to.y + HEIGHT) / 2 + (before?.labels.length ?? 0) * 28];
    const label = {
      event: edgeLabel(graph, edge).split(' ')[0] ?? '',
      ...(edge.guard === undefined ? {} : { guard: edge.guard }),
      x,
      y,
      width: 120,
    };
    const points = [
      { x: from.x + WIDTH / 2, y: from.y + HEIGHT },
      { x: to.x + WIDTH / 2, y: to.y },
    ];
    merged.set(key, { from: from.id, to: to.id, points, labels: [...(before?.labels ?? []), label] });
  }
  return [...merged.values()];
}

function pictureOf(name: string, full: MachineGraph): MachinePicture {
  const graph = drawn(full);
  const states = innermost(graph).map((id, index) => stateAt(graph, id, index));
  const [first] = states;
  const regions =
    full.parallel === undefined ? {} : { regions: full.nodes.filter(({ parent }) => parent === undefined).map(({ id }) => id) };
  return {
    machine: name,
    version: VERSION,
    width: GAP + COLUMNS * (WIDTH + GAP),
    height: 40 + Math.ceil(states.length / COLUMNS) * (HEIGHT + GAP),
    states,
    edges: edgesOf(graph, states),
    start:
      first === undefined
        ? []
        : [
            {
              x: 30,
              y: 60,
              to: first.id,
              points: [
                { x: 35, y: 60 },
                { x: first.x, y: 60 },
              ],
            },
          ],
    ...regions,
  };
}

function answerOf({ name, title, source, machine }: ListedMachine): object {
  const definition = machineGraph(machine);
  const graph = drawn(definition);
  const events = [...new Set(graph.edges.map(({ event }) => event))];
  const rows = innermost(graph).map((state) => ({
    state,
    cells: events.map((event) => {
      const edges = graph.edges.filter((edge) => edge.from === state && edge.event === event);
      const to = [...new Set(edges.map((edge) => edge.to))].filter((id) => id !== state);
      return to.length > 0 ? { event, to, kind: 'moves' } : { event, kind: edges.length > 0 ? 'stays' : 'ignored' };
    }),
  }));
  return { name, title, source, version: VERSION, definition, table: { events, rows }, picture: pictureOf(name, definition) };
}

function listAnswer(): object {
  const machines = MACHINES.map(({ name, title, source, machine }) => {
    const graph = drawn(machineGraph(machine));
    return {
      name,
      title,
      source,
      version: VERSION,
      states: innermost(graph).length,
      events: new Set(graph.edges.map(({ event }) => event)).size,
    };
  });
  return { machines };
}

/** The page gets answers about machines, the program's own where it has them. */
export async function lendMachines(page: Page, { baseUrl, operatorToken }: RunningService): Promise<void> {
  const own = await fetch(`${baseUrl}/console/api/machines`, { headers: { Authorization: `Bearer ${operatorToken}` } });
  if (own.status === 200) return;
  await page.route('**/console/api/machines', (route) => route.fulfill({ json: listAnswer() }));
  for (const machine of MACHINES)
    await page.route(`**/console/api/machines/${machine.name}`, (route) => route.fulfill({ json: answerOf(machine) }));
}
