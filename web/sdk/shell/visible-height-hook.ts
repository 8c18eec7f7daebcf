/** Keeps the panel in what a keyboard on the screen leaves free: browsers on iOS tell that by the visual viewport alone. */
import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

/** Less is a bar that slides in, and no keyboard. */
const KEYBOARD_MIN_PX = 120;

export function useVisibleHeight(panel: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const viewport = window.visualViewport;
    const element = panel.current;
    if (viewport === null || viewport === undefined || element === null) return;
    const fit = () => {
      const hidden = window.innerHeight - viewport.height - viewport.offsetTop;
      if (hidden < KEYBOARD_MIN_PX) element.style.removeProperty('--keyboard');
      else element.style.setProperty('--keyboard', `${Math.round(hidden)}px`);
    };
    fit();
    viewport.addEventListener('resize', fit);
    viewport.addEventListener('scroll', fit);
    return () => {
      viewport.removeEventListener('resize', fit);
      viewport.removeEventListener('scroll', fit);
    };
  }, [panel]);
}
