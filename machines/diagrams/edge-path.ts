/** The line of an edge as the text of an SVG path: straight pieces with rounded corners. */
import type { PicturePoint } from '../picture.ts';

const CORNER_PX = 6;

function towards(from: PicturePoint, to: PicturePoint): PicturePoint {
  const distance = Math.hypot(to.x - from.x, to.y - from.y);
  // Short pieces are shared by the corners at both ends.
  const part = distance === 0 ? 0 : Math.min(CORNER_PX / distance, 0.5);
  return { x: tenths(from.x + (to.x - from.x) * part), y: tenths(from.y + (to.y - from.y) * part) };
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}

/** `M…L…Q…`; '' for fewer than two points. */
export function edgePath(points: readonly PicturePoint[]): string {
  const [first, ...others] = points;
  if (first === undefined || others.length === 0) return '';
  const pieces = others.map((point, index) => {
    const next = others[index + 1];
    if (next === undefined) return `L${point.x} ${point.y}`;
    const before = towards(point, others[index - 1] ?? first);
    const after = towards(point, next);
    return `L${before.x} ${before.y}Q${point.x} ${point.y} ${after.x} ${after.y}`;
  });
  return `M${first.x} ${first.y}${pieces.join('')}`;
}
