/** Moving a drawing by drag, wheel and keys. Lengths are set as attributes of the drawing, because the page has no inline styles. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { fitted, isInside, opened, type Point, panned, reframed, type Size, type Viewport, zoomed } from './viewport.ts';

const KEY_PAN = 0.1;
const KEY_ZOOM = 1.25;
const PANS: Readonly<Record<string, readonly [right: number, down: number]>> = {
  ArrowLeft: [-KEY_PAN, 0],
  ArrowRight: [KEY_PAN, 0],
  ArrowUp: [0, -KEY_PAN],
  ArrowDown: [0, KEY_PAN],
};
const ZOOMS: Readonly<Record<string, number>> = { '+': KEY_ZOOM, '=': KEY_ZOOM, '-': 1 / KEY_ZOOM };
/** One notch of a wheel is about 100. */
const WHEEL_ZOOM = 0.0016;
/** Less is a click with an unsteady hand. */
const DRAG_MIN_PX = 4;

interface Drag {
  readonly pointerId: number;
  x: number;
  y: number;
  isMoving: boolean;
}

type PointerOnFrame = PointerEvent & { readonly currentTarget: SVGSVGElement };

function byKey(key: string, shown: Viewport, drawing: Size, frame: Size): Viewport | undefined {
  const [right, down] = PANS[key] ?? [0, 0];
  if (right !== 0 || down !== 0) return panned(shown, drawing, right, down);
  const zoom = ZOOMS[key];
  if (zoom !== undefined) return zoomed(shown, frame, zoom);
  return key === '0' ? fitted(drawing, frame) : undefined;
}

type Frame = { readonly current: SVGSVGElement | null };

export function useFrameSize(frame: Frame): Size | undefined {
  const [size, setSize] = useState<Size>();
  useEffect(() => {
    if (frame.current === null) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      const { width, height } = entry?.contentRect ?? { width: 0, height: 0 };
      if (width > 0 && height > 0) setSize({ width, height });
    });
    observer.observe(frame.current);
    return () => observer.disconnect();
  }, []);
  return size;
}

interface Held {
  readonly drawing: Size;
  readonly size: Size;
  readonly shown: Viewport;
  readonly around: Point;
}

/** `around`: what matters in the drawing. Where it moves out of sight, the drawing opens about it anew. */
export function useViewport(frame: Frame, size: Size | undefined, drawing: Size, around: Point) {
  const [kept, hold] = useState<Held>();
  const drag = useRef<Drag | null>(null);
  const isStill = kept?.around.x === around.x && kept.around.y === around.y;
  const held = kept?.drawing === drawing && (isStill || isInside(kept.shown, around)) ? kept : undefined;
  const shown = size === undefined ? undefined : held === undefined ? opened(drawing, size, around) : reframed(held.shown, held.size, size);
  const change = (next: (shown: Viewport, size: Size) => Viewport | undefined) => {
    if (size === undefined || shown === undefined) return;
    const changed = next(shown, size);
    if (changed !== undefined) hold({ drawing, size, shown: changed, around });
  };
  const latest = useRef(change);
  latest.current = change;
  useWheel(frame, (event, at) => latest.current((now, within) => zoomed(now, within, Math.exp(-event.deltaY * WHEEL_ZOOM), at)));

  return {
    viewBox: shown === undefined ? undefined : `${shown.x} ${shown.y} ${shown.width} ${shown.height}`,
    onPointerDown(event: PointerOnFrame) {
      if (event.button === 0) drag.current = { pointerId: event.pointerId, x: event.clientX, y: event.clientY, isMoving: false };
    },
    onPointerMove(event: PointerOnFrame) {
      const { current } = drag;
      if (current === null || current.pointerId !== event.pointerId) return;
      const [right, down] = [current.x - event.clientX, current.y - event.clientY];
      if (!current.isMoving && Math.hypot(right, down) < DRAG_MIN_PX) return;
      // Only now: a click on a state would go to whoever has the pointer.
      if (!current.isMoving) event.currentTarget.setPointerCapture(event.pointerId);
      Object.assign(current, { x: event.clientX, y: event.clientY, isMoving: true });
      change((now, within) => panned(now, drawing, right / within.width, down / within.height));
    },
    onPointerUp() {
      drag.current = null;
    },
    onKeyDown(event: KeyboardEvent) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      change((now, within) => {
        const moved = byKey(event.key, now, drawing, within);
        if (moved !== undefined) event.preventDefault();
        return moved;
      });
    },
    zoom: (factor: number) => change((now, within) => zoomed(now, within, factor)),
    /** As it opened, and again whenever the frame changes, until somebody moves it. */
    open: () => hold(undefined),
  };
}

/** Attached by hand: a listener that keeps the page from scrolling may not be passive. */
function useWheel(frame: Frame, turned: (event: WheelEvent, at: { readonly x: number; readonly y: number }) => void): void {
  useEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const { left, top, width, height } = element.getBoundingClientRect();
      turned(event, { x: (event.clientX - left) / width, y: (event.clientY - top) / height });
    };
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => element.removeEventListener('wheel', onWheel);
  }, []);
}
