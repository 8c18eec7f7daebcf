/** Drawings that are not there from the beginning: a skeleton stands in their place until they are. */
import type { ComponentType } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { sheetOf } from '../look/sheets.ts';
import type { BlockProps, BlockView, LaterComponent } from './block-view.ts';
import { useLazy } from './parts/lazy-hook.ts';
import { Skeleton } from './parts/skeleton.tsx';

export const loadLaterViews = () => import('./lazy/later-views.ts');

let sheet: CSSStyleSheet | undefined;

function adopt(element: Element, css: string): void {
  const root = element.getRootNode();
  if (!(root instanceof Document || root instanceof ShadowRoot)) return;
  sheet ??= sheetOf(css);
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
}

export function later<K extends LaterComponent>(type: K): BlockView<K> {
  return function Later(props: BlockProps<K>) {
    const loaded = useLazy(loadLaterViews);
    const place = useRef<HTMLDivElement>(null);
    useLayoutEffect(() => {
      if (place.current !== null && loaded !== undefined) adopt(place.current, loaded.LATER_CSS);
    }, [loaded]);
    const View = loaded?.LATER_VIEWS[type] as ComponentType<BlockProps<K>> | undefined;
    return (
      <div class="later" ref={place}>
        {View === undefined ? <Skeleton type={type} label={props.around.words.loading} /> : <View {...props} />}
      </div>
    );
  };
}
