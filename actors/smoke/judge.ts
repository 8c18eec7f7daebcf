/** Judges the answers of a smoke run (SMOKE-15). Pure. */
import type { Passage } from '../../assistant/models/model.ts';
import { fallbackText } from '../../protocol/catalog/catalog.ts';
import type { ErrorCode } from '../../protocol/errors.ts';
import { SMOKE_PASS_SHARE } from '../../protocol/limits.ts';
import type { StreamEvent } from '../../protocol/runtime/stream-events.ts';
import { clip } from '../../protocol/schema/text.ts';
import type { SmokeAnswer, SmokeRun } from '../../storage/setup/smoke-runs.ts';
import { usesPassages } from './grounds.ts';
import type { SmokeQuestion } from './questions.ts';

export interface Heard {
  readonly events: readonly StreamEvent[];
  readonly passages: readonly Passage[];
  readonly called: readonly string[];
  readonly isNoAnswer: boolean;
  readonly error: SmokeAnswer['error'];
}

/** Kept of an answer: enough to see what was wrong with it. */
const ANSWER_MAX_CHARS = 2_000;

/** Errors that nothing in the app's configuration brings about. */
const SERVICE_SIDE: ReadonlySet<ErrorCode> = new Set(['internal', 'model_busy']);

/** An answer that opens by saying that it is none, of a model that does not mark it as such. */
const KNOWS_NOTHING =
  /^\W*(?:(?:unfortunately|(?:i['’]?m |i am )?(?:sorry|afraid))\W+(?:but )?)?i (?:(?:do|did|could|can|was) ?(?:not|n['’]t)|can['’]t|couldn['’]t|have no|found no|am not able|am unable)\b/i;

function wordsOf(events: readonly StreamEvent[]): string {
  const texts = events.flatMap((event) => {
    if (event.type !== 'block.ready') return [];
    const { block } = event;
    return [typeof block.body.md === 'string' ? block.body.md : (block.fallback_text ?? fallbackText(block.block_type, block.body))];
  });
  return texts.filter((text) => text !== '').join('\n\n');
}

function errorOf({ events, error }: Heard): SmokeAnswer['error'] {
  const said = events.findLast((event) => event.type === 'error');
  return said === undefined ? error : { code: said.code, message: said.message };
}

export function judgeAnswer(question: SmokeQuestion, heard: Heard): SmokeAnswer {
  const { events, passages, isNoAnswer } = heard;
  const answer = wordsOf(events);
  const error = errorOf(heard);
  const actions = [...new Set(heard.called)];
  const grounded = !isNoAnswer && !KNOWS_NOTHING.test(answer) && usesPassages(question.text, answer, passages);
  const actionBacked = actions.length > 0;
  return {
    question: question.text,
    from: question.from,
    answer: clip(answer, ANSWER_MAX_CHARS),
    grounded,
    actionBacked,
    ok: error === null && (grounded || actionBacked),
    actions,
    error,
  };
}

export function judgeRun(answers: readonly SmokeAnswer[]): Pick<SmokeRun, 'passed' | 'platformFailure'> {
  const ok = answers.filter((answer) => answer.ok).length;
  return {
    passed: ok / answers.length >= SMOKE_PASS_SHARE,
    platformFailure: answers.every(({ error }) => error !== null && SERVICE_SIDE.has(error.code)),
  };
}
