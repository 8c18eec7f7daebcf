/** The part of a drawing that is shown: arithmetic only, in the drawing's own units. */

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Viewport extends Size {
  readonly x: number;
  readonly y: number;
}

/** Closer than this, one word fills the frame; from farther away nothing can be read. */
const SCALE_MAX = 4;
const SCALE_MIN = 0.1;
/** Blank around a drawing that fits. */
export const MARGIN = 12;
/** A small drawing that fits is drawn no larger than this. */
const FIT_MAX = 1.1;

/** Words of 11 px stay that; those of outlines are set in 12, and may be drawn so much smaller. */
const leastOf = ({ isOutline }: Drawn) => (isOutline === true ? 11 / 12 : 1);

/** A picture or an outline of it. */
export interface Drawn extends Size {
  readonly isOutline?: boolean;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}

function fit(drawing: Size, frame: Size): number {
  return Math.min(frame.width / (drawing.width + 2 * MARGIN), frame.height / (drawing.height + 2 * MARGIN));
}

/** The first that is whole in the frame with its words as large as they were set; else the one that comes nearest. */
export function fitting<Drawing extends Drawn>(drawings: readonly [Drawing, ...Drawing[]], frame: Size): Drawing {
  const near = (one: Drawing, other: Drawing) => (fit(other, frame) > fit(one, frame) ? other : one);
  return drawings.find((drawing) => fit(drawing, frame) >= leastOf(drawing)) ?? drawings.reduce(near);
}

/** As it opens: all of it; where its words would be too small, no smaller than they were set, around what matters. */
export function opened(drawing: Drawn, frame: Size, around: Point): Viewport {
  const least = leastOf(drawing);
  if (fit(drawing, frame) >= least) return fitted(drawing, frame);
  const width = frame.width / least;
  const height = frame.height / least;
  const start = (length: number, shown: number, at: number) =>
    length + 2 * MARGIN <= shown ? (length - shown) / 2 : clamp(at - shown / 2, -MARGIN, length + MARGIN - shown);
  return { x: start(drawing.width, width, around.x), y: start(drawing.height, height, around.y), width, height };
}

export function isInside({ x, y, width, height }: Viewport, point: Point): boolean {
  return point.x >= x && point.x <= x + width && point.y >= y && point.y <= y + height;
}

export function fitted(drawing: Size, frame: Size): Viewport {
  const scale = clamp(fit(drawing, frame), SCALE_MIN, FIT_MAX);
  const width = frame.width / scale;
  const height = frame.height / scale;
  return { x: (drawing.width - width) / 2, y: (drawing.height - height) / 2, width, height };
}

/** Closer by `factor` (over 1) or farther (below 1); the point at `at`, in parts of the frame from 0 to 1, stays where it is. */
export function zoomed(shown: Viewport, frame: Size, factor: number, at = { x: 0.5, y: 0.5 }): Viewport {
  const scale = clamp((frame.width / shown.width) * factor, SCALE_MIN, SCALE_MAX);
  const width = frame.width / scale;
  const height = frame.height / scale;
  return { x: shown.x + (shown.width - width) * at.x, y: shown.y + (shown.height - height) * at.y, width, height };
}

/** Moved by parts of the frame: 1 is a whole frame to the right or down. Some of the drawing stays in sight. */
export function panned(shown: Viewport, drawing: Size, right: number, down: number): Viewport {
  return {
    ...shown,
    x: clamp(shown.x + right * shown.width, -shown.width * 0.8, drawing.width - shown.width * 0.2),
    y: clamp(shown.y + down * shown.height, -shown.height * 0.8, drawing.height - shown.height * 0.2),
  };
}

export function reframed(shown: Viewport, before: Size, after: Size): Viewport {
  const scale = before.width / shown.width;
  const width = after.width / scale;
  const height = after.height / scale;
  return { x: shown.x + (shown.width - width) / 2, y: shown.y + (shown.height - height) / 2, width, height };
}
