/** A list that begins with the newest, page after page; another query begins anew. */
import { useEffect, useState } from 'preact/hooks';
import { useAct } from '../api/act-hook.ts';
import { ask } from '../api/api.ts';
import { useResource } from '../api/resource.ts';

interface NewestPage {
  readonly next: string | null;
}

/** The list at `path` with its query; `more` reads the page after those that are there. */
export function useNewest<Page extends NewestPage>(path: string) {
  const first = useResource<Page>(path);
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
