/** The thread in which large answers of endpoints are cut to what the model sees. */
import { serveCalls } from '../../watch/side-thread.ts';
import { type Answer, hiderOf, type Shown, shownResult } from './result.ts';

export interface LargeAnswer {
  readonly definition: Shown;
  readonly answer: Answer;
  readonly secrets: readonly (string | undefined)[];
}

export type ResultCalls = { shown(input: LargeAnswer): string };

serveCalls({
  shown: ({ definition, answer, secrets }: LargeAnswer) => shownResult(definition, answer, hiderOf(secrets)),
});
