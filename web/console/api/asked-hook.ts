/** What a page asks of the interface: what was there stays while it is asked again, and an error does not take it away. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ask } from './api.ts';
import { progress } from './progress.ts';
import { type ApiError, asApiError } from './request.ts';

export interface Asked<Answer> {
  readonly answer: Answer | undefined;
  readonly error: ApiError | undefined;
  reload(): void;
}

interface Asking<Answer> {
  /** Asked again so long after an answer, while the page is in sight; undefined: only by `reload`. */
  readonly againMs?: (answer: Answer | undefined) => number | undefined;
  /** Where one request is not enough. `show`: what there is so far, where nothing was shown before. */
  readonly read?: (signal: AbortSignal, show: (part: Answer) => void) => Promise<Answer>;
}

/** For what changes by itself and is told by no stream. */
export const POLLED = { againMs: () => 2_000 } as const;

interface Held<Answer> {
  readonly path: string;
  readonly answer?: Answer;
  readonly error?: ApiError;
  readonly isSettled?: boolean;
}

export function useAsked<Answer>(path: string, { againMs, read }: Asking<Answer> = {}): Asked<Answer> {
  const [held, hold] = useState<Held<Answer>>({ path });
  const [round, again] = useState(0);
  const isQuiet = useRef(false);
  const own = held.path === path ? held : undefined;
  useEffect(() => {
    const aborted = new AbortController();
    const { signal } = aborted;
    const hadAnswer = own?.answer !== undefined;
    // The bar is for what a person waits for.
    const type = isQuiet.current ? undefined : 'began';
    isQuiet.current = false;
    if (type !== undefined) progress.send({ type });
    const show = (answer: Answer) => {
      if (!hadAnswer && !signal.aborted) hold({ path, answer });
    };
    (read?.(signal, show) ?? ask<Answer>('GET', path, undefined, signal))
      .then(
        (answer) => hold({ path, answer, isSettled: true }),
        (error: unknown) => {
          if (signal.aborted) return;
          hold((before) => ({ ...(before.path === path ? before : { path }), error: asApiError(error), isSettled: true }));
        },
      )
      .finally(() => type !== undefined && progress.send({ type: 'ended' }));
    return () => aborted.abort();
  }, [path, round]);
  const pauseMs = own?.isSettled === true ? againMs?.(own.answer) : undefined;
  useEffect(() => {
    if (pauseMs === undefined) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState !== 'visible') return;
      clearInterval(timer);
      isQuiet.current = true;
      again((count) => count + 1);
    }, pauseMs);
    return () => clearInterval(timer);
  }, [held, pauseMs]);
  return { answer: own?.answer, error: own?.error, reload: () => again((count) => count + 1) };
}
