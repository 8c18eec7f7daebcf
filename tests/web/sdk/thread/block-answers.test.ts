/** What a person answered to blocks, from the turns of now. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TurnState } from '../../../../web/client/conversation/turn.ts';
import { areSameAnswers, blockAnswers } from '../../../../web/sdk/thread/block-answers.ts';

const FAILURE = { code: 'model_busy', message: 'Try again.', retryable: true };

/** As much of a turn as decides over its answer. */
function turn(phase: TurnState['phase'], payload: object, more: object = {}): TurnState {
  return { phase, payload, ...more } as unknown as TurnState;
}

const choice = (phase: TurnState['phase'], ids: readonly string[], more?: object) =>
  turn(phase, { selection: { block_id: 'blk_1', ids } }, more);

test('BLOCKVIEW-5: a block shows what was chosen while it is sent, why it failed, and after that what the block itself says', () => {
  const ids = ['a'];
  assert.deepEqual([...blockAnswers([turn('answering', { message: { text: 'Hello' } })])], []);
  for (const phase of ['waiting', 'preparing', 'opening', 'answering'] as const) {
    assert.deepEqual([...blockAnswers([choice(phase, ids)])], [['blk_1', { phase: 'sending', ids }]], phase);
  }
  const failed = choice('failed', ids, { failure: FAILURE });
  assert.deepEqual([...blockAnswers([failed])], [['blk_1', { phase: 'failed', failure: FAILURE }]]);
  assert.deepEqual([...blockAnswers([failed, choice('completed', ids)])], []);
  const form = turn('opening', { form_submission: { form_id: 'blk_2', values: {} } });
  assert.deepEqual([...blockAnswers([failed, form]).keys()], ['blk_1', 'blk_2']);
});

test('WIDGET-8: a delta of another answer leaves what was answered to blocks as it was', () => {
  const ids = ['a'];
  const sending = blockAnswers([choice('opening', ids)]);
  assert.ok(areSameAnswers(sending, blockAnswers([choice('answering', ids), turn('answering', {})])));
  assert.ok(areSameAnswers(new Map(), new Map()));
  for (const other of [
    blockAnswers([]),
    blockAnswers([choice('opening', ['b'])]),
    blockAnswers([choice('failed', ids, { failure: FAILURE })]),
    blockAnswers([turn('opening', { selection: { block_id: 'blk_2', ids } })]),
  ]) {
    assert.ok(!areSameAnswers(sending, other));
    assert.ok(!areSameAnswers(other, sending));
  }
});
