/** How a cost grows with what is stored: its points, its curve, and the sentence that names it when it grows too much. Pure. */
import type { Curve, Point } from '../../question.ts';
import { digits, median } from '../../report/table.ts';

/** A cost that is more than this many times what it is at the smallest size grows faster than it should. */
const GROWTH_MAX = 1.3;
/** While it is measured, a thing may grow by this part: its cost is still that of its size. */
const DRIFT_MAX = 0.05;

/** One cost by one size. */
export interface Growth {
  /** As a sentence begins: "CPU time of a turn". */
  readonly cost: string;
  /** Empty: a count. */
  readonly unit: string;
  /** What there are more of: "messages in its conversation". */
  readonly of: string;
  /** From the smallest size to the largest. */
  readonly points: readonly Point[];
}

/** The median of the rounds at one size, and their range. */
export function pointOf(x: number, rounds: readonly number[]): Point {
  return { x, y: median(rounds), low: Math.min(...rounds), high: Math.max(...rounds) };
}

/** How often something of this size may be measured when each time adds so much to it; at least once. */
export function usesOf(size: number, added: number): number {
  return Math.max(1, Math.floor((size * DRIFT_MAX) / added));
}

export function curveOf({ cost, unit, of, points }: Growth): Curve {
  return { title: `${cost} by ${of}`, x: of, y: unit === '' ? cost : `${cost}, ${unit}`, logX: true, lines: [{ name: 'service', points }] };
}

/** Names a cost that grows too much, beyond the spread of its rounds; none otherwise. */
export function growthWarnings({ cost, unit, of, points }: Growth): string[] {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || first === last) return [];
  const ratio = last.y / first.y;
  if (ratio <= GROWTH_MAX || (last.low ?? last.y) <= (first.high ?? first.y)) return [];
  const [few, many] = [first, last].map(({ x, y }) => `${digits(y)}${unit === '' ? '' : ` ${unit}`} at ${x.toLocaleString('en-US')}`);
  return [`${cost} grows with the ${of}: ${many} is ${ratio.toFixed(1)} times the ${few}.`];
}
