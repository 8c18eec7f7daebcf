/** Coordinates for a machine's picture: several layouts are made, and the one that reads best is kept. */
import { machineGraph } from '../../machines/graph.ts';
import type { ListedMachine } from '../../machines/index.ts';
import type { MachineOutline, MachinePicture } from '../../machines/picture.ts';
import { machineVersion } from '../../machines/version.ts';
import { type ElkEdge, type ElkNode, type ElkOptions, lay } from './elk.ts';
import { countCrossings } from './geometry.ts';
import { dotId, edgeId, pictureOf, startId, stateId } from './laid-picture.ts';
import { faultsOf } from './picture-faults.ts';
import { labelsSize, stateSize } from './room.ts';
import { type Sketch, type SketchEdge, type SketchState, sketchOf } from './sketch.ts';

/** Width by height of the room that the console has for a picture. */
const ASPECT = 1.4;

/** Around the states inside a state. */
const AROUND_PX = 16;
const DOT_PX = 10;

/** Each level of nested states has its own. */
const SPACING: ElkOptions = {
  'elk.spacing.nodeNode': '18',
  'elk.spacing.edgeNode': '12',
  'elk.spacing.edgeEdge': '10',
  'elk.layered.spacing.nodeNodeBetweenLayers': '24',
};

const LAYERED: ElkOptions = {
  ...SPACING,
  'elk.algorithm': 'layered',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.json.edgeCoords': 'ROOT',
  'elk.json.shapeCoords': 'ROOT',
  'elk.padding': '[top=20,left=20,bottom=20,right=20]',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.layered.thoroughness': '50',
  'elk.layered.crossingMinimization.greedySwitch.type': 'TWO_SIDED',
};

/** Ways to lay a machine out; of two that read equally well the first is kept. */
const WAYS: readonly ElkOptions[] = [
  { 'elk.direction': 'DOWN' },
  { 'elk.direction': 'RIGHT' },
  { 'elk.direction': 'RIGHT', 'elk.layered.wrapping.strategy': 'MULTI_EDGE' },
  // The order of the definition kept inside of states as well.
  {
    'elk.direction': 'DOWN',
    'elk.layered.layering.strategy': 'LONGEST_PATH_SOURCE',
    'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  },
  // The order of the definition left aside, so that edges back to a state that is named late go up.
  { 'elk.direction': 'DOWN', 'elk.layered.considerModelOrder.strategy': 'NONE', 'elk.layered.cycleBreaking.strategy': 'DEPTH_FIRST' },
];

/** Less room between parts, for outlines; and at most so many states side by side. */
const close = (apart: number): ElkOptions => ({
  'elk.padding': '[top=8,left=8,bottom=8,right=8]',
  'elk.spacing.nodeNode': String(apart),
  'elk.spacing.edgeNode': String(apart - 2),
  'elk.spacing.edgeEdge': String(apart - 3),
  'elk.layered.spacing.edgeNodeBetweenLayers': String(apart - 2),
  'elk.layered.spacing.edgeEdgeBetweenLayers': String(apart - 3),
  'elk.layered.spacing.nodeNodeBetweenLayers': String(apart + 4),
});
const abreast = (states: number): ElkOptions => ({
  'elk.direction': 'DOWN',
  'elk.layered.layering.strategy': 'COFFMAN_GRAHAM',
  'elk.layered.layering.coffmanGraham.layerBound': String(states),
});
const OUTLINE_WAYS = [12, 8].flatMap((apart) => [...WAYS, abreast(1), abreast(2), abreast(3)].map((way) => ({ ...way, ...close(apart) })));

/** What a window of 1,360 px leaves beside its panels, and beside a matrix; and a phone of 390 px, which a page may be longer than. */
const OUTLINE_FRAMES = [
  { width: 780, height: 400 },
  { width: 374, height: 380 },
  { width: 366, height: 900 },
] as const;

/** The widest count that a line of an outline has room for. */
const COUNT = '99×';

/** Without faults first, since wrapping may lose the end of a line; then fewest crossings; of those, the one that fits the room best. */
function byReading(one: MachineOutline, other: MachineOutline): number {
  return faultsOf(one).length - faultsOf(other).length || countCrossings(one) - countCrossings(other) || stretch(one) - stretch(other);
}

function stretch({ width, height }: MachineOutline): number {
  return Math.abs(Math.log(width / height / ASPECT));
}

/** The sketch with names alone. */
function outlineOf(sketch: Sketch): Sketch {
  return {
    ...sketch,
    states: sketch.states.map((state) => ({ ...state, rows: [] })),
    edges: sketch.edges.map(({ from, to }) => ({ from, to, labels: [{ event: COUNT }] })),
  };
}

/** How much smaller it has to be drawn to fit; 1 where it fits as it is. */
function shrunk({ width, height }: MachineOutline, frame: (typeof OUTLINE_FRAMES)[number]): number {
  return Math.max(1, width / frame.width, height / frame.height);
}

async function outlinesOf(sketch: Sketch): Promise<MachineOutline[]> {
  const tried = await laidOut(outlineOf(sketch), OUTLINE_WAYS);
  const outlines = tried.map(({ regions: _, edges, ...outline }) => ({
    ...outline,
    isOutline: true as const,
    edges: edges.map(({ labels, ...edge }) => ({ ...edge, labels: labels.map((label) => ({ ...label, event: '' })) })),
  }));
  const chosen = OUTLINE_FRAMES.map((frame) => {
    const [best] = outlines.toSorted(
      (one, other) =>
        faultsOf(one).length - faultsOf(other).length ||
        shrunk(one, frame) - shrunk(other, frame) ||
        countCrossings(one) - countCrossings(other),
    );
    if (best === undefined) throw new Error('There is no way to lay an outline out.');
    return best;
  });
  // One may be the best for several frames.
  return [...new Set(chosen)];
}

/** The picture of a machine, of its present version. The same definition gives the same picture. */
export async function layoutMachine({ name, machine }: Pick<ListedMachine, 'name' | 'machine'>): Promise<MachinePicture> {
  const sketch = sketchOf(machineGraph(machine));
  const [best] = (await laidOut(sketch, WAYS)).sort(byReading);
  if (best === undefined) throw new Error(`There is no way to lay ${name} out.`);
  return { machine: name, version: machineVersion(machine), ...best, outlines: await outlinesOf(sketch) };
}

async function laidOut(sketch: Sketch, ways: readonly ElkOptions[]) {
  const tried = await Promise.allSettled(ways.map(async (way) => pictureOf(sketch, await lay(elkGraph(sketch, way)))));
  // The library stumbles over some combinations of options and nested states: the other ways are left.
  return tried.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
}

function elkGraph(sketch: Sketch, way: ElkOptions): ElkNode {
  const edges = [...sketch.edges.map(elkEdge), ...startEdges(sketch)];
  return { id: 'machine', layoutOptions: { ...LAYERED, ...way }, children: nodesInside(sketch, way, undefined), edges };
}

/** A level: its initial dot first, then its states in document order. */
function nodesInside(sketch: Sketch, way: ElkOptions, parent: string | undefined): ElkNode[] {
  const layoutOptions = { 'elk.layered.layering.layerConstraint': 'FIRST' };
  const dots = sketch.starts
    .filter((start) => start.parent === parent)
    .map(({ to }) => ({ id: dotId(to), width: DOT_PX, height: DOT_PX, layoutOptions }));
  const states = sketch.states.filter((state) => state.parent === parent);
  return [...dots, ...states.map((state) => elkState(sketch, way, state))];
}

function elkState(sketch: Sketch, way: ElkOptions, state: SketchState): ElkNode {
  const children = nodesInside(sketch, way, state.id);
  const id = stateId(state.id);
  const { width, height } = stateSize(state);
  if (children.length === 0) return { id, width, height };
  const layoutOptions = {
    ...SPACING,
    ...way,
    'elk.padding': `[top=${height + AROUND_PX / 2},left=${AROUND_PX},bottom=${AROUND_PX},right=${AROUND_PX}]`,
    'elk.nodeSize.constraints': 'MINIMUM_SIZE',
    'elk.nodeSize.minimum': `(${width}, ${height})`,
  };
  return { id, layoutOptions, children };
}

/** Labels are laid out as one block, so that they stay together and in order. */
function elkEdge({ from, to, labels }: SketchEdge, index: number): ElkEdge {
  const layoutOptions = { 'elk.edgeLabels.inline': 'true', 'elk.edgeLabels.placement': 'CENTER' };
  const block = { text: 'labels', ...labelsSize(labels), layoutOptions };
  return { id: edgeId(index), sources: [stateId(from)], targets: [stateId(to)], labels: [block] };
}

function startEdges({ starts }: Sketch): ElkEdge[] {
  return starts.map(({ to }) => ({ id: startId(to), sources: [dotId(to)], targets: [stateId(to)], labels: [] }));
}
