/** Parts of a drawing that are loaded when the first of them is shown. Where they cannot be, the rest of the drawing stays as it is. */
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { sheetOf } from '../../look/sheets.ts';

/** What `load` brings; undefined before, and where it failed. `load` is the same function at every call. */
export function useLazy<T>(load: () => Promise<T>): T | undefined {
  const [module, setModule] = useState<{ readonly it: T }>();
  useEffect(() => {
    let isShown = true;
    load().then(
      (it) => isShown && setModule({ it }),
      () => undefined,
    );
    return () => {
      isShown = false;
    };
  }, [load]);
  return module?.it;
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
  load: () => Promise<T>,
  place: RefObject<HTMLElement | null>,
): T | undefined {
  const loaded = useLazy(load);
  useLayoutEffect(() => {
    if (place.current !== null && loaded !== undefined) adopt(place.current.getRootNode(), loaded.LATER_CSS);
  }, [loaded]);
  return loaded;
}
