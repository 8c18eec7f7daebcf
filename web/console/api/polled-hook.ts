/** What changes by itself and is told by no stream: read again every few seconds while the page is looked at. */
import { useEffect, useState } from 'preact/hooks';
import { ask } from './api.ts';
import { ApiError } from './request.ts';

const AGAIN_MS = 2_000;

export interface Polled<Answer> {
  /** The last answer; it stays while a later one fails. */
  readonly answer: Answer | undefined;
  readonly error: ApiError | undefined;
  reload(): void;
}

/** Reads `path` of the interface now, and `AGAIN_MS` after each answer. */
export function usePolled<Answer>(path: string): Polled<Answer> {
  const [held, hold] = useState<{ readonly path: string; readonly answer?: Answer; readonly error?: ApiError }>({ path });
  const [round, again] = useState(0);
  useEffect(() => {
    const aborted = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async () => {
      if (document.visibilityState === 'visible') {
        try {
          hold({ path, answer: await ask<Answer>('GET', path, undefined, aborted.signal) });
        } catch (error) {
          if (aborted.signal.aborted) return;
          const fault = error instanceof ApiError ? error : new ApiError('unknown', 'Something went wrong here.', 0);
          hold((before) => ({ ...(before.path === path ? before : { path }), error: fault }));
        }
      }
      if (!aborted.signal.aborted) timer = setTimeout(() => void read(), AGAIN_MS);
    };
    void read();
    return () => {
      clearTimeout(timer);
      aborted.abort();
    };
  }, [path, round]);
  const own = held.path === path ? held : undefined;
  return { answer: own?.answer, error: own?.error, reload: () => again(round + 1) };
}
