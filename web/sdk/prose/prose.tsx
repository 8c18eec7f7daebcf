/** Draws Markdown, also while it grows (WIDGET-7). The parser is loaded when there is something to read; until then, and without it, the text is what is shown. */
import { useRef } from 'preact/hooks';
import type { BlockSurroundings } from '../blocks/block-view.ts';
import { type LoadPart, useStyled } from '../blocks/parts/lazy-hook.ts';

type Part = typeof import('./lazy/markdown.tsx');

/** The catalog lets a block have 8,000; what is longer is not read, and shown as it came. */
const LENGTH_MAX = 100_000;

export const loadMarkdown: LoadPart<Part> = () => import('./lazy/markdown.tsx');

/** `around`: its links are followed and its code is copied by it. */
export function proseFor(around: Pick<BlockSurroundings, 'ask' | 'words' | 'partFailed' | 'linkSchemes' | 'autolinks'>) {
  return function Prose({ md, isGrowing = false }: { readonly md: string; readonly isGrowing?: boolean }) {
    const place = useRef<HTMLDivElement>(null);
    const loaded = useStyled(loadMarkdown, place, around);
    const isRead = loaded && md.length <= LENGTH_MAX;
    return (
      <div ref={place} class={isRead ? 'prose' : 'prose as-written'} dir={isRead ? undefined : 'auto'}>
        {isRead ? <loaded.Markdown md={md} isGrowing={isGrowing} around={around} /> : md}
      </div>
    );
  };
}
