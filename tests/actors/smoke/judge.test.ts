/** When an answer is grounded, backed by an action, or an error, and when a run passes. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { judgeAnswer, judgeRun } from '../../../actors/smoke/judge.ts';
import type { SmokeQuestion } from '../../../actors/smoke/questions.ts';
import type { Passage } from '../../../assistant/models/model.ts';
import type { Block } from '../../../protocol/catalog/block.ts';
import type { ErrorCode } from '../../../protocol/errors.ts';
import type { StreamEvent } from '../../../protocol/runtime/stream-events.ts';
import type { SmokeAnswer } from '../../../storage/setup/smoke-runs.ts';

const QUESTION: SmokeQuestion = { text: 'What should I know about shipping?', from: 'knowledge' };
const PASSAGE: Passage = {
  sourceId: 'kno_1',
  externalKey: 'shipping',
  title: 'Shipping',
  headings: ['Abroad'],
  text: 'Parcels take two days. Norway costs 12 EUR.',
  score: 1,
};
const END: StreamEvent = { type: 'turn.end', status: 'completed', billable: false };

function block(index: number, blockType: string, body: Record<string, unknown>, fallback?: string): StreamEvent {
  const made: Block = { index, id: `blk_${index}`, block_type: blockType, revision: 1, body };
  return { type: 'block.ready', index, block: fallback === undefined ? made : { ...made, fallback_text: fallback } };
}

const says = (md: string): StreamEvent[] => [block(0, 'text', { md }), END];
const judged = (events: readonly StreamEvent[], passages: readonly Passage[] = [PASSAGE], called: readonly string[] = []) =>
  judgeAnswer(QUESTION, { events, passages, called, isNoAnswer: false, error: null });

describe('How an answer is judged', () => {
  test('SMOKE-11: an answer with words of the passages it was given is grounded', () => {
    const answer = judged(says('A parcel arrives after two days.'));
    assert.deepEqual(
      [answer.grounded, answer.actionBacked, answer.ok, answer.answer],
      [true, false, true, 'A parcel arrives after two days.'],
    );
    assert.deepEqual([answer.question, answer.from, answer.error], [QUESTION.text, 'knowledge', null]);
  });

  test('SMOKE-11: the same answer without passages is not: the model made it up', () => {
    assert.deepEqual([judged(says('A parcel arrives after two days.'), []).ok], [false]);
  });

  test('SMOKE-11: an answer that says nothing of the passages, or only what was asked, is not grounded', () => {
    for (const md of ['Fine.', 'You asked about shipping.', '']) assert.equal(judged(says(md)).grounded, false, md);
  });

  test('SMOKE-13: an answer that says that nothing is known is not grounded, whatever else it mentions', () => {
    const refusals = [
      "I don't know anything about that. Parcels are what this app's documents tell of.",
      'I do not have information about parcels to Norway.',
      "Sorry, I couldn't find how many days parcels take.",
      "I'm sorry, but I can’t find anything about parcels.",
      'Unfortunately, I have no details about parcels.',
    ];
    for (const md of refusals) assert.equal(judged(says(md)).grounded, false, md);
    assert.equal(judged(says('You do not have to pay for parcels below two days.')).grounded, true);
  });

  test('SMOKE-11: one word in common proves nothing; two, or a number, a name or an address do', () => {
    const passage = {
      ...PASSAGE,
      text: 'Parcels take two days. The courier waits for Bering at noon, or write to post@shop.example. Abroad it costs 1,250 EUR.',
    };
    const grounded = (md: string) => judged(says(md), [passage]).grounded;
    for (const md of ['The football team won two games.', 'Days are long.', 'Two!', 'The Courier is a newspaper.'])
      assert.equal(grounded(md), false, md);
    for (const md of ['It takes two days.', 'It is 1250 EUR.', 'It is 1.250.', 'Ask Bering.', 'Write to post@shop.example.'])
      assert.equal(grounded(md), true, md);
  });

  test('SMOKE-12: a number that no passage and no question has makes an answer ungrounded', () => {
    assert.equal(judged(says('Parcels take 3 days, and Norway costs 12 EUR.')).grounded, false);
    assert.equal(judged(says('1. Parcels take two days.\n2. Norway costs 12.00 EUR.')).grounded, true, 'items of a list are numbered');
    const asked = { text: 'What does order 77 cost to Norway?', from: 'suggestion' } as const;
    const heard = { events: says('Order 77: Norway costs 12 EUR.'), passages: [PASSAGE], called: [], isNoAnswer: false, error: null };
    assert.equal(judgeAnswer(asked, heard).grounded, true);
  });

  test('SMOKE-11: what the question says already counts for nothing, and in German a capital makes no name', () => {
    assert.equal(judged(says('Shipping abroad? Shipping, shipping!')).grounded, false);
    const german = { ...PASSAGE, text: 'Ein Paket braucht zwei Tage bis zu Ihrer Wohnung. Der Bote nimmt auch die Rücksendung mit.' };
    assert.equal(judged(says('Die Wohnung ist schön.'), [german]).grounded, false);
    assert.equal(judged(says('Das Paket kommt nach zwei Tagen in die Wohnung.'), [german]).grounded, true);
  });

  test('SMOKE-13: an answer that the model marked as saying nothing is not grounded, in any language', () => {
    const heard = { events: says('Dazu weiß ich leider nichts: Parcels take two days.'), passages: [PASSAGE], called: [], error: null };
    assert.equal(judgeAnswer(QUESTION, { ...heard, isNoAnswer: true }).grounded, false);
    assert.equal(judgeAnswer(QUESTION, { ...heard, isNoAnswer: false }).grounded, true);
  });

  test('SMOKE-17: blocks count with their words, a component with what it says as text', () => {
    const events = [block(0, 'text', { md: 'See below.' }), block(1, 'key_points', { points: [{ text: 'x' }] }, 'Norway: 12 EUR'), END];
    const answer = judged(events);
    assert.deepEqual([answer.answer, answer.grounded], ['See below.\n\nNorway: 12 EUR', true]);
  });

  test('SMOKE-14: an answer for which the model called an action is backed by it, whoever runs it; each is named once', () => {
    const waiting: StreamEvent = { type: 'turn.end', status: 'awaiting_confirmation', pending: [] };
    const answer = judged([waiting], [], ['find_order', 'find_order', 'cancel_order']);
    assert.deepEqual([answer.actionBacked, answer.grounded, answer.ok], [true, false, true]);
    assert.deepEqual(answer.actions, ['find_order', 'cancel_order']);
  });

  test('SMOKE-15: an answer that ended in an error is never ok', () => {
    const failed: StreamEvent = { type: 'error', code: 'internal', message: 'It broke off.', retryable: true };
    const answer = judged([block(0, 'text', { md: 'Parcels take two' }), failed, END]);
    assert.deepEqual([answer.grounded, answer.ok, answer.error], [true, false, { code: 'internal', message: 'It broke off.' }]);
  });

  test('SMOKE-17: long answers are kept in part', () => {
    assert.equal(judged(says('parcel '.repeat(1_000))).answer.length, 2_000);
  });
});

describe('How a run is judged', () => {
  const answer = (ok: boolean, code?: ErrorCode): SmokeAnswer => ({
    ...judged(says('x')),
    ok,
    error: code === undefined ? null : { code, message: 'Why.' },
  });
  const run = (ok: number, total: number) => judgeRun(Array.from({ length: total }, (_, n) => answer(n < ok)));

  test('SMOKE-15: at least 80 % of the answers make a run pass', () => {
    const passing = [
      [5, 5],
      [4, 5],
      [4, 4],
      [3, 3],
    ] as const;
    const failing = [
      [3, 5],
      [3, 4],
      [2, 3],
      [0, 3],
    ] as const;
    for (const [ok, total] of passing) assert.equal(run(ok, total).passed, true, `${ok} of ${total}`);
    for (const [ok, total] of failing) assert.equal(run(ok, total).passed, false, `${ok} of ${total}`);
  });

  test('SMOKE-16: platformFailure when every answer was an error on the service’s side, and only then', () => {
    const busy = answer(false, 'model_busy');
    const broken = answer(false, 'internal');
    assert.deepEqual(judgeRun([busy, broken, busy]), { passed: false, platformFailure: true });
    assert.equal(judgeRun([busy, broken, answer(false)]).platformFailure, false);
    assert.equal(judgeRun([busy, broken, answer(false, 'quota_exceeded')]).platformFailure, false);
  });
});
