/** Signs a person out where nobody did anything for a while, in any tab, over reloads as well (WIDGET-46). */
import type { PageValues } from './page-values.ts';

/** A key that is held does not write with every repeat. */
const TOLD_EVERY_MS = 1_000;
const SIGNS = ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const;

/** `name`: under which it is kept when somebody did something last. `isFresh`: the app says who is here now. Returns what ends it. */
export function onIdle(values: PageValues, name: string, idleMs: number, signOut: () => void, isFresh: boolean): () => void {
  let lastMs = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const kept = () => {
    try {
      return Math.max(lastMs, Number(values.get(name)) || 0);
    } catch {
      return lastMs;
    }
  };
  const look = () => {
    clearTimeout(timer);
    const leftMs = kept() + idleMs - Date.now();
    if (leftMs > 0) timer = setTimeout(look, leftMs);
    else {
      // Once, until somebody is there again.
      active();
      signOut();
    }
  };
  const active = () => {
    const nowMs = Date.now();
    if (nowMs - lastMs < TOLD_EVERY_MS) return;
    lastMs = nowMs;
    try {
      values.set(name, String(nowMs));
    } catch {
      // Then other tabs and the next page do not know.
    }
  };
  const moved = () => {
    // What slept is late: nobody was there before this press.
    if (kept() + idleMs <= Date.now()) look();
    active();
  };
  if (kept() === 0 || isFresh) active();
  look();
  for (const sign of SIGNS) window.addEventListener(sign, moved, { capture: true, passive: true });
  document.addEventListener('visibilitychange', look);
  return () => {
    clearTimeout(timer);
    for (const sign of SIGNS) window.removeEventListener(sign, moved, { capture: true });
    document.removeEventListener('visibilitychange', look);
  };
}
