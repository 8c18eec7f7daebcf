/** A list that is read page after page. */
import { useEffect, useState } from 'preact/hooks';
import { useAct } from './act-hook.ts';
import { ask } from './api.ts';
import { useAsked } from './asked-hook.ts';

/** That at `path` with its query; `more` reads the page after those that are there. Another query begins anew. */
export function usePages<Page extends { readonly next: string | null }>(path: string) {
  const first = useAsked<Page>(path);
  const [later, hold] = useState<{ readonly path: string; readonly pages: readonly Page[] }>({ path, pages: [] });
  const act = useAct();
  useEffect(() => {
    hold({ path, pages: [] });
    act.forget();
  }, [path, first.answer]);
  const pages = first.answer === undefined ? [] : [first.answer, ...(later.path === path ? later.pages : [])];
  const next = pages.at(-1)?.next ?? null;
  return {
    pages,
    next,
    error: first.error ?? act.error,
    isReading: act.isUnderWay,
    reload: first.reload,
    more: () =>
      act.run(async () => {
        if (next === null) return;
        const page = await ask<Page>('GET', `${path}&after=${encodeURIComponent(next)}`);
        hold((before) => (before.path === path ? { path, pages: [...before.pages, page] } : before));
      }),
  };
}
