import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import { feedTurn } from '../../../../actors/cluster/remote/turn-feed.ts';
import type { FrameSource } from '../../../../actors/frame-source.ts';
import { TurnLog } from '../../../../actors/turns/log.ts';
import { renderEvent, type StreamEvent } from '../../../../protocol/runtime/stream-events.ts';
import { framesOf } from '../../turns/fixture.ts';
import { LinePair } from './lines.ts';

const START: StreamEvent = { type: 'turn.start', conversation_id: 'cnv_1', message_id: 'msg_1', model: 'offline', request_id: 'r' };
const END: StreamEvent = { type: 'turn.end', status: 'completed' };

type Sent = readonly ['frames', nextSeq: number, text: string, ended: boolean];

/** A feed, and what its reader has heard. */
function feedOf(source: FrameSource): { pair: LinePair; sent: Sent[]; errors: string[]; want(...message: unknown[]): void } {
  const pair = new LinePair();
  const sent: Sent[] = [];
  const errors: string[] = [];
  feedTurn(pair.owner, source, { error: (fields: unknown) => void errors.push(String((fields as { err: unknown }).err)) });
  pair.reader.hear({ message: (message) => void sent.push(message as Sent), closed: () => {} });
  const want = (...message: unknown[]) => {
    pair.reader.send(message);
    pair.deliver(1);
  };
  return { pair, sent, errors, want };
}

/** A long journal: each frame is a slice, and reading it again takes no memory. */
function journal(length: number): FrameSource {
  return {
    read: (seq) => ({ text: seq < length ? renderEvent(seq, START) : '', nextSeq: Math.min(seq + 1, length), ended: seq >= length }),
    subscribe: () => () => {},
  };
}

test('CLUSTER-12: a reader is sent what is there, then what comes, from where it asked to; then the end, once', async () => {
  const log = new TurnLog(0, null);
  log.say(START);
  log.sayText(0, 'blk_1', 'Hello');
  const { pair, sent, want } = feedOf(log);
  assert.equal(log.readers, 0, 'nobody has asked yet');
  want('from', 1);
  pair.deliver(9);
  assert.deepEqual(
    sent.map(([, nextSeq, , ended]) => [nextSeq, ended]),
    [[2, false]],
    'at once',
  );
  await nextTick();
  log.sayText(0, 'blk_1', ' there');
  await nextTick();
  log.say(END);
  log.end();
  await nextTick();
  log.flush();
  pair.deliver(9);
  assert.deepEqual(
    sent.map(([, nextSeq, , ended]) => [nextSeq, ended]),
    [
      [2, false],
      [3, false],
      [4, true],
    ],
  );
  assert.deepEqual(
    sent.flatMap(([, , text]) => framesOf(text).map(({ seq, type }) => [seq, type])),
    [
      [1, 'block.delta'],
      [2, 'block.delta'],
      [3, 'turn.end'],
    ],
  );
  assert.deepEqual([pair.isOpen, log.readers], [false, 0]);
});

test('CLUSTER-15: a long journal holds up no other turn, and waits for a reader that does not keep up', async () => {
  const { pair, sent, want } = feedOf(journal(50));
  want('from', 0);
  const told = () => sent.length + pair.owner.queue.length;
  assert.equal(told(), 2, 'two slices');
  await nextTick();
  assert.equal(told(), 4, 'two more');
  for (let ticks = 0; ticks < 5; ticks++) await nextTick();
  assert.equal(pair.owner.queue.length, 4, 'the line is full');
  for (let ticks = 0; pair.isOpen; ticks++) {
    pair.deliver(9);
    await nextTick();
    assert.ok(ticks < 100);
  }
  assert.deepEqual(
    sent.flatMap(([, , text]) => framesOf(text).map(({ seq }) => seq)),
    Array.from({ length: 50 }, (_, seq) => seq),
  );
  assert.deepEqual(sent.at(-1), ['frames', 50, '', true]);
});

test('CLUSTER-14: a line that closes ends its feed, also in the middle of a long journal', async () => {
  const log = new TurnLog(0, null);
  const { pair, want } = feedOf(log);
  want('from', 0);
  assert.equal(log.readers, 1);
  pair.break(0);
  assert.equal(log.readers, 0);
  const { read, subscribe } = journal(50);
  let reads = 0;
  const counted = (...where: Parameters<typeof read>) => {
    reads += 1;
    return read(...where);
  };
  const long = feedOf({ read: counted, subscribe });
  long.want('from', 0);
  const readSoFar = reads;
  assert.ok(readSoFar > 0 && readSoFar < 50, `${readSoFar} slices`);
  long.pair.break(0);
  for (let ticks = 0; ticks < 5; ticks++) await nextTick();
  assert.deepEqual([reads, long.errors], [readSoFar, []]);
});

test('CLUSTER-15: a source that cannot be read ends its own line only', () => {
  const fails = () => {
    throw new Error('the journal cannot be read');
  };
  for (const source of [
    { read: fails, subscribe: () => () => {} },
    { read: fails, subscribe: fails },
  ]) {
    const { pair, errors, want } = feedOf(source);
    want('from', 0);
    assert.deepEqual([pair.isOpen, errors], [false, ['Error: the journal cannot be read']]);
  }
});

test('CLUSTER-15: a feed whose reader takes nothing is a slow reader of the turn, until it does, or is gone', () => {
  const log = new TurnLog(0, null);
  const lags: boolean[] = [];
  log.turn = { readersLag: (isLagging) => void lags.push(isLagging), share: { lateMs: 0, isRead: true } };
  const { pair, want } = feedOf(log);
  want('from', 0);
  want('slow', true);
  want('slow', false);
  want('slow', true);
  assert.deepEqual(lags, [true, false, true]);
  pair.break(0);
  assert.deepEqual(lags, [true, false, true, false]);
});
