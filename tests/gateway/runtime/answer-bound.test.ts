/** One turn's answer is bounded: a model that does not end is stopped, and what it said stays. */
import assert from 'node:assert/strict';
import { before, type TestContext, test } from 'node:test';
import { ANSWER_TEXT_MAX_CHARS } from '../../../protocol/limits.ts';
import { spoken } from '../../support/client.ts';
import { readies, type ScriptedChat, startScriptedChat, thread } from './scripted-chat.ts';

let it: ScriptedChat;
before(async (t) => {
  it = await startScriptedChat(t as TestContext);
});

test('LIMIT-36: an answer of more than a million characters is cut there: completed, truncated, stored in whole blocks, and the next turn is answered', async () => {
  const paragraph = `${'word '.repeat(4_000)}\n\n`;
  it.script(
    Array.from({ length: 60 }, () => ({ text: paragraph })),
    [{ text: 'Again.' }],
  );
  const answer = await it.say('Tell me everything');
  const end = answer.events.at(-1);
  assert.deepEqual([end?.status, end?.truncated, end?.stopped], ['completed', true, undefined]);
  const chars = spoken(answer.events).length;
  assert.ok(chars <= ANSWER_TEXT_MAX_CHARS && chars > ANSWER_TEXT_MAX_CHARS * 0.99, String(chars));
  const blocks = readies(answer.events);
  assert.ok(blocks.length <= 256);
  assert.equal((await it.stored(thread(answer))).at(-1)?.blocks.length, blocks.length);
  const next = await it.say('And?', { conversation_id: thread(answer) });
  assert.equal(spoken(next.events), 'Again.');
  assert.equal(next.events.at(-1)?.truncated, undefined);
});

test('HISTORY-9: a round that says much before its calls is told of in the next one, as far as a conversation is', async () => {
  it.script(
    [
      { text: 'First. ' },
      { text: `${'page '.repeat(1_500)}\n\n`.repeat(8) },
      { call: 'key_points', args: { points: 'none' }, id: 'call_1' },
    ],
    [{ text: 'Done.' }],
  );
  const answer = await it.say('Tell me much, and show it');
  assert.equal(answer.events.at(-1)?.status, 'completed');
  const second = it.asked()[1]?.messages ?? [];
  const said = second.findLast(({ role }) => role === 'assistant')?.content ?? '';
  assert.match(said, /^First\. page page/);
  assert.ok(said.length > 30_000 && said.length <= 48_000, `${said.length} characters`);
});
