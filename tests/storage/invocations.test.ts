/** decisions §8 "Confirmation": how calls and the cards they are shown on are settled together. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { mintId } from '../../src/protocol/ids.ts';
import { insertBlocks, insertMessage, type PickChange, readBlockById } from '../../src/storage/conversations.ts';
import { insertInvocations, readInvocationById, type Settlement, transactions } from '../../src/storage/invocations.ts';
import { addApp, openFiles } from './migrated-files.ts';

const NOW_MS = Date.UTC(2026, 0, 15);
const CONVERSATION = 'cnv_1';
const PENDING = JSON.stringify({ status: 'pending' });

/** Two writes that wait, each on a card of its own. */
function waitingWrites(t: TestContext) {
  const files = openFiles(t, NOW_MS);
  const appId = addApp(files, 'Shop', NOW_MS);
  const { db } = files;
  db.statement(
    `INSERT INTO conversations (id, app_id, channel, device_id, epoch, created_at_ms, updated_at_ms)
     VALUES (:id, :appId, 'live', '', 1, :nowMs, :nowMs)`,
  ).run({ id: CONVERSATION, appId, nowMs: NOW_MS });
  insertMessage(db, { id: 'msg_1', conversationId: CONVERSATION, role: 'assistant', createdAtMs: NOW_MS });
  const turn = db
    .statement(
      `INSERT INTO turns (app_id, turn_id, conversation_id, kind, fingerprint, device_id, request, request_id, assistant_message_id,
         state, attempt, snapshot, model, attempt_seq, next_seq, opened_at_ms)
       VALUES (:appId, 't', :conversationId, 'message', '', '', '{}', 'r', 'msg_1', 'awaiting_confirmation', 1, '{}', 'm', 0, 0, :nowMs)
       RETURNING id`,
    )
    .get({ appId, conversationId: CONVERSATION, nowMs: NOW_MS })?.id as number;
  const writes = [0, 1].map((position) => ({ id: mintId('inv', NOW_MS), blockId: `blk_${position}`, position }));
  insertBlocks(
    db,
    CONVERSATION,
    'msg_1',
    writes.map(({ blockId, position }) => ({
      id: blockId,
      position,
      blockType: 'confirm_card',
      revision: 1,
      body: PENDING,
      fallbackText: '',
    })),
  );
  insertInvocations(
    db,
    { appId, conversationId: CONVERSATION, turn, messageId: 'msg_1', nowMs: NOW_MS },
    writes.map(({ id, blockId }) => ({
      id,
      callId: id,
      name: 'cancel_order',
      params: '{}',
      risk: 'write',
      executor: 'client',
      timeoutMs: 1_000,
      state: 'pending.clean',
      blockId,
      expiresAtMs: NOW_MS,
    })),
  );
  const seen = () => writes.map(({ id, blockId }) => [readInvocationById(db, id)?.state, readBlockById(db, blockId)?.body.status]);
  return { db, writes, seen };
}

function settlement(id: string, blockId: string, to: 'expired' | 'declined', before = PENDING): Settlement {
  const card: PickChange = { id: blockId, before, after: JSON.stringify({ status: to }), fallbackText: '' };
  return { change: { id, from: 'pending.clean', to, result: null, error: null, expiresAtMs: null }, card };
}

test('Confirmation: a card shows what its call became, and nothing when the call had moved on', (t) => {
  const { db, writes, seen } = waitingWrites(t);
  const [first, second] = writes.map(({ id, blockId }) => settlement(id, blockId, 'expired')) as [Settlement, Settlement];
  transactions.settleInvocations(db, { settlements: [first], nowMs: NOW_MS });
  // Somebody else declines the first too late, in the same transaction as the second runs out.
  const late = settlement(first.change.id, 'blk_0', 'declined', JSON.stringify({ status: 'expired' }));
  transactions.settleInvocations(db, { settlements: [late, second], nowMs: NOW_MS });
  assert.deepEqual(seen(), [
    ['expired', 'expired'],
    ['expired', 'expired'],
  ]);
});

test('Confirmation: a card that was redrawn meanwhile keeps neither its call nor the other cards from being settled', (t) => {
  const { db, writes, seen } = waitingWrites(t);
  const [first, second] = writes.map(({ id, blockId }) => settlement(id, blockId, 'expired')) as [Settlement, Settlement];
  const redrawn = { ...first, card: { ...(first.card as PickChange), before: '{"status":"pending","revision":0}' } };
  transactions.settleInvocations(db, { settlements: [redrawn, second], nowMs: NOW_MS });
  assert.deepEqual(seen(), [
    ['expired', 'pending'],
    ['expired', 'expired'],
  ]);
});
