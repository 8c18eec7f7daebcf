/** What a picture of a machine shows, before it has coordinates: states with their rows, merged edges, initial dots. */
import { drawnGraph } from '../../machines/diagrams/region.ts';
import { type GraphEdge, type MachineGraph, shownGuard } from '../../machines/graph.ts';

export interface SketchLabel {
  readonly event: string;
  readonly guard?: string;
}

/** A transition without a target, or an event that is refused. */
export interface SketchRow extends SketchLabel {
  readonly refusal?: string;
}

export interface SketchState {
  readonly id: string;
  readonly label: string;
  readonly parent?: string;
  readonly final: boolean;
  readonly rows: readonly SketchRow[];
}

/** All transitions from one state to another. */
export interface SketchEdge {
  readonly from: string;
  readonly to: string;
  readonly labels: readonly SketchLabel[];
}

export interface SketchStart {
  readonly to: string;
  /** The state in which the dot lies; absent at the top. */
  readonly parent?: string;
}

export interface Sketch {
  readonly states: readonly SketchState[];
  readonly edges: readonly SketchEdge[];
  readonly starts: readonly SketchStart[];
  readonly regions?: readonly string[];
}

/** @throws Error for a transition of the whole machine, which has no place in a picture: write it at each state. */
export function sketchOf(whole: MachineGraph): Sketch {
  const { graph, regions } = drawnGraph(whole);
  const lost = graph.edges.find(({ from }) => from === graph.id);
  if (lost !== undefined) throw new Error(`${graph.id}: ${lost.event} is a transition of the whole machine, which no picture shows.`);
  const parallel = new Set(graph.nodes.filter((node) => node.parallel === true).map(({ id }) => id));
  const startsTogether = (parent: string | undefined) => (parent === undefined ? graph.parallel === true : parallel.has(parent));
  return {
    states: graph.nodes.map(({ id, parent, final, refused }) => ({
      id,
      label: id.slice(id.lastIndexOf('.') + 1),
      ...(parent === undefined ? {} : { parent }),
      final,
      rows: [
        ...graph.edges.filter((edge) => edge.from === id && edge.to === id).map((edge) => rowOf(graph, edge)),
        ...Object.entries(refused ?? {}).map(([event, refusal]) => ({ event, refusal })),
      ],
    })),
    edges: mergedEdges(graph),
    starts: graph.nodes
      .filter(({ initial, parent }) => initial && !startsTogether(parent))
      .map(({ id, parent }) => ({ to: id, ...(parent === undefined ? {} : { parent }) })),
    ...(regions === undefined ? {} : { regions }),
  };
}

function labelOf(graph: MachineGraph, edge: GraphEdge): SketchLabel {
  const guard = shownGuard(graph, edge);
  return { event: edge.event, ...(guard === undefined ? {} : { guard }) };
}

function rowOf(graph: MachineGraph, edge: GraphEdge): SketchRow {
  return { ...labelOf(graph, edge), ...(edge.refusal === undefined ? {} : { refusal: edge.refusal }) };
}

function mergedEdges(graph: MachineGraph): SketchEdge[] {
  const merged = new Map<string, { from: string; to: string; labels: SketchLabel[] }>();
  for (const edge of graph.edges) {
    const { from, to } = edge;
    if (from === to) continue;
    const key = JSON.stringify([from, to]);
    const known = merged.get(key) ?? { from, to, labels: [] };
    known.labels.push(labelOf(graph, edge));
    merged.set(key, known);
  }
  return [...merged.values()];
}
