/** Blocks that the app draws itself (WIDGET-43): in an element of the page, below the widget's, which a slot shows in the block's place. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { BlockProps, ComponentName, OwnDrawing, OwnDrawings } from './block-view.ts';

/** An element of the app's, with the block as its properties. @throws Error until it is defined */
export function drawnBy(tag: string): OwnDrawing {
  return (place, shown) => {
    if (customElements.get(tag) === undefined) throw new Error(`There is no element <${tag}>.`);
    const element = place.firstElementChild ?? place.appendChild(document.createElement(tag));
    Object.assign(element, shown);
  };
}

let last = 0;

interface OwnProps {
  readonly own: OwnDrawings;
  readonly draw: OwnDrawing;
  readonly props: BlockProps<ComponentName>;
  /** The widget's drawing. */
  readonly children: ComponentChildren;
}

export function Own({ own, draw, props: { around, ...shown }, children }: OwnProps) {
  const [name] = useState(() => `own-${++last}`);
  const [failed, setFailed] = useState<OwnDrawing>();
  const place = useRef<HTMLElement | undefined>(undefined);
  const end = useRef<unknown>(undefined);
  useLayoutEffect(() => {
    if (failed === draw) return;
    place.current ??= own.host.appendChild(Object.assign(document.createElement('div'), { slot: name }));
    try {
      end.current = draw(place.current, { ...shown, ask: around.ask, locale: around.locale }) ?? end.current;
    } catch (error) {
      place.current.remove();
      place.current = undefined;
      setFailed(() => draw);
      reportError(error);
    }
  });
  useLayoutEffect(
    () => () => {
      if (typeof end.current === 'function') end.current();
      place.current?.remove();
    },
    [],
  );
  return <slot name={name}>{children}</slot>;
}
