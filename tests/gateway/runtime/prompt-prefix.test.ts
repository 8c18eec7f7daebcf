/** Over HTTP, that a turn asks the model with what the turn before asked it with, and more behind it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CATALOG } from '../../../protocol/catalog/catalog.ts';
import { HANDSHAKE } from '../../support/client.ts';
import { startScriptedChat, thread } from './scripted-chat.ts';

test('MODEL-29: a later turn repeats the definitions, the instructions and the messages of an earlier one, byte for byte', async (t) => {
  const it = await startScriptedChat(t);
  it.script([{ text: 'Two days.' }], [{ text: 'For nothing.' }]);
  const client = { ...HANDSHAKE, components: [...CATALOG.keys()] };
  const first = await it.say('How long does shipping take?', { client });
  await it.say('What does it cost?', { client, conversation_id: thread(first) });
  const [earlier, later] = it.asked();
  assert.ok(earlier !== undefined && later !== undefined);
  assert.equal(JSON.stringify(later.tools), JSON.stringify(earlier.tools));
  assert.equal(later.messages.length, earlier.messages.length + 2);
  assert.equal(JSON.stringify(later.messages.slice(0, earlier.messages.length)), JSON.stringify(earlier.messages));
});
