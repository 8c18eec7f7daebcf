/**
 * Parts of a drawing that are loaded when the first of them is shown. Where one cannot be, the rest of the drawing stays as it is, the log says
 * so, and it is asked for again.
 */
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { sheetOf } from '../../look/sheets.ts';
import type { BlockSurroundings } from '../block-view.ts';

/** `again` goes behind the address of what is asked for anew: browsers keep what an import that failed came to. See bundle.mjs. */
export type LoadPart<T> = (again?: string) => Promise<T>;

interface Part {
  it: unknown;
  failures: number;
  isUnderWay: boolean;
  readonly told: Set<() => void>;
}

/** A part that failed is asked for again so long after, and then whenever a drawing of it is begun. */
const PAUSES_MS = [2_000, 15_000, 60_000];

/** One for a whole page, however many drawings wait for it. */
const parts = new WeakMap<LoadPart<unknown>, Part>();

function partOf(load: LoadPart<unknown>): Part {
  const part = parts.get(load) ?? { it: undefined, failures: 0, isUnderWay: false, told: new Set() };
  parts.set(load, part);
  return part;
}

async function ask(load: LoadPart<unknown>, { partFailed }: Pick<BlockSurroundings, 'partFailed'>): Promise<void> {
  const part = partOf(load);
  if (part.isUnderWay || (part.it !== undefined && part.it !== null)) return;
  part.isUnderWay = true;
  try {
    part.it = await load(part.failures === 0 ? '' : `?again=${part.failures}`);
  } catch (error) {
    part.it = null;
    if (part.failures === 0) partFailed?.(error);
    const pauseMs = PAUSES_MS[part.failures++];
    if (pauseMs !== undefined) setTimeout(() => void ask(load, {}), pauseMs);
  }
  part.isUnderWay = false;
  for (const tell of part.told) tell();
}

/** What `load` brings; undefined before, null while it could not be had. `load` is the same function at every call. */
export function useLazy<T>(load: LoadPart<T>, around: Pick<BlockSurroundings, 'partFailed'>): T | null | undefined {
  const part = partOf(load);
  const [, redraw] = useState({});
  const drawn = part.it;
  useEffect(() => {
    const tell = () => redraw({});
    part.told.add(tell);
    // It may have come since it was drawn.
    if (part.it !== drawn) tell();
    void ask(load, around);
    return () => void part.told.delete(tell);
  }, [load]);
  return part.it as T | null | undefined;
}

const sheets = new Map<string, CSSStyleSheet>();

function adopt(root: Node, css: string): void {
  if (!(root instanceof Document || root instanceof ShadowRoot)) return;
  const sheet = sheets.get(css) ?? sheetOf(css);
  sheets.set(css, sheet);
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
}

/** As `useLazy`, for what brings a style of its own, which the root around `place` adopts. */
export function useStyled<T extends { readonly LATER_CSS: string }>(
  load: LoadPart<T>,
  place: RefObject<HTMLElement | null>,
  around: Pick<BlockSurroundings, 'partFailed'>,
): T | null | undefined {
  const loaded = useLazy(load, around);
  useLayoutEffect(() => {
    if (place.current !== null && loaded) adopt(place.current.getRootNode(), loaded.LATER_CSS);
  }, [loaded]);
  return loaded;
}
