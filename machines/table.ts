/** A machine as a table, states down and events across. The tables in the headers of machines and in docs/machines.md say the same. */
import type { GraphEdge, GraphNode, MachineGraph } from './graph.ts';

/**
 * `moves`: to another state, at least in one case. `stays`: it counts, and the state is the same. `refused`: nothing changes, and the
 * person who asked gets a named error. `ignored`: nothing changes and nothing is done.
 */
export type CellKind = 'moves' | 'stays' | 'refused' | 'ignored';

export interface TableCell {
  readonly event: string;
  readonly kind: CellKind;
  /** Where it `moves`: the states that it may lead to, its own where it may count and stay, in the order in which guards are tried. */
  readonly to?: readonly string[];
  /** Codes of the refusals that may come of it, in the same order; absent where none may. */
  readonly refusals?: readonly string[];
}

export interface TableRow {
  readonly state: string;
  /** One for each event, in the order of `events`. */
  readonly cells: readonly TableCell[];
}

export interface MachineTable {
  readonly events: readonly string[];
  /** One for each innermost state, in document order. */
  readonly rows: readonly TableRow[];
}

/** The table of a graph. A guard counts as one that may pass: what it asks is the machine's business. */
export function machineTable(graph: MachineGraph): MachineTable {
  const events = unique([...graph.edges.map(({ event }) => event), ...graph.nodes.flatMap(({ refused }) => Object.keys(refused ?? {}))]);
  const innermost = graph.nodes.filter(({ id }) => !graph.nodes.some(({ parent }) => parent === id));
  return { events, rows: innermost.map((node) => ({ state: node.id, cells: events.map((event) => cellOf(graph, node, event)) })) };
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}

function cellOf(graph: MachineGraph, { id, refused }: GraphNode, event: string): TableCell {
  const edges = edgesFrom(graph, id, event);
  if (edges.length === 0) {
    const code = refused?.[event];
    return code === undefined ? { event, kind: 'ignored' } : { event, kind: 'refused', refusals: [code] };
  }
  const refusals = unique(edges.flatMap(({ refusal }) => refusal ?? []));
  const said = refusals.length === 0 ? {} : { refusals };
  const done = edges.filter(({ refusal }) => refusal === undefined);
  const to = unique(done.map((edge) => (edge.from === edge.to ? id : entered(graph, edge.to))));
  if (to.some((state) => state !== id)) return { event, kind: 'moves', to, ...said };
  return { event, kind: done.length === 0 ? 'refused' : 'stays', ...said };
}

/** Transitions of a state and, where none of them applies without asking a guard, of the state or the machine around it. */
function edgesFrom(graph: MachineGraph, state: string, event: string): GraphEdge[] {
  const own = graph.edges.filter((edge) => edge.from === state && edge.event === event);
  if (state === graph.id || own.some(({ guard }) => guard === undefined)) return own;
  const around = graph.nodes.find(({ id }) => id === state)?.parent ?? graph.id;
  return [...own, ...edgesFrom(graph, around, event)];
}

/** A state that has states inside stands for its initial one. */
function entered(graph: MachineGraph, state: string): string {
  const inside = graph.nodes.find(({ parent, initial }) => parent === state && initial);
  return inside === undefined ? state : entered(graph, inside.id);
}
