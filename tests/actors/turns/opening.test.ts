/** What opening a turn would write, worked out over real rows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { draftOpening } from '../../../actors/turns/opening.ts';
import { Refusal } from '../../../protocol/errors.ts';
import { readTurn } from '../../../storage/conversations/turns.ts';
import { readToEnd, ScriptedModel, turnsWorld } from './world.ts';

const NEW = { expectedEpoch: null, epoch: 1, owner: 'here' } as const;
const SILENT = new ScriptedModel(() => ({}));

test('CHAT-6: a message opens a turn that asks the model; nothing is written by preparing it', async (t) => {
  const world = await turnsWorld(t);
  const command = world.command({ message: { text: 'Hello' } });
  const { rows, effects, events } = await draftOpening(world.place(SILENT, 'cnv_1', true), command, NEW);
  assert.deepEqual([rows.kind, rows.state, rows.ended, rows.nextSeq], ['message', 'answering', false, 1]);
  assert.deepEqual(
    effects.map(({ type }) => type),
    ['sendStart', 'callModel'],
  );
  assert.deepEqual(
    events.map(({ type }) => type),
    ['turn.start'],
  );
  assert.deepEqual(JSON.parse(rows.userMessage?.blocks[0]?.body ?? ''), { md: 'Hello' });
  assert.equal(readTurn(world.db, world.appId, command.turnId), undefined);
});

test('PRIVACY-1: personal data of a new conversation is in placeholder form, and its values go with the write that opens it', async (t) => {
  const world = await turnsWorld(t);
  const command = world.command({ message: { text: 'Write to ada@example.com' } });
  const { rows } = await draftOpening(world.place(SILENT, 'cnv_1', true), command, NEW);
  assert.deepEqual(JSON.parse(rows.userMessage?.blocks[0]?.body ?? ''), { md: 'Write to ⟦email_1⟧' });
  assert.deepEqual(
    rows.placeholders.map(({ kind, number }) => [kind, number]),
    [['email', 1]],
  );
});

test('MANIFEST-8, ACTION-4: a manifest that nobody registered, and a result of no call, are refused before anything is written', async (t) => {
  const world = await turnsWorld(t);
  const unknown = world.command({ message: { text: 'Hello' } });
  const body = { ...unknown.body, client: { ...unknown.body.client, manifest_hash: 'f'.repeat(64) } };
  const refusedAs = (code: string) => (error: unknown) => error instanceof Refusal && error.code === code;
  await assert.rejects(draftOpening(world.place(SILENT, 'cnv_1', true), { ...unknown, body }, NEW), refusedAs('manifest_unknown'));
  const said = await world
    .node('here', new ScriptedModel(() => ({ text: 'Hello.' })))
    .accept(world.command({ message: { text: 'Hello' } }));
  await readToEnd(said.position);
  const results = { conversation_id: said.conversationId, tool_results: [{ invocation_id: 'inv_0', status: 'ok', result: {} }] };
  const place = world.place(SILENT, said.conversationId);
  await assert.rejects(
    draftOpening(place, world.command(results), { expectedEpoch: 1, epoch: 2, owner: 'here' }),
    refusedAs('invalid_request'),
  );
});
