/** One turn's answer has at most 256 blocks, whatever they are. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TurnAnswer } from '../../../actors/turns/answer.ts';
import { TurnLog } from '../../../actors/turns/log.ts';
import { createToolsets } from '../../../assistant/toolset.ts';
import { ANSWER_BLOCKS_MAX } from '../../../protocol/limits.ts';

test('LIMIT-36: an answer is full with its 256th block, though its words are few', () => {
  const toolset = createToolsets()({
    components: ['text', 'key_points'],
    actionKinds: [],
    manifest: undefined,
    http: { key: '', actions: [] },
    hasKnowledge: false,
  });
  let minted = 0;
  const answer = new TurnAnswer(
    { toolset, actionKinds: new Set(), mint: (prefix) => `${prefix}_${minted++}`, onNothing: () => {} },
    new TurnLog(0, null),
  );
  for (let n = 1; n < ANSWER_BLOCKS_MAX; n++) {
    if (n % 2 === 0) answer.place('text', { md: 'Word.' });
    else answer.componentStarted({ id: `call_${n}`, name: 'key_points' });
    assert.equal(answer.isFull, false, `${n} blocks`);
  }
  answer.text('One more.');
  assert.deepEqual([answer.isFull, answer.count], [true, ANSWER_BLOCKS_MAX]);
});
