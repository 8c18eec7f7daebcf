import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Tells } from '../../../../actors/cluster/bus/messages.ts';
import { TurnFeeds } from '../../../../actors/cluster/remote/turn-feed.ts';
import type { FrameSource } from '../../../../actors/frame-source.ts';
import { TurnLog } from '../../../../actors/turns/log.ts';
import { Refusal } from '../../../../protocol/errors.ts';
import { renderEvent, type StreamEvent } from '../../../../protocol/runtime/stream-events.ts';
import { framesOf } from '../../turns/desk.ts';

const START: StreamEvent = { type: 'turn.start', conversation_id: 'cnv_1', message_id: 'msg_1', model: 'offline', request_id: 'r' };
const END: StreamEvent = { type: 'turn.end', status: 'completed' };

type Told = Tells['frames'] & { readonly reader: string };

function feedsOf(): { feeds: TurnFeeds; told: Told[]; errors: unknown[] } {
  const told: Told[] = [];
  const errors: unknown[] = [];
  const feeds = new TurnFeeds({
    tell: (reader, frames) => void told.push({ reader, ...frames }),
    log: { error: (fields: object) => void errors.push((fields as { err: unknown }).err) },
  });
  return { feeds, told, errors };
}

/** A long journal: each frame is larger than a slice, and reading it again takes no memory. */
function journal(length: number): FrameSource {
  return {
    read: (seq) => ({ text: seq < length ? renderEvent(seq, START) : '', nextSeq: Math.min(seq + 1, length), ended: seq >= length }),
    subscribe: () => () => {},
  };
}

function broken(): FrameSource {
  return {
    read() {
      throw new Error('the journal cannot be read');
    },
    subscribe: () => () => {},
  };
}

test('CLUSTER-12: a reader is told what is there, then what comes, from where it asked to; then the end, once', async () => {
  const { feeds, told } = feedsOf();
  const log = new TurnLog(0, null);
  log.say(START);
  log.sayText(0, 'blk_1', 'Hello');
  feeds.feed('b', 7, log, 1);
  assert.deepEqual(
    told.map(({ reader, stream, seq, nextSeq, ended }) => [reader, stream, seq, nextSeq, ended]),
    [['b', 7, 1, 2, false]],
    'at once',
  );
  await nextTick();
  log.sayText(0, 'blk_1', ' there');
  await nextTick();
  log.say(END);
  log.end();
  await nextTick();
  log.flush();
  assert.deepEqual(
    told.map(({ seq, nextSeq, ended }) => [seq, nextSeq, ended]),
    [
      [1, 2, false],
      [2, 3, false],
      [3, 4, true],
    ],
  );
  assert.deepEqual(
    told.flatMap(({ text }) => framesOf(text).map(({ seq, type }) => [seq, type])),
    [
      [1, 'block.delta'],
      [2, 'block.delta'],
      [3, 'turn.end'],
    ],
  );
  assert.deepEqual([feeds.count, log.readers], [0, 0]);
});

test('CLUSTER-15: a long journal does not hold up other turns', async () => {
  const { feeds, told } = feedsOf();
  feeds.feed('b', 1, journal(50), 0);
  feeds.feed('b', 2, journal(50), 0);
  assert.equal(told.length, 4, 'two slices of each');
  for (let ticks = 0; feeds.count > 0; ticks++) {
    const before = told.length;
    await nextTick();
    assert.ok(told.length - before <= 4);
    assert.ok(ticks < 100);
  }
  for (const stream of [1, 2]) {
    const mine = told.filter((frames) => frames.stream === stream);
    assert.deepEqual(
      mine.map(({ seq }) => seq),
      Array.from({ length: 51 }, (_, seq) => seq),
    );
    assert.deepEqual(mine.at(-1), { reader: 'b', stream, seq: 50, nextSeq: 50, text: '', ended: true });
  }
});

test('CLUSTER-12: asking again for a stream replaces what was told for it', async () => {
  const { feeds, told } = feedsOf();
  const log = new TurnLog(0, null);
  for (let n = 0; n < 3; n++) log.say(START);
  feeds.feed('b', 1, log, 3);
  feeds.feed('b', 1, log, 1);
  log.say(END);
  await nextTick();
  assert.deepEqual(
    told.map(({ seq, nextSeq }) => [seq, nextSeq]),
    [
      [1, 3],
      [3, 4],
    ],
  );
  assert.deepEqual([feeds.count, log.readers], [1, 1]);
});

test('CLUSTER-14: a stream that nobody reads, a node that is lost, and a service that closes are told nothing more', async () => {
  const { feeds, told } = feedsOf();
  const log = new TurnLog(0, null);
  for (const [reader, stream] of [
    ['b', 1],
    ['b', 2],
    ['b', 3],
    ['c', 1],
    ['d', 1],
  ] as const)
    feeds.feed(reader, stream, log, 0);
  feeds.drop('b', 1);
  feeds.drop('b', 1);
  feeds.drop('c', 2);
  assert.deepEqual([feeds.count, log.readers], [4, 4]);
  feeds.dropNode('b');
  feeds.dropNode('nobody');
  log.say(START);
  await nextTick();
  assert.deepEqual(
    told.map(({ reader }) => reader),
    ['c', 'd'],
  );
  feeds.close();
  assert.deepEqual([feeds.count, log.readers], [0, 0]);
});

test('CLUSTER-15: a stream that is dropped in the middle of a long journal is told no more of it', async () => {
  const { feeds, told } = feedsOf();
  feeds.feed('b', 1, journal(50), 0);
  feeds.drop('b', 1);
  const before = told.length;
  await nextTick();
  assert.equal(told.length, before);
});

test('CLUSTER-15: a source that cannot be read ends its own feed only', async () => {
  const { feeds, told, errors } = feedsOf();
  const log = new TurnLog(0, null);
  feeds.feed('b', 1, log, 0);
  feeds.feed('b', 2, broken(), 0);
  log.say(START);
  await nextTick();
  assert.deepEqual(
    told.map(({ stream }) => stream),
    [1],
  );
  assert.deepEqual([feeds.count, errors.map(String)], [1, ['Error: the journal cannot be read']]);
});

test('CLUSTER-13: a node that was cut off tells each reader where its stream stands, and nothing else', () => {
  const { feeds, told } = feedsOf();
  const log = new TurnLog(0, null);
  log.say(START);
  feeds.feed('b', 1, log, 0);
  feeds.feed('c', 4, log, 1);
  told.length = 0;
  feeds.resound();
  assert.deepEqual(told, [
    { reader: 'b', stream: 1, seq: 1, nextSeq: 1, text: '', ended: false },
    { reader: 'c', stream: 4, seq: 1, nextSeq: 1, text: '', ended: false },
  ]);
});

test('CLUSTER-15: a node that follows 10,000 turns is refused one more, and told so; other nodes are not', () => {
  const { feeds } = feedsOf();
  const log = new TurnLog(0, null);
  for (let stream = 1; stream <= 10_000; stream++) feeds.feed('b', stream, log, 0);
  assert.throws(
    () => feeds.feed('b', 10_001, log, 0),
    (error) => error instanceof Refusal && error.code === 'rate_limited' && error.message.includes('10000'),
  );
  feeds.feed('b', 10_000, log, 0);
  feeds.feed('c', 1, log, 0);
  assert.equal(feeds.count, 10_001);
});

test('CLUSTER-15: a feed whose readers take nothing is a slow reader of the turn, until they do, or it is dropped', () => {
  const { feeds } = feedsOf();
  const log = new TurnLog(0, null);
  const lags: boolean[] = [];
  log.onLag = (isLagging) => void lags.push(isLagging);
  feeds.feed('b', 7, log, 0);
  feeds.lag('b', 8, true);
  assert.deepEqual(lags, [], 'another stream');
  feeds.lag('b', 7, true);
  feeds.lag('b', 7, false);
  feeds.lag('b', 7, true);
  // It is asked for anew, and drops the feed before.
  feeds.feed('b', 7, log, 0);
  assert.deepEqual(lags, [true, false, true, false]);
  feeds.lag('b', 7, true);
  feeds.dropNode('b');
  assert.deepEqual(lags.slice(4), [true, false]);
});
