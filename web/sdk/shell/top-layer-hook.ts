/** Puts the widget above the whole page, whatever the page's transforms, clips and stacking say (WIDGET-4). A browser without popovers draws it fixed. */
import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';

export function useTopLayer(layer: RefObject<HTMLElement | null>, isShown: boolean): void {
  useLayoutEffect(() => {
    const element = layer.current;
    if (element === null || typeof element.showPopover !== 'function') return;
    const isOpen = element.matches(':popover-open');
    try {
      if (isShown && !isOpen) element.showPopover();
      if (!isShown && isOpen) element.hidePopover();
    } catch {
      // Not in the page yet, or a page that forbids it: then it is drawn in its place.
    }
  }, [layer, isShown]);
}
