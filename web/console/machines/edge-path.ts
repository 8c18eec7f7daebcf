/** The line of an edge as the text of an SVG path: straight pieces with rounded corners. */
import type { PicturePoint } from '../../../machines/picture.ts';

const CORNER = 6;

function towards(from: PicturePoint, to: PicturePoint, length: number): PicturePoint {
  const distance = Math.hypot(to.x - from.x, to.y - from.y);
  const part = distance === 0 ? 0 : Math.min(length / distance, 0.5);
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
}

/** `M…L…Q…`; '' for fewer than two points. */
export function edgePath(points: readonly PicturePoint[]): string {
  const [first, ...others] = points;
  if (first === undefined || others.length === 0) return '';
  const pieces = others.map((point, index) => {
    const next = others[index + 1];
    if (next === undefined) return `L${point.x} ${point.y}`;
    const before = towards(point, index === 0 ? first : (others[index - 1] ?? first), CORNER);
    const after = towards(point, next, CORNER);
    return `L${before.x} ${before.y}Q${point.x} ${point.y} ${after.x} ${after.y}`;
  });
  return `M${first.x} ${first.y}${pieces.join('')}`;
}
