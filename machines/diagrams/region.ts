/** Machines of equal regions: one of them is read, drawn and documented for all. */
import type { MachineGraph } from '../graph.ts';

export interface DrawnGraph {
  /** All of a machine; or its first region as if it were a machine of its own, states named without the region. */
  readonly graph: MachineGraph;
  /** The regions that it stands for, in order; absent where it is all of the machine. */
  readonly regions?: readonly string[];
}

/** What of a machine is drawn: one region where all are alike and none leads into another, else all of it. */
export function drawnGraph(graph: MachineGraph): DrawnGraph {
  if (graph.parallel === undefined) return { graph };
  const regions = graph.nodes.filter(({ parent }) => parent === undefined).map(({ id }) => id);
  const areApart = graph.edges.every(({ from, to }) => regions.some((region) => isWithin(region, from) && isWithin(region, to)));
  const [first, ...others] = regions.map((region) => regionOf(graph, region));
  const shape = JSON.stringify(first);
  if (first === undefined || !areApart || others.some((other) => JSON.stringify(other) !== shape)) return { graph };
  return { graph: first, regions };
}

function isWithin(region: string, state: string): boolean {
  return state.startsWith(`${region}.`);
}

function regionOf({ id, nodes, edges }: MachineGraph, region: string): MachineGraph {
  const own = (state: string) => state.slice(region.length + 1);
  return {
    id,
    nodes: nodes
      .filter((node) => isWithin(region, node.id))
      .map(({ parent, ...node }) => ({
        ...node,
        id: own(node.id),
        ...(parent === undefined || parent === region ? {} : { parent: own(parent) }),
      })),
    edges: edges.filter(({ from }) => isWithin(region, from)).map((edge) => ({ ...edge, from: own(edge.from), to: own(edge.to) })),
  };
}
