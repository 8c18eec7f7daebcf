/** Where the panel fills the screen it is all there is: what lies behind it is neither read nor reached with Tab (WIDGET-11). */
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';

/** As the style has it. */
const FULL_SCREEN = '(max-width: 480px)';
const FOCUSABLE =
  'button:not(:disabled), a[href], input:not(:disabled, [hidden]), select:not(:disabled), textarea:not(:disabled), [tabindex="0"]';

/** Whether the panel is modal now. Tab goes round in it then. */
export function useModal(panel: RefObject<HTMLElement | null>, isInline: boolean): boolean {
  const [isFull, setFull] = useState(() => matchMedia(FULL_SCREEN).matches);
  const isModal = isFull && !isInline;
  useEffect(() => {
    const media = matchMedia(FULL_SCREEN);
    const look = () => setFull(media.matches);
    look();
    media.addEventListener('change', look);
    return () => media.removeEventListener('change', look);
  }, []);
  // With the layout, not after the paint: between the two a Tab would leave a panel that already says that it is modal.
  useLayoutEffect(() => {
    const element = panel.current;
    if (element === null || !isModal) return;
    const goRound = (event: KeyboardEvent) => {
      if (event.key !== 'Tab' || event.defaultPrevented) return;
      const all = [...element.querySelectorAll<HTMLElement>(FOCUSABLE)].filter((each) => each.checkVisibility());
      const [from, to] = event.shiftKey ? [all[0], all.at(-1)] : [all.at(-1), all[0]];
      if (from === undefined || (element.getRootNode() as ShadowRoot).activeElement !== from) return;
      event.preventDefault();
      to?.focus();
    };
    element.addEventListener('keydown', goRound);
    return () => element.removeEventListener('keydown', goRound);
  }, [panel.current, isModal]);
  return isModal;
}
