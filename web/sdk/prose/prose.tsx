/** Draws Markdown, also while it grows. Preact keeps the box; what is in it is the parser's. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { GrowingMarkdown, type LinkWishes } from './markdown.ts';

export function proseFor(wishes: LinkWishes) {
  return function Prose({ md, isGrowing = false }: { readonly md: string; readonly isGrowing?: boolean }) {
    const box = useRef<HTMLDivElement>(null);
    const growing = useRef<GrowingMarkdown | null>(null);
    useLayoutEffect(() => {
      if (box.current === null) return;
      growing.current ??= new GrowingMarkdown(box.current, wishes);
      growing.current.show(md, isGrowing);
    }, [md, isGrowing]);
    return <div class="prose" ref={box} />;
  };
}
