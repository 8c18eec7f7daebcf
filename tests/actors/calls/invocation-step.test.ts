import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  acceptEdit,
  answerChange,
  answerOf,
  beginEdit,
  changed,
  decisionChange,
  dispatch,
  expireChange,
  lostChange,
  rejectEdit,
  settleExecution,
  waitingAfter,
} from '../../../actors/calls/invocation-step.ts';
import { unpackSteps } from '../../../machines/trace.ts';
import type { ToolResult } from '../../../protocol/runtime/chat.ts';
import type { InvocationChange, InvocationRow } from '../../../storage/conversations/invocations.ts';

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
    confirmedAtMs: null,
    confirmedOnTrust: false,
    decisionId: null,
    executedBy: null,
    definition: null,
    ...fields,
  };
}

const CARD = row({ risk: 'write', state: 'pending.clean', expiresAtMs: NOW_MS + 900_000 });

function resultChange(from: InvocationRow, given: ToolResult, recordRequired: boolean, nowMs: number) {
  return answerChange(from, given, recordRequired, nowMs).change;
}

/** The change without the steps that made it. */
function untraced(change: InvocationChange | null): object | null {
  if (change === null) return null;
  const { trace: _, ...rest } = change;
  return rest;
}

function result(fields: Partial<ToolResult> = {}): ToolResult {
  return { invocation_id: 'inv_1', status: 'ok', ...fields };
}

describe('a new call goes to the client or waits for a person', () => {
  test('ACTION-6: a read is dispatched with its own time and the time that its result travels', () => {
    const { state, expiresAtMs } = dispatch('read', 'client', 10_000, undefined, NOW_MS);
    assert.deepEqual([state, expiresAtMs], ['dispatched', NOW_MS + 40_000]);
  });

  test('CONFIRM-6: anything else waits as long as the app allows, 15 minutes when it says nothing', () => {
    for (const risk of ['write', 'destructive'] as const) {
      const { state, expiresAtMs } = dispatch(risk, 'client', 10_000, 60, NOW_MS);
      assert.deepEqual([state, expiresAtMs], ['pending.clean', NOW_MS + 60_000]);
      assert.deepEqual(dispatch(risk, 'client', 10_000, undefined, NOW_MS).expiresAtMs, NOW_MS + 900_000);
    }
  });
});

test('TRACE-1: a change brings the steps that made it, and those alone', () => {
  const made = expireChange(CARD, NOW_MS + 900_000)?.trace;
  assert.deepEqual(
    unpackSteps(made?.steps ?? '').steps.map(({ event, from, to }) => [event.type, from, to]),
    [['expire', 'pending.clean', 'expired']],
  );
  const first = unpackSteps(dispatch('write', 'server', 1_000, undefined, NOW_MS).trace?.steps ?? '');
  assert.deepEqual(first.input, { risk: 'write', executor: 'server' });
});

describe('time runs out on calls that wait, and on no others', () => {
  test('CONFIRM-6: not a millisecond early', () => {
    assert.equal(expireChange(row({}), NOW_MS + 39_999), null);
    const expired = { id: 'inv_1', revision: 1, result: null, error: null, expiresAtMs: null };
    assert.deepEqual(untraced(expireChange(row({}), NOW_MS + 40_000)), { ...expired, from: 'dispatched', to: 'timed_out' });
    assert.deepEqual(untraced(expireChange(CARD, NOW_MS + 900_000)), { ...expired, from: 'pending.clean', to: 'expired' });
  });

  test('CONFIRM-18: a settled call never changes', () => {
    for (const state of ['succeeded', 'failed', 'declined', 'expired', 'timed_out', 'unknown'] as const) {
      assert.equal(expireChange(row({ state, expiresAtMs: null }), Number.MAX_SAFE_INTEGER), null);
      assert.equal(resultChange(row({ state, expiresAtMs: null }), result(), false, NOW_MS), null);
    }
  });
});

describe('a result settles its call once', () => {
  test('ACTION-4: of a read: its JSON and its error are kept', () => {
    assert.deepEqual(untraced(resultChange(row({}), result({ result: { status: 'sent' } }), false, NOW_MS)), {
      id: 'inv_1',
      from: 'dispatched',
      to: 'succeeded',
      revision: 1,
      result: '{"status":"sent"}',
      error: null,
      expiresAtMs: null,
    });
    const failed = resultChange(row({}), result({ status: 'error', error: 'no such order' }), false, NOW_MS);
    assert.deepEqual([failed?.to, failed?.error, failed?.result], ['failed', 'no such order', null]);
    assert.equal(resultChange(row({}), result({ status: 'timeout' }), false, NOW_MS)?.to, 'timed_out');
    assert.equal(resultChange(row({}), result({ status: 'unavailable' }), false, NOW_MS)?.to, 'failed');
  });

  test('ACTION-3: a result of null and of false is a result', () => {
    assert.equal(resultChange(row({}), result({ result: null }), false, NOW_MS)?.result, 'null');
    assert.equal(resultChange(row({}), result({ result: false }), false, NOW_MS)?.result, 'false');
  });

  test('ACTION-6: that comes too late counts as none: the call has run out', () => {
    const late = resultChange(row({}), result({ result: { status: 'sent' } }), false, NOW_MS + 40_000);
    assert.equal(late?.to, 'timed_out');
    assert.equal(late?.result, null, 'what was not accepted is not kept');
  });

  test('CONFIRM-8: of a write: ok without the word that a person confirmed it is declined', () => {
    assert.equal(resultChange(CARD, result(), false, NOW_MS)?.to, 'declined');
    assert.equal(resultChange(CARD, result({ confirmed: true }), false, NOW_MS)?.to, 'succeeded');
    assert.equal(resultChange(CARD, result({ confirmed: true }), true, NOW_MS)?.to, 'declined', 'the app records confirmations');
    assert.equal(resultChange(CARD, result({ status: 'declined' }), false, NOW_MS)?.to, 'declined');
    assert.equal(resultChange(row({ ...CARD, state: 'confirmed', expiresAtMs: null }), result(), true, NOW_MS)?.to, 'succeeded');
  });
});

describe('what the server runs itself begins with the person’s agreement', () => {
  const card = row({ ...CARD, executor: 'server' });
  const confirmed = row({ ...card, state: 'confirmed', expiresAtMs: null, confirmedAtMs: NOW_MS - 1 });

  test('CONFIRM-9: a success on trust starts it, and says when the person agreed', () => {
    const { change, executes } = answerChange(card, result({ confirmed: true, result: { ignored: true } }), false, NOW_MS);
    assert.equal(executes, true);
    assert.deepEqual(untraced(change), {
      id: 'inv_1',
      from: 'pending.clean',
      to: 'executing',
      revision: 1,
      result: null,
      error: null,
      expiresAtMs: null,
      confirmedAtMs: NOW_MS,
      confirmedOnTrust: true,
    });
  });

  test('CONFIRM-9: a recorded confirmation starts it with the client\u2019s word, or without where the record is what counts', () => {
    for (const [given, recordRequired] of [
      [{ confirmed: true }, false],
      [{ confirmed: true }, true],
      [{}, true],
    ] as const) {
      const { change, executes } = answerChange(confirmed, result(given), recordRequired, NOW_MS);
      assert.deepEqual([executes, change?.from, change?.to, change?.confirmedAtMs], [true, 'confirmed', 'executing', undefined]);
    }
  });

  test('CONFIRM-9: nothing else does', () => {
    for (const [from, given, recordRequired] of [
      [card, {}, false],
      [card, { confirmed: true }, true],
      [card, { status: 'declined', confirmed: true }, false],
      [confirmed, {}, false],
      [confirmed, { status: 'error', confirmed: true }, false],
      [{ ...card, state: 'pending.rejected' }, { confirmed: true }, false],
      [{ ...card, state: 'pending.editing' }, { confirmed: true }, false],
      [{ ...card, state: 'executing' }, { confirmed: true }, false],
      [{ ...CARD }, { confirmed: true }, false],
    ] as const) {
      const { change, executes } = answerChange(from as InvocationRow, result(given), recordRequired, NOW_MS);
      assert.deepEqual([executes, change?.to === 'executing'], [false, false], JSON.stringify([from.state, given]));
    }
  });

  test('ACTION-12: it ends in one of three ways, once', () => {
    const executing = row({ ...confirmed, state: 'executing' });
    const done = settleExecution(executing, { outcome: 'succeeded', result: '{"ok":1}' });
    assert.deepEqual([done?.to, done?.result, done?.error], ['succeeded', '{"ok":1}', null]);
    for (const outcome of ['failed', 'unknown'] as const) {
      const ended = settleExecution(executing, { outcome, error: 'no answer' });
      assert.deepEqual([ended?.to, ended?.result, ended?.error], [outcome, null, 'no answer']);
    }
    for (const state of ['confirmed', 'succeeded', 'failed', 'unknown'] as const) {
      assert.equal(settleExecution(row({ ...confirmed, state }), { outcome: 'succeeded', result: '1' }), null, state);
    }
  });

  test('ACTION-13, CONFIRM-16: what was running when its process ended is unknown, what was being changed can be answered again', () => {
    assert.equal(lostChange(row({ ...confirmed, state: 'executing' }))?.to, 'unknown');
    assert.deepEqual(
      [lostChange(row({ ...card, state: 'pending.editing' }))?.to, lostChange(card), lostChange(confirmed)],
      ['pending.clean', null, null],
    );
  });
});

describe('what a person has answered', () => {
  test('CONFIRM-5: a decision is one while the card waits and can be confirmed; the moment of a confirmation is kept', () => {
    const confirms = decisionChange(CARD, 'confirm', NOW_MS);
    assert.deepEqual([confirms?.to, confirms?.confirmedAtMs], ['confirmed', NOW_MS]);
    const declines = decisionChange(CARD, 'decline', NOW_MS);
    assert.deepEqual([declines?.to, declines?.confirmedAtMs], ['declined', undefined]);
    for (const state of ['pending.editing', 'pending.rejected'] as const) {
      assert.deepEqual(
        [decisionChange(row({ ...CARD, state }), 'confirm', NOW_MS), decisionChange(row({ ...CARD, state }), 'decline', NOW_MS)?.to],
        [null, 'declined'],
      );
    }
    for (const state of ['confirmed', 'declined', 'expired', 'failed'] as const) {
      for (const decision of ['confirm', 'decline'] as const) assert.equal(decisionChange(row({ ...CARD, state }), decision, NOW_MS), null);
    }
  });

  test('CONFIRM-5: every state is one answer, and a confirmation stays one whatever the client reports afterwards', () => {
    const answers = (confirmedAtMs: number | null) =>
      (
        ['pending.clean', 'pending.editing', 'confirmed', 'executing', 'succeeded', 'unknown', 'failed', 'declined', 'expired'] as const
      ).map((state) => answerOf({ state, confirmedAtMs }));
    const confirmed = ['confirmed', 'confirmed', 'confirmed'];
    assert.deepEqual(answers(null), ['pending', 'pending', ...confirmed, 'expired', 'declined', 'declined', 'expired']);
    assert.deepEqual(answers(1), ['pending', 'pending', ...confirmed, ...Array(4).fill('confirmed')]);
  });

  test('CONFIRM-21: a result says when the person agreed only where its word is what counts', () => {
    const at = (from: InvocationRow, given: Partial<ToolResult>, recordRequired = false) =>
      answerChange(from, result(given), recordRequired, NOW_MS).change?.confirmedAtMs;
    assert.equal(at(CARD, { confirmed: true }), NOW_MS);
    assert.equal(at(CARD, { confirmed: true, status: 'error' }), NOW_MS, 'agreed, and it failed');
    assert.equal(at(CARD, { status: 'error' }), undefined);
    assert.equal(at(CARD, {}), undefined);
    assert.equal(at(CARD, { confirmed: true }, true), undefined);
    assert.equal(at(CARD, { confirmed: true, status: 'declined' }), undefined);
    assert.equal(at(row({ ...CARD, state: 'pending.rejected' }), { confirmed: true }), undefined);
    const first = row({ ...CARD, state: 'confirmed', expiresAtMs: null, confirmedAtMs: 5 });
    const change = answerChange(first, result({ confirmed: true }), false, NOW_MS).change;
    assert.ok(change !== null);
    assert.equal(changed(first, change).confirmedAtMs, 5, 'the first moment stays');
  });
});

describe('a card is changed in steps that others can see', () => {
  const kept = { params: '{"day":"tuesday"}', definition: '{}' };

  test('CONFIRM-13: begun, then accepted at the next revision; time goes on as before', () => {
    for (const state of ['pending.clean', 'pending.rejected'] as const) {
      const from = row({ ...CARD, state, revision: 3 });
      const begun = beginEdit(from);
      assert.deepEqual([begun?.from, begun?.to, begun?.revision, begun?.expiresAtMs], [state, 'pending.editing', 3, CARD.expiresAtMs]);
      const accepted = acceptEdit(from, kept);
      assert.deepEqual(
        [accepted.from, accepted.to, accepted.revision, accepted.edit],
        ['pending.editing', 'pending.clean', 3, { ...kept, revision: 4 }],
      );
      assert.equal(accepted.expiresAtMs, CARD.expiresAtMs);
    }
  });

  test('CONFIRM-15: or rejected, at the revision that it has', () => {
    for (const state of ['pending.clean', 'pending.rejected'] as const) {
      const rejected = rejectEdit(row({ ...CARD, state, revision: 3 }));
      assert.deepEqual([rejected.from, rejected.to, rejected.revision, rejected.edit], [state, 'pending.rejected', 3, undefined]);
    }
  });

  test('CONFIRM-16: one at a time, and never once the call is answered', () => {
    for (const state of ['pending.editing', 'confirmed', 'declined', 'expired', 'executing'] as const) {
      assert.equal(beginEdit(row({ ...CARD, state })), null);
    }
  });
});

describe('a turn goes on when nothing of it waits', () => {
  test('ACTION-5: counts reads and confirmations that are still open once the changes are made', () => {
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
