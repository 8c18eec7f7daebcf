import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dispatch, expireChange, resultChange, waitingAfter } from '../../src/actors/invocation-step.ts';
import type { ToolResult } from '../../src/protocol/runtime/chat.ts';
import type { InvocationRow } from '../../src/storage/invocations.ts';

const NOW_MS = 1_000_000;

function row(fields: Partial<InvocationRow>): InvocationRow {
  return {
    id: 'inv_1',
    appId: 'app_1',
    conversationId: 'cnv_1',
    turn: 1,
    messageId: 'msg_1',
    callId: 'call_1',
    name: 'find_order',
    params: {},
    risk: 'read',
    executor: 'client',
    timeoutMs: 10_000,
    state: 'dispatched',
    result: null,
    error: null,
    blockId: null,
    revision: 1,
    requestedAtMs: NOW_MS,
    expiresAtMs: NOW_MS + 40_000,
    ...fields,
  };
}

const CARD = row({ risk: 'write', state: 'pending.clean', expiresAtMs: NOW_MS + 900_000 });

function result(fields: Partial<ToolResult> = {}): ToolResult {
  return { invocation_id: 'inv_1', status: 'ok', ...fields };
}

describe('a new call goes to the client or waits for a person (decisions §8)', () => {
  test('a read is dispatched with its own time and the time that its result travels', () => {
    assert.deepEqual(dispatch('read', 'client', 10_000, undefined, NOW_MS), { state: 'dispatched', expiresAtMs: NOW_MS + 40_000 });
  });

  test('anything else waits as long as the app allows, 15 minutes when it says nothing', () => {
    for (const risk of ['write', 'destructive'] as const) {
      assert.deepEqual(dispatch(risk, 'client', 10_000, 60, NOW_MS), { state: 'pending.clean', expiresAtMs: NOW_MS + 60_000 });
      assert.deepEqual(dispatch(risk, 'client', 10_000, undefined, NOW_MS).expiresAtMs, NOW_MS + 900_000);
    }
  });
});

describe('time runs out on calls that wait, and on no others (decisions §8)', () => {
  test('not a millisecond early', () => {
    assert.equal(expireChange(row({}), NOW_MS + 39_999), null);
    const expired = { id: 'inv_1', result: null, error: null, expiresAtMs: null };
    assert.deepEqual(expireChange(row({}), NOW_MS + 40_000), { ...expired, from: 'dispatched', to: 'timed_out' });
    assert.deepEqual(expireChange(CARD, NOW_MS + 900_000), { ...expired, from: 'pending.clean', to: 'expired' });
  });

  test('a settled call never changes', () => {
    for (const state of ['succeeded', 'failed', 'declined', 'expired', 'timed_out', 'unknown'] as const) {
      assert.equal(expireChange(row({ state, expiresAtMs: null }), Number.MAX_SAFE_INTEGER), null);
      assert.equal(resultChange(row({ state, expiresAtMs: null }), result(), false, NOW_MS), null);
    }
  });
});

describe('a result settles its call once (service.md POST /v1/chat rule 3)', () => {
  test('of a read: its JSON and its error are kept', () => {
    assert.deepEqual(resultChange(row({}), result({ result: { status: 'sent' } }), false, NOW_MS), {
      id: 'inv_1',
      from: 'dispatched',
      to: 'succeeded',
      result: '{"status":"sent"}',
      error: null,
      expiresAtMs: null,
    });
    const failed = resultChange(row({}), result({ status: 'error', error: 'no such order' }), false, NOW_MS);
    assert.deepEqual([failed?.to, failed?.error, failed?.result], ['failed', 'no such order', null]);
    assert.equal(resultChange(row({}), result({ status: 'timeout' }), false, NOW_MS)?.to, 'timed_out');
    assert.equal(resultChange(row({}), result({ status: 'unavailable' }), false, NOW_MS)?.to, 'failed');
  });

  test('a result of null and of false is a result', () => {
    assert.equal(resultChange(row({}), result({ result: null }), false, NOW_MS)?.result, 'null');
    assert.equal(resultChange(row({}), result({ result: false }), false, NOW_MS)?.result, 'false');
  });

  test('that comes too late counts as none: the call has run out', () => {
    const late = resultChange(row({}), result({ result: { status: 'sent' } }), false, NOW_MS + 40_000);
    assert.equal(late?.to, 'timed_out');
    assert.equal(late?.result, null, 'what was not accepted is not kept');
  });

  test('of a write: ok without the word that a person confirmed it is declined', () => {
    assert.equal(resultChange(CARD, result(), false, NOW_MS)?.to, 'declined');
    assert.equal(resultChange(CARD, result({ confirmed: true }), false, NOW_MS)?.to, 'succeeded');
    assert.equal(resultChange(CARD, result({ confirmed: true }), true, NOW_MS)?.to, 'declined', 'the app records confirmations');
    assert.equal(resultChange(CARD, result({ status: 'declined' }), false, NOW_MS)?.to, 'declined');
    assert.equal(resultChange(row({ ...CARD, state: 'confirmed', expiresAtMs: null }), result(), true, NOW_MS)?.to, 'succeeded');
  });
});

describe('a turn goes on when nothing of it waits (decisions §7)', () => {
  test('counts reads and confirmations that are still open once the changes are made', () => {
    const rows = [row({ id: 'a' }), row({ id: 'b' }), row({ ...CARD, id: 'c' }), row({ id: 'd', state: 'succeeded' })];
    assert.deepEqual(waitingAfter(rows, []), { reads: 2, confirmations: 1 });
    const changes = [
      { id: 'a', from: 'dispatched', to: 'succeeded', result: null, error: null, expiresAtMs: null },
      { id: 'c', from: 'pending.clean', to: 'confirmed', result: null, error: null, expiresAtMs: null },
    ] as const;
    assert.deepEqual(waitingAfter(rows, changes), { reads: 1, confirmations: 1 });
    assert.deepEqual(waitingAfter([], []), { reads: 0, confirmations: 0 });
  });
});
