/** All sources of an app, page by page, and again while one of them is on its way. */
import type { Source } from '../../../protocol/console/setup-answers.ts';
import { ask } from '../api/api.ts';
import { type Asked, useAsked } from '../api/asked-hook.ts';
import { appPath } from '../app/app.ts';

interface SourcePage {
  readonly sources: readonly Source[];
  readonly next: string | null;
}

const PAGE = 200;
/** An app has 10,000 at most; all of them are in the browser, so that finding one takes no request. */
const PAGES_MAX = 50;
const LOOK_AGAIN_MS = 2_000;

/** Reads page by page, and tells after each what there is by then. */
async function readAll(app: string, signal: AbortSignal, onPage: (sources: readonly Source[]) => void): Promise<readonly Source[]> {
  const sources: Source[] = [];
  let after = '';
  for (let page = 0; page < PAGES_MAX; page++) {
    const path = `${appPath(app)}/knowledge?limit=${PAGE}${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`;
    const answer = await ask<SourcePage>('GET', path, undefined, signal);
    sources.push(...answer.sources);
    if (answer.next === null) break;
    onPage([...sources]);
    after = answer.next;
  }
  return sources;
}

function isOnItsWay({ status }: Source): boolean {
  return status === 'pending' || status === 'indexing';
}

/** Those that were shown before stay until all are read anew. */
export function useSources(app: string): Asked<readonly Source[]> {
  return useAsked<readonly Source[]>(`${appPath(app)}/knowledge`, {
    read: (signal, show) => readAll(app, signal, show),
    againMs: (sources) => (sources?.some(isOnItsWay) === true ? LOOK_AGAIN_MS : undefined),
  });
}
