/** What a page reads of the interface: what was there stays while it is read again, and an error does not take it away. */
import { useEffect, useState } from 'preact/hooks';
import { ask } from './api.ts';
import { progress } from './progress.ts';
import { ApiError } from './request.ts';

export interface Resource<Answer> {
  /** The last answer for this path. */
  readonly answer: Answer | undefined;
  readonly error: ApiError | undefined;
  reload(): void;
}

interface Held<Answer> {
  readonly path: string;
  readonly answer?: Answer;
  readonly error?: ApiError;
}

function asApiError(error: unknown): ApiError {
  return error instanceof ApiError
    ? error
    : new ApiError('unknown', error instanceof Error ? error.message : 'Something went wrong here.', 0);
}

/** Reads `path` of the interface now and whenever it changes. */
export function useResource<Answer>(path: string): Resource<Answer> {
  const [held, hold] = useState<Held<Answer>>({ path });
  const [round, again] = useState(0);
  useEffect(() => {
    const aborted = new AbortController();
    progress.send({ type: 'began' });
    ask<Answer>('GET', path, undefined, aborted.signal)
      .then(
        (answer) => hold({ path, answer }),
        (error: unknown) => {
          if (!aborted.signal.aborted) hold((before) => ({ ...(before.path === path ? before : { path }), error: asApiError(error) }));
        },
      )
      .finally(() => progress.send({ type: 'ended' }));
    return () => aborted.abort();
  }, [path, round]);
  const own = held.path === path ? held : undefined;
  return { answer: own?.answer, error: own?.error, reload: () => again((count) => count + 1) };
}
