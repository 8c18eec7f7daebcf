/** The actor of one conversation over real rows: what it does with a turn that begins, that exists, and that a crash left open. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Conversation } from '../../../actors/turns/conversation.ts';
import type { Beginning } from '../../../actors/turns/epoch.ts';
import { turnServices } from '../../../actors/turns/facts.ts';
import type { Model } from '../../../assistant/models/model.ts';
import { readTurn } from '../../../storage/conversations/turns.ts';
import { openWriter } from '../../../storage/sqlite/database.ts';
import { eventually } from '../../support/eventually.ts';

import { readOn } from './fixture.ts';
import { gate, readToEnd, ScriptedModel, turnsWorld, type World } from './world.ts';

function conversationOf(world: World, model: Model, id: string, beginning: Beginning = { state: 'new' }) {
  let idle = 0;
  const { appId, organisationId } = world;
  const services = turnServices(world.services('here', model));
  const conversation = new Conversation(services, id, { appId, channel: 'sandbox', organisationId }, beginning, () => idle++);
  return { conversation, idle: () => idle };
}

async function begin(conversation: Conversation, command: ReturnType<World['command']>) {
  const begun = await conversation.enqueue(command);
  assert.ok(begun !== 'exists');
  return begun;
}

const typesOf = (frames: readonly { readonly type: string }[]) => frames.map(({ type }) => type).filter((type) => type !== 'block.delta');

test('CHAT-9: a turn begins, is told to its end, and is told again from its rows; then nothing of the conversation is active', async (t) => {
  const world = await turnsWorld(t);
  const { conversation, idle } = conversationOf(world, new ScriptedModel(() => ({ text: 'Hello.' })), 'cnv_1');
  const command = world.command({ message: { text: 'Hello' } });
  const frames = await readToEnd(await begin(conversation, command));
  assert.deepEqual(typesOf(frames), ['turn.start', 'block.start', 'block.ready', 'turn.end']);
  const row = readTurn(world.db, world.appId, command.turnId);
  assert.ok(row !== undefined);
  const again = await conversation.attach(row);
  assert.deepEqual(await readToEnd(again), frames);
  assert.ok(idle() > 0);
});

test('STORE-1: while a commit waits for the disk, nothing of what it holds is told', async (t) => {
  const world = await turnsWorld(t);
  const answers = gate();
  const { conversation } = conversationOf(world, new ScriptedModel(() => ({ text: 'Hello.', after: answers.opened })), 'cnv_1');
  const position = await begin(conversation, world.command({ message: { text: 'Hello' } }));
  const lock = openWriter(world.db.path);
  t.after(() => lock.close());
  lock.exec('BEGIN IMMEDIATE');
  answers.open();
  await eventually(() => world.storage.stats().outstanding > 0);
  assert.deepEqual(typesOf(readOn(position.source, 0, Number.MAX_SAFE_INTEGER).frames), ['turn.start', 'block.start']);
  lock.exec('COMMIT');
  assert.deepEqual(typesOf(await readToEnd(position)), ['turn.start', 'block.start', 'block.ready', 'turn.end']);
});

test('CHAT-9: the same turn_id again is no second turn', async (t) => {
  const world = await turnsWorld(t);
  const model = new ScriptedModel(() => ({ text: 'Hello.' }));
  const { conversation } = conversationOf(world, model, 'cnv_1');
  const command = world.command({ message: { text: 'Hello' } });
  await readToEnd(await begin(conversation, command));
  assert.equal(await conversation.enqueue(command), 'exists');
  assert.equal(model.requests.length, 1);
});

test('CHAT-12: a turn that failed is tried again as a new attempt, whose seqs go on', async (t) => {
  const world = await turnsWorld(t);
  const model = new ScriptedModel((asked) => (asked === 1 ? { failure: { kind: 'broken', detail: 'gone' } } : { text: 'Hello.' }));
  const { conversation } = conversationOf(world, model, 'cnv_1');
  const command = world.command({ message: { text: 'Hello' } });
  const failed = await readToEnd(await begin(conversation, command));
  assert.deepEqual(typesOf(failed), ['turn.start', 'error', 'turn.end']);
  const row = readTurn(world.db, world.appId, command.turnId);
  assert.ok(row !== undefined);
  const retried = await conversation.retry(command, row);
  assert.ok(retried !== 'exists');
  assert.equal(retried.fromSeq, (failed.at(-1)?.seq ?? 0) + 1);
  const frames = await readToEnd(retried);
  assert.deepEqual([frames[0]?.seq, frames.at(-1)?.data.status], [retried.fromSeq, 'completed']);
});

test('CHAT-13: a turn that a crash left open is ended, so that it can be retried, before the next one begins', async (t) => {
  const world = await turnsWorld(t);
  const never = gate();
  const lost = conversationOf(world, new ScriptedModel(() => ({ after: never.opened })), 'cnv_1').conversation;
  const command = world.command({ message: { text: 'Hello' } });
  await begin(lost, command);
  // Another actor takes the conversation: nobody runs the first turn any more as far as rows tell.
  const { conversation } = conversationOf(world, new ScriptedModel(() => ({ text: 'Hello.' })), 'cnv_1', { state: 'unknown' });
  await readToEnd(await begin(conversation, world.command({ conversation_id: 'cnv_1', message: { text: 'And?' } })));
  assert.equal(readTurn(world.db, world.appId, command.turnId)?.state, 'failed');
  lost.leaveIfTaken();
  assert.equal((await lost.running?.done) ?? false, false, 'the run that was overtaken ends without its end being stored');
  never.open();
});
