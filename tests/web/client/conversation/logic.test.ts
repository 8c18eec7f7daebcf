/** What becomes of a conversation: refusals, the early retry, what waits, what is stopped, what the history tells. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { MessageReply, MessagesReply } from '../../../../protocol/runtime/messages.ts';
import type { StreamEvent } from '../../../../protocol/runtime/stream-events.ts';
import { fallbackOf } from '../../../../web/client/conversation/answer-blocks.ts';
import { oldestMessageId } from '../../../../web/client/conversation/history.ts';
import { NEW_CONVERSATION } from '../../../../web/client/conversation/logic.ts';
import { threadOf } from '../../../../web/client/conversation/thread.ts';
import { ConversationSteps, TURN_ID } from './conversation-steps.ts';

const start = (message = 'msg_1'): StreamEvent => ({
  type: 'turn.start',
  conversation_id: 'cnv_1',
  message_id: message,
  model: 'm',
  request_id: 'r',
});
const delta: StreamEvent = { type: 'block.delta', index: 0, text_delta: 'Words' };
const opened: StreamEvent = { type: 'block.start', index: 0, id: 'blk_1', block_type: 'text' };
const ended: StreamEvent = { type: 'turn.end', status: 'completed' };
const failed: StreamEvent = { type: 'turn.end', status: 'error' };
const error = (code: 'internal' | 'model_busy' | 'rate_limited' | 'invalid_request', more: object = {}): StreamEvent => ({
  type: 'error',
  code,
  message: 'It did not work.',
  retryable: true,
  ...more,
});

describe('CLIENT-7: errors wait for somebody to ask', () => {
  test('a failed turn keeps what was said, and is sent again unchanged when the person asks', () => {
    const steps = new ConversationSteps().begin();
    [start(), opened, delta, error('internal', { retry_after_s: 7 }), failed].forEach((event, seq) => void steps.tell(seq, event));
    const turn = steps.turn();
    assert.deepEqual([turn.phase, turn.failure?.code, turn.failure?.retryAfterMs], ['failed', 'internal', 7_000]);
    assert.equal(turn.blocks.length, 1);
    const before = steps.of('follow').length;
    steps.send({ type: 'wake' });
    assert.equal(steps.of('follow').length, before, 'nothing is sent by itself');
    const { request } = turn;
    assert.deepEqual(steps.send({ type: 'retry', turnId: TURN_ID })[0], { type: 'follow', turnId: TURN_ID, mode: 'send', afterMs: 0 });
    assert.equal(steps.turn().request, request);
    assert.equal(steps.turn().blocks.length, 1, 'until the answer begins anew');
    steps.open('send').tell(5, start());
    assert.deepEqual(steps.turn().blocks, []);
  });

  test('a refused retry changes nothing of what the turn said, and its numbers are not the turn’s', () => {
    const steps = new ConversationSteps().begin();
    [start(), opened, delta, error('internal'), failed].forEach((event, seq) => void steps.tell(seq, event));
    steps.send({ type: 'retry', turnId: TURN_ID });
    steps.open('send');
    steps.tell(0, error('rate_limited', { retryable: false }));
    steps.tell(1, failed);
    const turn = steps.turn();
    assert.deepEqual([turn.phase, turn.failure?.code, turn.lastSeq, turn.blocks.length], ['failed', 'rate_limited', 4, 1]);
  });

  test('a refused turn may be asked for again, and begins at its first number', () => {
    const steps = new ConversationSteps().begin();
    steps.tell(0, error('rate_limited'));
    steps.tell(1, failed);
    assert.equal(steps.turn().phase, 'failed');
    steps.send({ type: 'retry', turnId: TURN_ID });
    steps.open('send').tell(0, start());
    assert.equal(steps.turn().phase, 'answering');
  });

  test('a turn that was never opened goes to the end when it is asked again, one that was keeps its place', () => {
    for (const [events, order] of [
      [
        [error('rate_limited'), failed],
        ['later', TURN_ID],
      ],
      [
        [start(), error('internal'), failed],
        [TURN_ID, 'later'],
      ],
    ] as const) {
      const steps = new ConversationSteps().begin();
      events.forEach((event, seq) => void steps.tell(seq, event));
      steps.begin('later');
      [start('msg_2'), opened, delta, ended].forEach((event, seq) => void steps.tell(seq, event, 'later'));
      steps.send({ type: 'retry', turnId: TURN_ID });
      assert.equal(steps.turn().phase, 'opening');
      assert.deepEqual(
        steps.state.turns.map(({ turnId }) => turnId),
        order,
      );
    }
  });

  test('a notice is no failure, and neither is the end of a turn that was stopped while it waited', () => {
    const noticed = new ConversationSteps().begin();
    noticed.tell(0, { type: 'notice', reason: 'user_limit', message: 'That was the last one.', resets_at: '2026-11-22T00:00:00.000Z' });
    noticed.tell(1, ended);
    assert.deepEqual([noticed.turn().phase, noticed.turn().notice?.reason], ['completed', 'user_limit']);
    const stopped = new ConversationSteps().begin();
    stopped.tell(0, { type: 'turn.end', status: 'completed', stopped: true });
    assert.deepEqual([stopped.turn().phase, stopped.turn().ending?.stopped], ['completed', true]);
  });

  test('a turn that failed for want of a network goes on where it was when the network is back', () => {
    const steps = new ConversationSteps().begin();
    [start(), opened, delta].forEach((event, seq) => void steps.tell(seq, event));
    steps.send({ type: 'streamFailed', turnId: TURN_ID, failure: { code: 'unreachable', message: 'x', retryable: true } });
    assert.equal(steps.turn().phase, 'failed');
    steps.send({ type: 'wake' });
    steps.open('send');
    [start(), opened, delta, delta].forEach((event, seq) => void steps.tell(seq, event));
    const [block] = steps.turn().blocks;
    assert.equal(block?.phase === 'announced' && block.text, 'WordsWords');
  });
});

describe('CLIENT-8: the early retry', () => {
  const busy = (more: object = {}): ConversationSteps => {
    const steps = new ConversationSteps().begin();
    [start(), error('model_busy', more), failed].forEach((event, seq) => void steps.tell(seq, event));
    return steps;
  };

  test('a busy model is asked once more after three seconds, or the time that the service names', () => {
    for (const [more, afterMs] of [
      [{}, 3_000],
      [{ retry_after_s: 6 }, 6_000],
      [{ retry_after_s: 1 }, 3_000],
    ] as const) {
      const steps = busy(more);
      assert.deepEqual(steps.of('follow').at(-1), { type: 'follow', turnId: TURN_ID, mode: 'send', afterMs });
      assert.equal(steps.turn().phase, 'opening');
    }
  });

  test('once, not after output, and not where the wait is long', () => {
    const twice = busy();
    twice.open('send');
    [start(), error('model_busy'), failed].forEach((event, at) => void twice.tell(3 + at, event));
    assert.equal(twice.turn().phase, 'failed');
    assert.equal(busy({ retry_after_s: 30 }).turn().phase, 'failed');
    const said = new ConversationSteps().begin();
    [start(), opened, delta, error('model_busy'), failed].forEach((event, seq) => void said.tell(seq, event));
    assert.equal(said.turn().phase, 'failed');
  });
});

describe('CLIENT-18: what did not arrive', () => {
  test('a block that never became ready says what is known of it', () => {
    const steps = new ConversationSteps().begin();
    const map: StreamEvent = { type: 'block.start', index: 1, id: 'blk_2', block_type: 'map' };
    [start(), opened, delta, map, ended].forEach((event, seq) => void steps.tell(seq, event));
    assert.deepEqual(steps.turn().blocks.map(fallbackOf), ['Words', 'This part of the answer did not arrive.']);
  });

  test('a block of a component that nobody knows yet has its fallback text', () => {
    const steps = new ConversationSteps().begin();
    const block = { index: 0, id: 'blk_1', block_type: 'hologram', revision: 1, body: {}, fallback_text: 'A hologram of a shoe.' };
    [start(), { type: 'block.ready', index: 0, block } as const, ended].forEach((event, seq) => void steps.tell(seq, event));
    assert.deepEqual(steps.turn().blocks.map(fallbackOf), ['A hologram of a shoe.']);
  });

  test('a turn without a word is no answer, and a replay may still bring it', () => {
    const steps = new ConversationSteps().begin();
    [start(), ended].forEach((event, seq) => void steps.tell(seq, event));
    assert.deepEqual([steps.turn().failure?.code, steps.turn().failure?.retryable], ['no_answer', true]);
    steps.send({ type: 'retry', turnId: TURN_ID });
    steps.open('send');
    [start(), opened, delta, ended].forEach((event, seq) => void steps.tell(seq, event));
    assert.equal(steps.turn().phase, 'completed');
  });

  test('the number of what was passed over counts, so that it is not asked for again', () => {
    const steps = new ConversationSteps().begin();
    steps.tell(0, start());
    steps.send({ type: 'eventSkipped', turnId: TURN_ID, seq: 3 });
    assert.equal(steps.turn().lastSeq, 3);
  });
});

test('CLIENT-19: messages wait for the one before, and are made when it is over', () => {
  const steps = new ConversationSteps().begin();
  for (const turnId of ['second', 'third']) steps.send({ type: 'send', turnId, payload: { message: { text: 'x' } }, nowMs: 2 });
  assert.deepEqual(
    steps.state.turns.map(({ phase }) => phase),
    ['opening', 'waiting', 'waiting'],
  );
  [start(), opened, delta, ended].forEach((event, seq) => void steps.tell(seq, event));
  assert.deepEqual(
    steps.state.turns.map(({ phase }) => phase),
    ['completed', 'preparing', 'waiting'],
  );
  assert.deepEqual(
    steps.of('prepare').map(({ turnId }) => turnId),
    [TURN_ID, 'second'],
  );
});

test('CLIENT-20: a turn that runs is stopped by the service, and one that waits is taken back', () => {
  const steps = new ConversationSteps().begin();
  steps.send({ type: 'send', turnId: 'second', payload: { message: { text: 'x' } }, nowMs: 2 });
  steps.send({ type: 'stop', turnId: 'second' });
  assert.deepEqual([steps.state.turns.length, steps.of('sendStop').length], [1, 0]);
  [start(), opened, delta].forEach((event, seq) => void steps.tell(seq, event));
  steps.send({ type: 'stop', turnId: TURN_ID });
  assert.deepEqual([steps.turn().phase, steps.turn().isStopping, steps.of('sendStop').length], ['answering', true, 1]);
  steps.tell(3, { type: 'turn.end', status: 'completed', stopped: true });
  assert.deepEqual([steps.turn().phase, steps.turn().isStopping, steps.turn().ending?.stopped], ['completed', false, true]);
});

describe('CLIENT-13: what the service tells of a conversation', () => {
  const message = (id: string, role: 'user' | 'assistant'): MessageReply => ({
    id,
    role,
    blocks: [],
    created_at: '2026-11-21T12:00:00.000Z',
  });
  const page = (ids: readonly string[], more: Partial<MessagesReply> = {}): MessagesReply => ({
    conversation_id: 'cnv_1',
    messages: ids.map((id) => message(id, id.startsWith('q') ? 'user' : 'assistant')),
    has_more: false,
    open: { pending: [] },
    ...more,
  });
  const shown = (steps: ConversationSteps): string[] => threadOf(steps.state).map(({ key }) => key);
  /** A page that was closed while its second turn ran. */
  const reloaded = (...told: StreamEvent[]): ConversationSteps => {
    const before = new ConversationSteps().begin();
    told.forEach((event, seq) => void before.tell(seq, event));
    const steps = new ConversationSteps();
    steps.send({ type: 'restored', kept: { conversationId: 'cnv_1', turns: before.state.turns, calls: [] } });
    return steps;
  };
  const running = { turn: { turn_id: TURN_ID, message_id: 'msg_1', status: 'running' }, pending: [] } as const;

  test('a turn that runs is followed from its last event, and its question is shown once', () => {
    for (const ids of [
      ['q1', 'a1', 'q2'],
      ['q1', 'a1', 'q2', 'msg_1'],
    ]) {
      const steps = reloaded(start(), opened, delta);
      steps.send({ type: 'newestRead', page: page(ids, { open: running }) });
      assert.deepEqual(shown(steps), ['q1', 'a1', TURN_ID]);
      assert.deepEqual(steps.of('follow'), [{ type: 'follow', turnId: TURN_ID, mode: 'attach', afterMs: 0 }]);
      assert.equal(steps.turn().lastSeq, 2);
    }
  });

  test('a turn that the service may not know is sent again, and is not shown twice when it was there after all', () => {
    const steps = reloaded();
    steps.send({ type: 'newestRead', page: page(['q1', 'a1', 'q2', 'msg_1']) });
    assert.deepEqual(steps.of('follow'), [{ type: 'follow', turnId: TURN_ID, mode: 'send', afterMs: 0 }]);
    steps.open('send').tell(0, start());
    assert.deepEqual(shown(steps), ['q1', 'a1', TURN_ID]);
  });

  test('a turn of another device is followed, and its question stays', () => {
    const steps = new ConversationSteps();
    steps.send({ type: 'newestRead', page: page(['q1', 'a1', 'q2'], { open: running }) });
    assert.deepEqual(shown(steps), ['q1', 'a1', 'q2', TURN_ID]);
    assert.deepEqual(steps.of('follow'), [{ type: 'follow', turnId: TURN_ID, mode: 'attach', afterMs: 0 }]);
    steps.send({
      type: 'streamFailed',
      turnId: TURN_ID,
      failure: { code: 'invalid_request', message: 'x', retryable: false, status: 404 },
    });
    assert.deepEqual(shown(steps), ['q1', 'a1', 'q2']);
    assert.equal(steps.of('readHistory').length, 1);
  });

  test('a turn that is over is the history’s', () => {
    const steps = new ConversationSteps().begin();
    [start(), opened, delta, ended].forEach((event, seq) => void steps.tell(seq, event));
    steps.send({ type: 'newestRead', page: page(['q1', 'msg_1']) });
    assert.deepEqual(shown(steps), ['q1', 'msg_1']);
  });

  test('a turn that ended while the page was on its way stays, and its question is shown once', () => {
    const steps = new ConversationSteps().begin();
    [start(), opened, delta].forEach((event, seq) => void steps.tell(seq, event));
    steps.send({ type: 'historyAsked' });
    steps.tell(3, ended);
    steps.send({ type: 'newestRead', page: page(['q1', 'a1', 'q2'], { open: running }) });
    assert.deepEqual(shown(steps), ['q1', 'a1', TURN_ID]);
    assert.equal(steps.turn().phase, 'completed');
    steps.send({ type: 'historyAsked' });
    steps.send({ type: 'newestRead', page: page(['q1', 'a1', 'q2', 'other']) });
    assert.deepEqual(shown(steps), ['q1', 'a1', 'q2', 'other']);
  });

  test('CLIENT-23: a conversation that goes on and on holds so much, and what was let go is an earlier page', () => {
    const steps = new ConversationSteps();
    const SAID = 240;
    for (let n = 1; n <= SAID; n++) {
      steps.begin(`turn_${n}`);
      [start(`a${n}`), opened, delta, ended].forEach((event, seq) => void steps.tell(seq, event, `turn_${n}`));
    }
    const held = steps.state.turns.length;
    assert.ok(held <= 200 && steps.state.history.hasMore);
    const first = SAID - held + 1;
    assert.equal(oldestMessageId(steps.state.history, steps.state.turns), `a${first}`);
    steps.send({ type: 'earlierRead', page: page([`q${first - 1}`, `a${first - 1}`, `q${first}`]) });
    assert.deepEqual(shown(steps).slice(0, 3), [`q${first - 1}`, `a${first - 1}`, `turn_${first}`]);
  });

  test('pages overlap and are put together, each message once, and none of another conversation', () => {
    const steps = new ConversationSteps({ ...NEW_CONVERSATION, conversationId: 'cnv_1' });
    steps.send({ type: 'newestRead', page: page(['q3', 'a3', 'q4'], { has_more: true }) });
    steps.send({ type: 'earlierRead', page: page(['q0'], { conversation_id: 'cnv_0' }) });
    steps.send({ type: 'earlierRead', page: page(['q1', 'a1', 'q2', 'q3']) });
    assert.deepEqual(shown(steps), ['q1', 'a1', 'q2', 'q3', 'a3', 'q4']);
    steps.send({ type: 'newestRead', page: page(['a3', 'q4', 'a4'], { has_more: true }) });
    assert.deepEqual(shown(steps), ['q1', 'a1', 'q2', 'q3', 'a3', 'q4', 'a4']);
    assert.equal(steps.state.history.hasMore, false);
    steps.send({ type: 'newestRead', page: page(['q9'], { has_more: true }) });
    assert.deepEqual([shown(steps), steps.state.history.hasMore], [['q9'], true]);
  });

  test('a message that waited before the reload waits again, and one without a conversation is sent at once', () => {
    const before = new ConversationSteps();
    before.send({ type: 'send', turnId: TURN_ID, payload: { message: { text: 'x' } }, nowMs: 1 });
    const steps = new ConversationSteps();
    steps.send({ type: 'restored', kept: { turns: before.state.turns, calls: [] } });
    assert.deepEqual(
      steps.of('prepare').map(({ turnId }) => turnId),
      [TURN_ID],
    );
    const sent = new ConversationSteps();
    sent.send({ type: 'restored', kept: { turns: new ConversationSteps().begin().state.turns, calls: [] } });
    assert.deepEqual(
      sent.of('follow').map(({ mode }) => mode),
      ['send'],
    );
  });
});
