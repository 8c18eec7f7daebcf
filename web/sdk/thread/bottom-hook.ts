/** Keeps a thread at its end while somebody looks at its end, and nowhere else; what is put before keeps its place (WIDGET-8). Whoever says something is led to it (WIDGET-17). */
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** A finger's breadth above the end is still the end. */
const NEAR_PX = 48;

/** `first`: key of the first item; when it changes, earlier ones were put before it. `said`: key of what the person said last. `changes` with whatever is drawn. */
export function useBottom(box: RefObject<HTMLElement | null>, first: string | undefined, said: string | undefined, changes: unknown) {
  const [isAtEnd, setAtEnd] = useState(true);
  const sticks = useRef(true);
  const before = useRef({ first, said, height: 0, top: 0 });
  const toEnd = () => {
    sticks.current = true;
    box.current?.scrollTo({ top: box.current.scrollHeight });
  };
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const look = () => {
      const isNear = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX;
      sticks.current = isNear;
      before.current = { ...before.current, top: element.scrollTop, height: element.scrollHeight };
      setAtEnd(isNear);
    };
    element.addEventListener('scroll', look, { passive: true });
    // Blocks grow after they were drawn: pictures, cards that open, a keyboard that comes.
    const sizes = new ResizeObserver(() => {
      if (sticks.current) toEnd();
    });
    sizes.observe(element);
    for (const child of element.children) sizes.observe(child);
    return () => {
      element.removeEventListener('scroll', look);
      sizes.disconnect();
    };
  }, [box.current]);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const { first: earlier, said: last, height, top } = before.current;
    if (sticks.current || (said !== undefined && said !== last)) toEnd();
    else if (earlier !== first && height > 0) element.scrollTop = top + element.scrollHeight - height;
    before.current = { first, said, height: element.scrollHeight, top: element.scrollTop };
  }, [first, said, changes]);
  return { isAtEnd, toEnd };
}
