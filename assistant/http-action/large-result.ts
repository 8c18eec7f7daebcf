/** Cuts an endpoint's answer to what the model sees, a large one in a thread: to parse and cut nested lists takes a fifth of a second. */
import { SideThread } from '../../watch/side-thread.ts';
import { type Answer, hiderOf, type Shown, shownResult } from './result.ts';
import type { LargeAnswer, ResultCalls } from './result-thread.ts';

/** Some 10 ms of work for the worst shape; handing it to the thread takes a tenth of that. */
const LARGE_CHARS = 32 * 1024;

export type ResultCutter = ReturnType<typeof createResultCutter>;

/** The call itself went well, and a model that is told so does not make it again. */
const UNREAD = JSON.stringify({ note: 'The call was made and answered. The answer is large and could not be read.' });

export function createResultCutter() {
  const thread = new SideThread<ResultCalls>(new URL('./result-thread.js', import.meta.url), 'results');
  return {
    shown(
      { result_path, result_fields, result_limit }: Shown,
      { status, body }: Answer,
      secrets: LargeAnswer['secrets'],
    ): string | Promise<string> {
      const definition = { result_path, result_fields, result_limit };
      if (body.length <= LARGE_CHARS) return shownResult(definition, { status, body }, hiderOf(secrets));
      return thread.call('shown', { definition, answer: { status, body }, secrets }).catch(() => UNREAD);
    },
    close: () => thread.close(),
  };
}
