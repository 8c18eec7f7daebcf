/** How calls and the cards they are shown on are settled together. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { mintId } from '../../../protocol/ids.ts';
import { insertBlocks, type PickChange, readBlockById } from '../../../storage/conversations/blocks.ts';
import {
  changeInvocations,
  type InvocationChange,
  insertInvocations,
  readEditing,
  readExecutedBy,
  readExecuting,
  readInvocationById,
  type Settlement,
  transactions,
} from '../../../storage/conversations/invocations.ts';
import type { Connection } from '../../../storage/sqlite/connection.ts';
import { each } from '../../support/each.ts';
import { openApp } from '../migrations/migrated-files.ts';
import { storeConversation, storeTurn } from './stored-turns.ts';

const NOW_MS = Date.UTC(2026, 0, 15);
const CONVERSATION = 'cnv_1';
const PENDING = JSON.stringify({ status: 'pending' });

/** Two writes that wait, each on a card of its own. */
function waitingWrites(t: TestContext) {
  const { db, appId } = openApp(t, NOW_MS);
  storeConversation(db, { id: CONVERSATION, appId });
  const of = { appId, conversationId: CONVERSATION, turnId: 't', answer: 'msg_1' };
  const turn = storeTurn(db, { ...of, state: 'awaiting_confirmation', atMs: NOW_MS, endedAtMs: null });
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
  return { db, appId, turn, writes, seen };
}

function settlement(id: string, blockId: string, to: 'expired' | 'declined', before = PENDING): Settlement {
  const card: PickChange = { id: blockId, before, after: JSON.stringify({ status: to }), fallbackText: '' };
  return { change: { id, from: 'pending.clean', to, result: null, error: null, expiresAtMs: null }, card };
}

test('CONFIRM-2, CONFIRM-5: a card shows what its call became, and nothing when the call had moved on', (t) => {
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

test('CONFIRM-2: a card that was marked anew meanwhile says what became of its call all the same', (t) => {
  const { db, writes, seen } = waitingWrites(t);
  const [first, second] = writes.map(({ id, blockId }) => settlement(id, blockId, 'expired')) as [Settlement, Settlement];
  db.statement(`UPDATE blocks SET body = '{"status":"pending","edit_state":"rejected","title":"Anew"}' WHERE id = 'blk_0'`).run();
  transactions.settleInvocations(db, { settlements: [first, second], nowMs: NOW_MS });
  assert.deepEqual(seen(), [
    ['expired', 'expired'],
    ['expired', 'expired'],
  ]);
  assert.deepEqual(readBlockById(db, 'blk_0')?.body, { status: 'expired', edit_state: 'idle', title: 'Anew' });
});

function answer(db: Connection, change: InvocationChange, card: PickChange | null): boolean {
  return transactions.answerInvocation(db, { settlement: { change, card }, nowMs: NOW_MS });
}

test('CONFIRM-5: an answer takes effect with its card or not at all', (t) => {
  const { db, writes, seen } = waitingWrites(t);
  const [{ change, card }, second] = writes.map(({ id, blockId }) => settlement(id, blockId, 'declined')) as [Settlement, Settlement];
  assert.equal(answer(db, { ...change, revision: 2 }, card), false, 'the card was changed since');
  assert.equal(answer(db, change, { ...(card as PickChange), before: '{"status":"other"}' }), false, 'the card was redrawn since');
  assert.deepEqual(seen()[0], ['pending.clean', 'pending']);
  assert.equal(answer(db, { ...change, revision: 1, confirmedAtMs: 7 }, card), true);
  assert.equal(answer(db, { ...change, revision: 1 }, card), false, 'it was answered');
  assert.equal(answer(db, change, null), false, 'it was answered, whatever its card says');
  assert.deepEqual(seen(), [
    ['declined', 'declined'],
    ['pending.clean', 'pending'],
  ]);
  assert.equal(answer(db, second.change, null), true, 'a call without a card');
});

test('CONFIRM-19: when a person agreed is written once, and who runs the call is found by its turn', (t) => {
  const { db, turn, writes } = waitingWrites(t);
  const id = writes[0]?.id as string;
  const move = (from: InvocationChange['from'], to: InvocationChange['to'], more: Partial<InvocationChange> = {}) =>
    changeInvocations(db, [{ id, from, to, result: null, error: null, expiresAtMs: null, ...more }], NOW_MS);
  assert.deepEqual(move('pending.clean', 'confirmed', { confirmedAtMs: 7 }), []);
  assert.deepEqual(readExecuting(db, CONVERSATION), []);
  assert.deepEqual(move('confirmed', 'executing', { confirmedAtMs: 8, executedBy: turn }), []);
  assert.deepEqual(
    [readExecuting(db, CONVERSATION), readExecutedBy(db, turn)].map((rows) =>
      rows.map((row) => [row.id, row.confirmedAtMs, row.executedBy]),
    ),
    [[[id, 7, turn]], [[id, 7, turn]]],
  );
  assert.deepEqual(move('confirmed', 'executing'), [id], 'it runs already');
  assert.deepEqual(move('executing', 'unknown'), []);
  assert.deepEqual([readExecuting(db, CONVERSATION).length, readExecutedBy(db, turn)[0]?.state], [0, 'unknown']);
});

test('CONFIRM-13: an accepted change raises the revision of the call and of its block', (t) => {
  const { db, writes } = waitingWrites(t);
  const { id, blockId } = writes[0] as { id: string; blockId: string };
  const editing: InvocationChange = {
    id,
    from: 'pending.clean',
    to: 'pending.editing',
    revision: 1,
    result: null,
    error: null,
    expiresAtMs: NOW_MS,
  };
  assert.equal(answer(db, editing, null), true);
  assert.deepEqual(each(readEditing(db, 10), 'id'), [id]);
  const edit = { params: '{"day":"tuesday"}', definition: '{"asked":{}}', revision: 2 };
  assert.equal(answer(db, { ...editing, from: 'pending.editing', to: 'pending.clean', edit }, null), true);
  const row = readInvocationById(db, id);
  assert.deepEqual([row?.params, row?.definition, row?.revision, row?.expiresAtMs], [{ day: 'tuesday' }, '{"asked":{}}', 2, NOW_MS]);
  assert.deepEqual([readBlockById(db, blockId)?.revision, readBlockById(db, 'blk_1')?.revision], [2, 1]);
  assert.deepEqual(readEditing(db, 10), []);
});

test('ACTION-12: a call that the server has run already is stored as it ended', (t) => {
  const { db, appId, turn } = waitingWrites(t);
  const call = { callId: 'c', name: 'find_order', params: '{}', risk: 'read', executor: 'server', timeoutMs: 1_000 } as const;
  insertInvocations(db, { appId, conversationId: CONVERSATION, turn, messageId: 'msg_1', nowMs: NOW_MS }, [
    { ...call, id: 'inv_a', state: 'succeeded', blockId: null, expiresAtMs: null, result: '{"n":1}', settledAtMs: NOW_MS },
    { ...call, id: 'inv_b', state: 'failed', blockId: null, expiresAtMs: null, error: 'no such order', settledAtMs: NOW_MS },
  ]);
  const [a, b] = ['inv_a', 'inv_b'].map((id) => readInvocationById(db, id));
  assert.deepEqual([a?.state, a?.result, a?.error, a?.definition], ['succeeded', '{"n":1}', null, null]);
  assert.deepEqual([b?.state, b?.result, b?.error, b?.confirmedAtMs], ['failed', null, 'no such order', null]);
});
