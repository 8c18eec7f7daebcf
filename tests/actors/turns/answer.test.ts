/** One turn's answer has at most 256 blocks, whatever they are. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TurnAnswer } from '../../../actors/turns/answer.ts';
import { TurnLog } from '../../../actors/turns/log.ts';
import { ANSWER_BLOCKS_MAX } from '../../../protocol/limits.ts';
import { ScriptedModel, turnsWorld } from './world.ts';

test('LIMIT-36: an answer is full with its 256th block, though its words are few', async (t) => {
  const world = await turnsWorld(t);
  const model = new ScriptedModel(() => ({}));
  const facts = world.facts(model, 'cnv_1', world.command({ message: { text: 'Hello' } }));
  const answer = new TurnAnswer(facts, new TurnLog(0, null));
  for (let n = 1; n < ANSWER_BLOCKS_MAX; n++) {
    if (n % 2 === 0) answer.place('text', { md: 'Word.' });
    else answer.componentStarted({ id: `call_${n}`, name: 'key_points' });
    assert.equal(answer.isFull, false, `${n} blocks`);
  }
  answer.text('One more.');
  assert.deepEqual([answer.isFull, answer.count], [true, ANSWER_BLOCKS_MAX]);
});
