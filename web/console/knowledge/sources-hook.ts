/** All sources of an app, page by page, and again while one of them is on its way. */
import { useEffect, useState } from 'preact/hooks';
import { ask } from '../api/api.ts';
import { progress } from '../api/progress.ts';
import { ApiError } from '../api/request.ts';
import { appPath } from '../app/app.ts';

export type SourceStatus = 'pending' | 'indexing' | 'indexed' | 'failed' | 'archived';

export interface Source {
  readonly id: string;
  readonly external_key: string;
  readonly kind: 'text' | 'url';
  readonly title: string;
  readonly uri: string | null;
  readonly status: SourceStatus;
  readonly error: string | null;
  readonly chunks: number;
  readonly origin: string;
  readonly reason: string | null;
  readonly updated_at: string;
}

interface SourcePage {
  readonly sources: readonly Source[];
  readonly next: string | null;
}

export interface Sources {
  readonly sources: readonly Source[] | undefined;
  readonly error: ApiError | undefined;
  reload(): void;
}

/** The most that one answer has. */
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

export function useSources(app: string): Sources {
  const [held, hold] = useState<{ readonly app: string; readonly sources?: readonly Source[]; readonly error?: ApiError }>({ app });
  const [round, again] = useState(0);
  useEffect(() => {
    const aborted = new AbortController();
    progress.send({ type: 'began' });
    // The first ones are there at once; what was shown before stays until all are read anew.
    const isKept = held.app === app && held.sources !== undefined;
    readAll(app, aborted.signal, (sources) => {
      if (!isKept) hold({ app, sources });
    })
      .then(
        (sources) => hold({ app, sources }),
        (error: unknown) => {
          if (aborted.signal.aborted) return;
          const known = error instanceof ApiError ? error : new ApiError('unknown', 'Something went wrong here.', 0);
          hold((before) => ({ ...(before.app === app ? before : { app }), error: known }));
        },
      )
      .finally(() => progress.send({ type: 'ended' }));
    return () => aborted.abort();
  }, [app, round]);
  const { sources, error } = held.app === app ? held : { sources: undefined, error: undefined };
  const waits = sources?.some(isOnItsWay) ?? false;
  useEffect(() => {
    if (!waits) return undefined;
    const timer = setTimeout(() => again(round + 1), LOOK_AGAIN_MS);
    return () => clearTimeout(timer);
  });
  return { sources, error, reload: () => again(round + 1) };
}
