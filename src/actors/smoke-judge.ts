/**
 * Judges what a smoke run heard (service.md "POST /smoke rules"): one answer from the events of its turn, and the run
 * from its answers. Pure.
 */
import { contentStems, stemsFoundIn } from '../assistant/knowledge/terms.ts';
import type { Passage } from '../assistant/models/model.ts';
import { fallbackText } from '../protocol/catalog/catalog.ts';
import type { ErrorCode } from '../protocol/errors.ts';
import { SMOKE_PASS_SHARE } from '../protocol/limits.ts';
import type { StreamEvent } from '../protocol/runtime/stream-events.ts';
import { clip } from '../protocol/text.ts';
import type { SmokeAnswer, SmokeRun } from '../storage/smoke-runs.ts';
import type { SmokeQuestion } from './smoke-questions.ts';

/** What came of one question. */
export interface Heard {
  /** Of its turn, in order; none when it could not be opened. */
  readonly events: readonly StreamEvent[];
  /** What of the app's knowledge the model was given for it. */
  readonly passages: readonly Passage[];
  /** Names of the actions that the model called. */
  readonly called: readonly string[];
  /** What kept it from being answered beside what its events say. */
  readonly error: SmokeAnswer['error'];
}

/** Kept of an answer: enough to see what was wrong with it. */
const ANSWER_MAX_CHARS = 2_000;

/** Errors that nothing in the app's configuration brings about. */
const SERVICE_SIDE: ReadonlySet<ErrorCode> = new Set(['internal', 'model_busy']);

/** An answer that opens by saying that it is none. English, as the questions are; in other languages its words decide. */
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

/**
 * Whether the answer used the passages: it says something of theirs that the question did not say already. That some
 * were found proves nothing, a search finds one for nearly any question.
 */
function usesPassages(question: string, answer: string, passages: readonly Passage[]): boolean {
  if (passages.length === 0 || KNOWS_NOTHING.test(answer)) return false;
  const asked = new Set(contentStems(question));
  const own = contentStems(answer).filter((stem) => !asked.has(stem));
  return passages.some(({ title, headings, text }) => stemsFoundIn([title, ...headings, text].join('\n'), own).length > 0);
}

function errorOf({ events, error }: Heard): SmokeAnswer['error'] {
  const said = events.findLast((event) => event.type === 'error');
  return said === undefined ? error : { code: said.code, message: said.message };
}

/** The judgement of one answer. */
export function judgeAnswer(question: SmokeQuestion, heard: Heard): SmokeAnswer {
  const { events, passages } = heard;
  const answer = wordsOf(events);
  const error = errorOf(heard);
  const actions = [...new Set(heard.called)];
  const grounded = usesPassages(question.text, answer, passages);
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

/** The judgement of a run of at least one answer. */
export function judgeRun(answers: readonly SmokeAnswer[]): Pick<SmokeRun, 'passed' | 'platformFailure'> {
  const ok = answers.filter((answer) => answer.ok).length;
  return {
    passed: ok / answers.length >= SMOKE_PASS_SHARE,
    platformFailure: answers.every(({ error }) => error !== null && SERVICE_SIDE.has(error.code)),
  };
}
