import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import { journalEvent, TurnLog } from '../../../actors/turns/log.ts';
import type { Block } from '../../../protocol/catalog/block.ts';
import { renderEvent, type StreamEvent } from '../../../protocol/runtime/stream-events.ts';
import { Fixture, framesOf, Rows, readOn } from './fixture.ts';

const EVERYTHING = Number.MAX_SAFE_INTEGER;
/** More text than a log keeps in memory once it is committed. */
const MUCH_TEXT = 'x'.repeat(140_000);

const START: StreamEvent = { type: 'turn.start', conversation_id: 'cnv_1', message_id: 'msg_1', model: 'offline', request_id: 'r' };
const END: StreamEvent = { type: 'turn.end', status: 'completed' };
const PING: StreamEvent = { type: 'ping' };

test('STREAM-3: seq starts where it is told and rises by one with every event', () => {
  const log = new TurnLog(7, null);
  log.say(START);
  log.sayText(0, 'blk_1', 'Hello');
  log.say(PING);
  log.sayText(0, 'blk_1', ' there');
  log.say(END);
  const { frames, nextSeq } = readOn(log, 7, EVERYTHING);
  assert.deepEqual(
    frames.map((frame) => [frame.seq, frame.type]),
    [
      [7, 'turn.start'],
      [8, 'block.delta'],
      [9, 'ping'],
      [10, 'block.delta'],
      [11, 'turn.end'],
    ],
  );
  assert.equal(nextSeq, 12);
  assert.equal(log.nextSeq, 12);
});

test('STREAM-14: text of one loop tick is one event, text of the next is another', async () => {
  const log = new TurnLog(0, null);
  for (const word of ['one ', 'and ', 'the same']) log.sayText(3, 'blk_1', word);
  await nextTick();
  log.sayText(3, 'blk_1', ', next');
  await nextTick();
  const deltas = readOn(log, 0, EVERYTHING).frames.map(({ seq, type, data }) => [seq, type, data.index, data.text_delta]);
  assert.deepEqual(deltas, [
    [0, 'block.delta', 3, 'one and the same'],
    [1, 'block.delta', 3, ', next'],
  ]);
});

test('STREAM-14: another block or another event in the same tick ends the delta', () => {
  const log = new TurnLog(0, null);
  log.sayText(0, 'blk_1', 'first');
  log.sayText(1, 'blk_2', 'second');
  log.say(PING);
  log.sayText(1, 'blk_2', 'third');
  assert.deepEqual(
    readOn(log, 0, EVERYTHING).frames.map(({ type, data }) => [type, data.index, data.text_delta]),
    [
      ['block.delta', 0, 'first'],
      ['block.delta', 1, 'second'],
      ['ping', undefined, undefined],
      ['block.delta', 1, 'third'],
    ],
  );
});

test('STREAM-17: a reader is woken once a tick however much was said, and never after it unsubscribed', async () => {
  const log = new TurnLog(0, null);
  const woken = { first: 0, second: 0 };
  const stopFirst = log.subscribe(() => {
    woken.first += 1;
  });
  log.subscribe(() => {
    woken.second += 1;
  });
  assert.equal(log.readers, 2);
  log.say(START);
  log.sayText(0, 'blk_1', 'a');
  log.sayText(0, 'blk_1', 'b');
  assert.deepEqual(woken, { first: 0, second: 0 });
  await nextTick();
  assert.deepEqual(woken, { first: 1, second: 1 });
  stopFirst();
  stopFirst();
  assert.equal(log.readers, 1);
  log.end();
  await nextTick();
  assert.deepEqual(woken, { first: 1, second: 2 });
});

test('STREAM-20: a reader that leaves while others are being woken is not woken itself', async () => {
  const log = new TurnLog(0, null);
  const woken: string[] = [];
  log.subscribe(() => {
    woken.push('first');
    leave();
  });
  const leave = log.subscribe(() => woken.push('second'));
  log.say(PING);
  await nextTick();
  assert.deepEqual(woken, ['first']);
});

test('STREAM-17: what a woken reader says wakes everyone again in the next tick', async () => {
  const log = new TurnLog(0, null);
  let wakes = 0;
  log.subscribe(() => {
    wakes += 1;
    if (wakes === 1) log.say(PING);
  });
  log.say(PING);
  await nextTick();
  await nextTick();
  assert.equal(wakes, 2);
  assert.equal(readOn(log, 0, EVERYTHING).frames.length, 2);
});

test('STREAM-17: a slice holds at least one frame and stops once it has maxChars', () => {
  const log = new TurnLog(0, null);
  for (let k = 0; k < 5; k++) log.say(START);
  const frame = renderEvent(0, START).length;
  assert.equal(framesOf(log.read(0, 1).text).length, 1);
  assert.equal(framesOf(log.read(0, frame).text).length, 1);
  assert.equal(framesOf(log.read(0, frame + 1).text).length, 2);
  assert.equal(log.read(0, frame + 1).nextSeq, 2);
});

test('STREAM-7: ended is told with the last frame and not before, also when the last frame is a delta', () => {
  for (const last of ['event', 'delta'] as const) {
    const log = new TurnLog(0, null);
    log.say(START);
    if (last === 'event') log.say(END);
    else log.sayText(0, 'blk_1', 'bye');
    assert.equal(log.read(0, EVERYTHING).ended, false, 'not ended yet');
    log.end();
    assert.equal(log.read(0, 1).ended, false, 'a frame is left');
    assert.deepEqual({ ...log.read(1, 1), text: '' }, { text: '', nextSeq: 2, ended: true });
    assert.deepEqual(log.read(2, EVERYTHING), { text: '', nextSeq: 2, ended: true });
    assert.deepEqual(log.read(99, EVERYTHING), { text: '', nextSeq: 99, ended: true }, 'Last-Event-ID past the end');
  }
});

test('STREAM-8: text that is not an event yet when the turn ends is still told', () => {
  const log = new TurnLog(0, null);
  log.sayText(0, 'blk_1', 'last words');
  log.end();
  const { frames, ended } = readOn(log, 0, EVERYTHING);
  assert.equal(frames[0]?.data.text_delta, 'last words');
  assert.equal(ended, true);
});

test('STREAM-4: a log without older events starts a reader at its first', () => {
  const log = new TurnLog(5, null);
  log.say(START);
  assert.deepEqual(
    readOn(log, 0, EVERYTHING).frames.map((frame) => frame.seq),
    [5],
  );
});

test('STREAM-10: a commit takes what was said since the last one, deltas as their ends, without pings', () => {
  const log = new TurnLog(0, null);
  log.say(START);
  log.sayText(0, 'blk_1', 'Hello');
  log.flush();
  log.sayText(0, 'blk_1', ', you');
  assert.deepEqual(log.unjournalled(), [
    { seq: 0, event: START },
    { seq: 1, deltas: 'blk_1', index: 0, from: 0, ends: [5, 10] },
  ]);
  log.journalledUpTo(3);
  log.say(PING);
  log.sayText(0, 'blk_1', '!');
  assert.deepEqual(log.unjournalled(), [{ seq: 4, deltas: 'blk_1', index: 0, from: 10, ends: [11] }]);
  log.journalledUpTo(log.nextSeq);
  assert.deepEqual(log.unjournalled(), []);
});

test('STREAM-10: a commit in the middle of a run of deltas divides it where it was committed', () => {
  const log = new TurnLog(0, null);
  for (const word of ['ab', 'cd', 'ef']) {
    log.sayText(2, 'blk_1', word);
    log.flush();
  }
  log.journalledUpTo(2);
  assert.deepEqual(log.unjournalled(), [{ seq: 2, deltas: 'blk_1', index: 2, from: 4, ends: [6] }]);
});

test('STREAM-10: a finished block is kept by its id', () => {
  const block: Block = { index: 4, id: 'blk_9', block_type: 'text', revision: 1, body: { md: 'Hello' } };
  assert.deepEqual(journalEvent(3, { type: 'block.ready', index: 4, block }), { seq: 3, ready: 'blk_9', index: 4 });
  assert.deepEqual(journalEvent(3, END), { seq: 3, event: END });
});

test('STREAM-4, STREAM-10: committed text beyond what is retained is served by the older source, and uncommitted text never is', () => {
  const rows = new Rows();
  const log = new TurnLog(0, rows);
  const fixture = new Fixture(log, rows);
  fixture.text(MUCH_TEXT);
  assert.equal(readOn(log, 0, EVERYTHING).frames.length, 1);
  assert.equal(rows.reads, 0, 'not committed: read from memory');
  fixture.beginCommit();
  fixture.finishCommit();
  fixture.text('more');
  assert.deepEqual(
    readOn(log, 0, EVERYTHING).frames.map((frame) => (frame.data.text_delta as string).length),
    [MUCH_TEXT.length, 4],
  );
  assert.ok(rows.reads > 0, 'committed: read from the rows');
});

test('STREAM-4: a log without older events keeps everything', () => {
  const log = new TurnLog(0, null);
  log.sayText(0, 'blk_1', MUCH_TEXT);
  log.journalledUpTo(log.nextSeq);
  assert.equal(readOn(log, 0, EVERYTHING).frames.length, 1);
});
