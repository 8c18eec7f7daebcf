/** Actions that the assistant calls: what runs, what a person is asked, what is sent and when. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PendingInvocation, StreamEvent } from '../../../../protocol/runtime/stream-events.ts';
import { restore } from '../../../../web/client/conversation/calls.ts';
import { ConversationSteps, requestOf, TURN_ID } from './conversation-steps.ts';

const NEXT_ID = '3f0c8a52-6f7e-4d1b-9d0e-0d6f3f6a9b12';
const start = (message = 'msg_1'): StreamEvent => ({
  type: 'turn.start',
  conversation_id: 'cnv_1',
  message_id: message,
  model: 'm',
  request_id: 'r',
});
const read: PendingInvocation = {
  invocation_id: 'inv_1',
  name: 'look',
  params: { order: 'A-1' },
  risk: 'read',
  timeout_ms: 1_000,
  executor: 'client',
};
const write: PendingInvocation = { ...read, invocation_id: 'inv_2', name: 'move', risk: 'write', block_id: 'blk_1' };

const cardOf = (revision: number, status = 'pending', day = 'monday') => ({
  index: 0,
  id: 'blk_1',
  block_type: 'confirm_card',
  revision,
  body: { invocation_id: 'inv_2', status, fields: [{ param: 'order', value: 'A-1' }, { param: 'day', value: day }, { param: 'note' }] },
});

/** A turn that shows a card and waits for the person. */
function asking(executor: 'client' | 'server' = 'client'): ConversationSteps {
  const steps = new ConversationSteps().begin();
  steps.tell(0, start());
  steps.tell(1, { type: 'block.ready', index: 0, block: cardOf(1) });
  steps.tell(2, { type: 'turn.end', status: 'awaiting_confirmation', pending: [{ ...write, executor }] });
  return steps;
}

const ran = (steps: ConversationSteps): string[] => steps.of('runAction').map(({ call }) => call.invocation_id);
const results = (steps: ConversationSteps): object[] => steps.of('continueTurn').flatMap(({ results: sent }) => sent);

describe('CLIENT-10: reads', () => {
  test('a read begins with its event, runs once, and its result is sent when the turn is over', () => {
    const steps = new ConversationSteps().begin();
    steps.tell(0, start());
    steps.tell(1, { type: 'action.execute', invocation_id: 'inv_1', name: 'look', params: {}, timeout_ms: 1_000 });
    assert.deepEqual(ran(steps), ['inv_1']);
    steps.send({ type: 'actionEnded', invocationId: 'inv_1', outcome: { status: 'ok', result: { status: 'shipped' } } });
    assert.deepEqual(results(steps), []);
    steps.tell(2, { type: 'turn.end', status: 'awaiting_tool_results', pending: [read] });
    assert.deepEqual(ran(steps), ['inv_1']);
    assert.deepEqual(results(steps), [{ invocation_id: 'inv_1', status: 'ok', result: { status: 'shipped' } }]);
  });

  test('one whose event was lost runs when the end of the turn names it, and all results of a turn go together', () => {
    const steps = new ConversationSteps().begin();
    steps.tell(0, start());
    steps.tell(2, { type: 'turn.end', status: 'awaiting_tool_results', pending: [read, { ...read, invocation_id: 'inv_9' }] });
    assert.deepEqual(ran(steps), ['inv_1', 'inv_9']);
    steps.send({ type: 'actionEnded', invocationId: 'inv_1', outcome: { status: 'timeout' } });
    assert.deepEqual(results(steps), []);
    steps.send({ type: 'actionEnded', invocationId: 'inv_9', outcome: { status: 'unavailable' } });
    assert.equal(results(steps).length, 2);
    assert.equal(steps.of('continueTurn').length, 1);
  });

  test('a message waits behind the results, and goes when they are answered', () => {
    const steps = new ConversationSteps().begin();
    steps.tell(0, start());
    steps.tell(2, { type: 'turn.end', status: 'awaiting_tool_results', pending: [read] });
    steps.send({ type: 'send', turnId: 'later', payload: { message: { text: 'And?' } }, nowMs: 2 });
    steps.send({ type: 'actionEnded', invocationId: 'inv_1', outcome: { status: 'ok' } });
    const sent = steps.of('continueTurn')[0]?.results ?? [];
    steps.begin(NEXT_ID, { tool_results: [...sent] });
    assert.equal(steps.turn('later').phase, 'waiting');
    steps.tell(0, start('msg_2'), NEXT_ID);
    assert.equal(steps.turn().phase, 'continued');
    steps.tell(1, { type: 'block.delta', index: 0, text_delta: 'Shipped.' }, NEXT_ID);
    steps.tell(2, { type: 'turn.end', status: 'completed' }, NEXT_ID);
    assert.equal(steps.turn('later').phase, 'preparing');
  });

  test('nobody waits for the calls of an attempt that failed', () => {
    const steps = new ConversationSteps().begin();
    steps.tell(0, start());
    steps.tell(1, { type: 'action.execute', invocation_id: 'inv_1', name: 'look', params: {}, timeout_ms: 1_000 });
    steps.tell(2, { type: 'error', code: 'internal', message: 'x', retryable: true });
    steps.tell(3, { type: 'turn.end', status: 'error' });
    steps.send({ type: 'actionEnded', invocationId: 'inv_1', outcome: { status: 'ok' } });
    assert.deepEqual(results(steps), []);
  });
});

describe('CLIENT-11: writes', () => {
  test('a write runs after the service recorded the agreement, with the values of the card', () => {
    const steps = asking();
    assert.deepEqual(ran(steps), []);
    steps.send({ type: 'decide', invocationId: 'inv_2', decision: 'confirm', typed: 'cancel' });
    const [decision] = steps.of('sendDecision');
    assert.deepEqual([decision?.decision, decision?.typed, decision?.call.revision], ['confirm', 'cancel', 1]);
    assert.deepEqual(ran(steps), []);
    steps.send({ type: 'decided', invocationId: 'inv_2', reply: { status: 'confirmed', receipt: 'signed' }, isOurs: true });
    const call = steps.of('runAction')[0]?.call;
    assert.deepEqual([call?.params, call?.receipt], [{ order: 'A-1', day: 'monday' }, 'signed']);
    steps.send({ type: 'actionEnded', invocationId: 'inv_2', outcome: { status: 'ok', result: 1 } });
    assert.deepEqual(results(steps), [{ invocation_id: 'inv_2', status: 'ok', result: 1, confirmed: true, revision: 1 }]);
  });

  test('a button that is pressed twice is one decision', () => {
    const steps = asking();
    for (const decision of ['confirm', 'decline', 'confirm'] as const) steps.send({ type: 'decide', invocationId: 'inv_2', decision });
    assert.equal(steps.of('sendDecision').length, 1);
  });

  test('one that the service runs is only told that the person agreed', () => {
    const steps = asking('server');
    steps.send({ type: 'decide', invocationId: 'inv_2', decision: 'confirm' });
    steps.send({ type: 'decided', invocationId: 'inv_2', reply: { status: 'confirmed' }, isOurs: true });
    assert.deepEqual(ran(steps), []);
    assert.deepEqual(results(steps), [{ invocation_id: 'inv_2', status: 'ok', confirmed: true, revision: 1 }]);
  });

  test('it goes by what the service recorded, not by the button', () => {
    for (const [status, sent] of [
      ['declined', [{ invocation_id: 'inv_2', status: 'declined' }]],
      ['expired', []],
    ] as const) {
      const steps = asking();
      steps.send({ type: 'decide', invocationId: 'inv_2', decision: 'confirm' });
      steps.send({ type: 'decided', invocationId: 'inv_2', reply: { status, already_answered: true }, isOurs: false });
      assert.deepEqual([ran(steps), results(steps)], [[], sent]);
      const [block] = steps.turn().blocks;
      assert.equal(block?.phase === 'ready' && block.block.body.status, status);
    }
  });

  test('a changed value is the one that runs', () => {
    const steps = asking();
    steps.send({ type: 'edit', invocationId: 'inv_2', values: { day: 'friday' } });
    assert.deepEqual(steps.of('sendEdit')[0]?.values, { day: 'friday' });
    steps.send({ type: 'decide', invocationId: 'inv_2', decision: 'confirm' });
    assert.equal(steps.of('sendDecision').length, 0, 'nothing is confirmed while a change is under way');
    steps.send({ type: 'edited', invocationId: 'inv_2', values: { day: 'friday' }, revision: 2, block: cardOf(2, 'pending', 'friday') });
    steps.send({ type: 'decide', invocationId: 'inv_2', decision: 'confirm' });
    steps.send({ type: 'decided', invocationId: 'inv_2', reply: { status: 'confirmed' }, isOurs: true });
    const call = steps.of('runAction')[0]?.call;
    assert.deepEqual([call?.params, call?.revision], [{ order: 'A-1', day: 'friday' }, 2]);
  });

  test('a card of another revision is shown and asked about again', () => {
    const steps = asking();
    steps.send({ type: 'decide', invocationId: 'inv_2', decision: 'confirm' });
    const failure = { code: 'conflict', message: 'x', retryable: false, status: 409, block: cardOf(3, 'pending', 'tuesday') };
    steps.send({ type: 'cardRefused', invocationId: 'inv_2', failure });
    const [call] = steps.state.calls;
    assert.deepEqual(
      [call?.phase, call?.revision, call?.params, call?.failure?.code],
      ['asking', 3, { order: 'A-1', day: 'tuesday' }, 'conflict'],
    );
    const [block] = steps.turn().blocks;
    assert.equal(block?.phase === 'ready' && block.block.revision, 3);
  });
});

describe('CLIENT-12: after a reload', () => {
  const open = (steps: ConversationSteps, status: 'dispatched' | 'pending' | 'confirmed', call: PendingInvocation): void => {
    const page = { conversation_id: 'cnv_1', messages: [], has_more: false, open: { pending: [{ ...call, status }] } };
    steps.send({ type: 'newestRead', page });
  };
  const again = (calls: ConversationSteps['state']['calls'] = []): ConversationSteps => {
    const steps = new ConversationSteps();
    steps.send({ type: 'restored', kept: { conversationId: 'cnv_1', turns: [], calls } });
    return steps;
  };

  test('a read runs again, and a card waits again', () => {
    const steps = again();
    open(steps, 'dispatched', read);
    assert.deepEqual(ran(steps), ['inv_1']);
    const card = again();
    open(card, 'pending', write);
    assert.equal(card.state.calls[0]?.phase, 'asking');
  });

  test('a confirmed write whose handler may have run does not run again', () => {
    const steps = again([{ ...write, phase: 'running', outcome: 'confirmed' }]);
    open(steps, 'confirmed', write);
    assert.deepEqual(ran(steps), []);
    const [result] = results(steps) as { status: string; confirmed: boolean }[];
    assert.deepEqual([result?.status, result?.confirmed], ['error', true]);
    const unknown = again();
    open(unknown, 'confirmed', write);
    assert.deepEqual([ran(unknown), results(unknown).length], [[], 1]);
  });

  test('a result that was not sent is sent, and one that the service has is not', () => {
    const result = { invocation_id: 'inv_2', status: 'ok', confirmed: true } as const;
    const steps = again([{ ...write, phase: 'answered', result }]);
    open(steps, 'confirmed', write);
    assert.deepEqual(results(steps), [result]);
    const done = restore([{ ...write, phase: 'answered', result }], [], () => false);
    assert.equal(done[0]?.phase, 'settled');
  });

  test('CLIENT-13: a turn that was followed again goes on with what its card or its read brings, and does not await it for good', () => {
    for (const [call, status, end] of [
      [write, 'pending', 'awaiting_confirmation'],
      [read, 'dispatched', 'awaiting_tool_results'],
    ] as const) {
      const steps = new ConversationSteps();
      const turns = [new ConversationSteps().begin().turn()];
      steps.send({ type: 'restored', kept: { conversationId: 'cnv_1', turns, calls: [] } });
      open(steps, status, call);
      steps.open('attach').tell(0, start());
      steps.tell(1, { type: 'turn.end', status: end, pending: [call] });
      assert.equal(steps.turn().phase, end);
      steps.send({ type: 'decide', invocationId: 'inv_2', decision: 'confirm' });
      steps.send({ type: 'decided', invocationId: 'inv_2', reply: { status: 'confirmed' }, isOurs: true });
      steps.send({ type: 'actionEnded', invocationId: call.invocation_id, outcome: { status: 'ok' } });
      steps.begin(NEXT_ID, { tool_results: [{ invocation_id: call.invocation_id, status: 'ok' }] });
      steps.tell(0, start('msg_2'), NEXT_ID);
      assert.equal(steps.turn().phase, 'continued');
    }
  });

  test('a continuation that was under way is the one that is sent again', () => {
    const payload = { tool_results: [{ invocation_id: 'inv_2', status: 'ok', confirmed: true }] } as const;
    const first = asking();
    first.begin(NEXT_ID, { tool_results: [...payload.tool_results] });
    const turn = first.turn(NEXT_ID);
    assert.deepEqual(turn.request, requestOf(NEXT_ID, { tool_results: [...payload.tool_results] }));
    const steps = new ConversationSteps();
    const calls = [{ ...write, phase: 'sending', sentBy: NEXT_ID }] as const;
    steps.send({ type: 'restored', kept: { conversationId: 'cnv_1', turns: [turn], calls } });
    open(steps, 'confirmed', write);
    assert.deepEqual(results(steps), []);
    assert.deepEqual(
      steps.of('follow').map(({ turnId, mode }) => [turnId, mode]),
      [[NEXT_ID, 'send']],
    );
    assert.notEqual(TURN_ID, NEXT_ID);
  });
});
