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
const MARGIN = 24;

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}

export function fitted(drawing: Size, frame: Size): Viewport {
  const scale = clamp(Math.min(frame.width / (drawing.width + 2 * MARGIN), frame.height / (drawing.height + 2 * MARGIN)), SCALE_MIN, 1);
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
