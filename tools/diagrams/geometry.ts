/** How well a picture reads: lines that cross, words that are covered. For choosing a layout, and for its tests. */
import { LINE_PX } from '../../machines/diagrams/text.ts';
import type { MachineOutline, PictureEdge, PictureLabel } from '../../machines/picture.ts';
import type { Box, Point } from './elk.ts';
import { labelLines } from './room.ts';

type Piece = readonly [Point, Point];

export function piecesOf({ points }: Pick<PictureEdge, 'points'>): Piece[] {
  return points.slice(1).map((point, index) => [points[index] ?? point, point] as const);
}

/** Room of a label: one line, or two with a guard. */
export function labelBox(label: PictureLabel): Box {
  const { x, y, width } = label;
  return { x, y, width, height: labelLines(label) * LINE_PX };
}

/** Whether two boxes have more in common than an edge. Coordinates are rounded to tenths: less than a pixel is none. */
export function overlap(one: Box, other: Box): boolean {
  const across = Math.min(one.x + one.width, other.x + other.width) - Math.max(one.x, other.x);
  const down = Math.min(one.y + one.height, other.y + other.height) - Math.max(one.y, other.y);
  return across >= 1 && down >= 1;
}

/** On which side of the line through `from` and `to` a point lies: its sign. */
function side([from, to]: Piece, point: Point): number {
  return Math.sign((to.x - from.x) * (point.y - from.y) - (to.y - from.y) * (point.x - from.x));
}

/** Whether each goes through the other: touching ends are no crossing. */
function cross(one: Piece, other: Piece): boolean {
  return side(one, other[0]) * side(one, other[1]) < 0 && side(other, one[0]) * side(other, one[1]) < 0;
}

/** Whether a level or upright piece goes through a box. */
export function covers([from, to]: Piece, box: Box): boolean {
  const line = { x: Math.min(from.x, to.x), y: Math.min(from.y, to.y), width: Math.abs(to.x - from.x), height: Math.abs(to.y - from.y) };
  return line.x < box.x + box.width && line.x + line.width > box.x && line.y < box.y + box.height && line.y + line.height > box.y;
}

/** Places where two lines cross, and where a line runs behind the words of another one. */
export function countCrossings({ edges }: MachineOutline): number {
  return edges.flatMap((edge, index) => {
    const pieces = piecesOf(edge);
    const later = edges.slice(index + 1).flatMap(piecesOf);
    const foreign = edges.filter((other) => other !== edge).flatMap(({ labels }) => labels.map(labelBox));
    return pieces.flatMap((piece) => [...later.filter((other) => cross(piece, other)), ...foreign.filter((label) => covers(piece, label))]);
  }).length;
}
