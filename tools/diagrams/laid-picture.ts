/** A picture, put together of what it shows and where the layout placed it. */
import { FIRST_ROW_PX, LINE_PX } from '../../machines/diagrams/text.ts';
import type { MachinePicture, PictureEdge, PictureLabel, PicturePoint, PictureState } from '../../machines/picture.ts';
import type { LaidEdge, LaidNode } from './elk.ts';
import { labelLines, labelWidth } from './room.ts';
import type { Sketch, SketchLabel, SketchState } from './sketch.ts';

/** Ids of the layout's graph: states, dots and edges share one room of names there. */
export function stateId(state: string): string {
  return `state ${state}`;
}

export function dotId(to: string): string {
  return `dot ${to}`;
}

export function startId(to: string): string {
  return `start ${to}`;
}

export function edgeId(index: number): string {
  return `edge ${index}`;
}

/** @throws Error when the layout lost a state or an edge. */
export function pictureOf(sketch: Sketch, laid: LaidNode): Omit<MachinePicture, 'machine' | 'version' | 'outlines'> {
  const nodes = new Map(nodesBelow(laid).map((node) => [node.id, node]));
  const lines = new Map(nodesBelow(laid).flatMap(({ edges = [] }) => edges.map((edge) => [edge.id, edge] as const)));
  return {
    width: Math.ceil(laid.width),
    height: Math.ceil(laid.height),
    states: sketch.states.map((state) => placedState(state, known(nodes, stateId(state.id)))),
    edges: sketch.edges.map(({ from, to, labels }, index): PictureEdge => {
      const edge = known(lines, edgeId(index));
      return { from, to, labels: placedLabels(labels, edge), points: pointsOf(edge) };
    }),
    start: sketch.starts.map(({ to }) => {
      const { x, y, width, height } = known(nodes, dotId(to));
      return { x: tenths(x + width / 2), y: tenths(y + height / 2), to, points: pointsOf(known(lines, startId(to))) };
    }),
    ...(sketch.regions === undefined ? {} : { regions: sketch.regions }),
  };
}

function nodesBelow(node: LaidNode): LaidNode[] {
  return [node, ...(node.children ?? []).flatMap(nodesBelow)];
}

function known<Value>(found: ReadonlyMap<string, Value>, id: string): Value {
  const value = found.get(id);
  if (value === undefined) throw new Error(`The layout has no ${id}.`);
  return value;
}

/** Finer than any screen, and the same text on every machine. */
function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}

function point({ x, y }: PicturePoint): PicturePoint {
  return { x: tenths(x), y: tenths(y) };
}

function placedState({ id, label, parent, final, rows }: SketchState, { x, y, width, height }: LaidNode): PictureState {
  return {
    id,
    label,
    ...(parent === undefined ? {} : { parent }),
    final,
    ...point({ x, y }),
    width: tenths(width),
    height: tenths(height),
    rows: rows.map((row, index) => ({ ...row, y: tenths(y + FIRST_ROW_PX + index * LINE_PX) })),
  };
}

function pointsOf({ id, sections = [] }: LaidEdge): PicturePoint[] {
  if (sections.length !== 1) throw new Error(`The layout drew ${id} in ${sections.length} pieces.`);
  return sections.flatMap(({ startPoint, bendPoints = [], endPoint }) => [startPoint, ...bendPoints, endPoint].map(point));
}

/** The block of an edge's labels, line by line, each label in its middle. */
function placedLabels(labels: readonly SketchLabel[], { id, labels: blocks = [] }: LaidEdge): PictureLabel[] {
  const [block] = blocks;
  if (block === undefined) throw new Error(`The layout lost the labels of ${id}.`);
  let y = block.y;
  return labels.map((label) => {
    const width = labelWidth(label);
    const placed = { ...label, ...point({ x: block.x + (block.width - width) / 2, y }), width };
    y += labelLines(label) * LINE_PX;
    return placed;
  });
}
