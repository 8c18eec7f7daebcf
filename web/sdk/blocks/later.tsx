/** Drawings that are not there from the beginning: a skeleton stands in their place until they are. */
import type { ComponentType } from 'preact';
import { useRef } from 'preact/hooks';
import type { BlockProps, BlockView, LaterComponent } from './block-view.ts';
import { useStyled } from './parts/lazy-hook.ts';
import { Skeleton } from './parts/skeleton.tsx';

export const loadLaterViews = () => import('./lazy/later-views.ts');

export function later<K extends LaterComponent>(type: K): BlockView<K> {
  return function Later(props: BlockProps<K>) {
    const place = useRef<HTMLDivElement>(null);
    const View = useStyled(loadLaterViews, place)?.LATER_VIEWS[type] as ComponentType<BlockProps<K>> | undefined;
    return (
      <div class="later" ref={place}>
        {View === undefined ? <Skeleton type={type} label={props.around.words.loading} /> : <View {...props} />}
      </div>
    );
  };
}
