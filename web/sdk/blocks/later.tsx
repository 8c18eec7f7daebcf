/** Drawings that are not there from the beginning: a skeleton stands in their place until they are, and the block's words where they cannot be had. */
import type { ComponentType } from 'preact';
import { useRef } from 'preact/hooks';
import type { BlockProps, BlockView, LaterComponent } from './block-view.ts';
import { useStyled } from './parts/lazy-hook.ts';
import { Skeleton } from './parts/skeleton.tsx';

export const loadLaterViews = () => import('./lazy/later-views.ts');

export function later<K extends LaterComponent>(type: K): BlockView<K> {
  return function Later(props: BlockProps<K>) {
    const place = useRef<HTMLDivElement>(null);
    const { block, around } = props;
    const loaded = useStyled(loadLaterViews, place, around);
    const View = loaded?.LATER_VIEWS[type] as ComponentType<BlockProps<K>> | undefined;
    const meanwhile =
      loaded === null ? <p class="fallback">{block.fallback_text}</p> : <Skeleton type={type} label={around.words.loading} />;
    return (
      <div class="later" ref={place}>
        {View === undefined ? meanwhile : <View {...props} />}
      </div>
    );
  };
}
