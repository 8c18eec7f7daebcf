import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import fc from 'fast-check';
import type { RemoteTurnOptions } from '../../../../actors/cluster/remote/remote-turn.ts';
import { TurnLog } from '../../../../actors/turns/log.ts';
import type { Connection } from '../../../../storage/sqlite/connection.ts';
import { framesOf } from '../../turns/desk.ts';
import { OwnedTurn, type Rows, rowsOfApp, tick } from './remote-desk.ts';
import { EVERYTHING, Reader, World } from './remote-world.ts';

type Act =
  | { readonly do: 'text'; readonly delta: string; readonly times: number }
  | { readonly do: 'ping' | 'beginCommit' | 'finishCommit' | 'commit' | 'tick' | 'cut' | 'loseAnswer' | 'resound' | 'interrupted' }
  | { readonly do: 'mend'; readonly side: 'owner' | 'reader' }
  | { readonly do: 'deliver'; readonly count: number; readonly times: number }
  | { readonly do: 'lose'; readonly count: number }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'join'; readonly from: number }
  | { readonly do: 'read'; readonly reader: number; readonly maxChars: number };

const only = <T extends Act['do']>(...names: readonly T[]) => fc.record({ do: fc.constantFrom(...names) });
const delta = fc.record({
  do: fc.constant('text' as const),
  delta: fc.string({ unit: fc.constantFrom('a', '"', '\n', 'id: 7\n', '\ud83d', '\ude00', '⟦email_1⟧'), minLength: 1, maxLength: 8 }),
  // Now and then so much that what is committed leaves memory.
  times: fc.oneof({ weight: 24, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.constant(10_000) }),
});
const speaking: fc.Arbitrary<Act> = fc.oneof({ weight: 4, arbitrary: delta }, { weight: 1, arbitrary: only('ping', 'commit') });
const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 8, arbitrary: delta },
  { weight: 2, arbitrary: only('ping') },
  { weight: 4, arbitrary: only('beginCommit', 'finishCommit') },
  { weight: 8, arbitrary: only('tick') },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('deliver' as const), count: fc.integer({ min: 1, max: 9 }), times: fc.constantFrom(1, 1, 2) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('lose' as const), count: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 1, arbitrary: only('cut', 'loseAnswer', 'resound', 'interrupted') },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('mend' as const), side: fc.constantFrom('owner' as const, 'reader' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(1, 100, 250, 1_000, 5_000, 25_000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('join' as const), from: fc.nat({ max: 30 }) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('read' as const),
      reader: fc.nat({ max: 5 }),
      maxChars: fc.oneof(fc.integer({ min: 1, max: 600 }), fc.constant(16_384), fc.constant(EVERYTHING)),
    }),
  },
);

function speak(turn: OwnedTurn, act: Act): void {
  if (act.do === 'text') turn.text(act.delta.repeat(act.times));
  else if (act.do === 'ping') turn.ping();
  else if (act.do === 'beginCommit') turn.beginCommit();
  else if (act.do === 'finishCommit') turn.finishCommit();
  else if (act.do === 'commit') {
    turn.beginCommit();
    turn.finishCommit();
  }
}

async function perform(act: Act, world: World, readers: Reader[]): Promise<void> {
  if (act.do === 'tick') await tick();
  else if (act.do === 'deliver') world.deliver(act.count, act.times);
  else if (act.do === 'lose') world.queue.splice(0, act.count);
  else if (act.do === 'cut') world.cut();
  else if (act.do === 'mend') world.mend(act.side);
  else if (act.do === 'loseAnswer') world.answersLost += 1;
  else if (act.do === 'resound') world.feeds.resound();
  else if (act.do === 'interrupted') world.remote.interrupted();
  else if (act.do === 'pass') await world.clock.pass(act.ms);
  else if (act.do === 'join') readers.push(new Reader(world.remote, act.from));
  else if (act.do === 'read') readers[act.reader % readers.length]?.read(act.maxChars);
  else if (world.isAlive) speak(world.turn, act);
}

const endings = fc.constantFrom('completes', 'completes', 'abandons', 'dies', 'dies in a commit', 'dies without being seen');

async function end(world: World, how: string): Promise<void> {
  const { turn } = world;
  turn.finishCommit();
  if (how === 'abandons') turn.abandon();
  else if (how === 'completes') {
    turn.beginCommit(true);
    turn.finishCommit();
  } else {
    if (how === 'dies in a commit') turn.beginCommit(true);
    world.die();
    // What was on its way may come before the death is noticed, or not at all.
    if (how !== 'dies without being seen') world.remote.ownerLost();
    else turn.recover();
  }
}

/** What a reader got is what was said from where it began: all of it, or as far as anybody heard it before it was interrupted. */
function check(reader: Reader, { turn }: World): void {
  const kept = ([, text]: [number, string]) => !text.includes('\nevent: ping\n');
  const got = [...reader.frames].filter(kept);
  const said = [...turn.said].filter(kept).filter(([seq]) => seq >= reader.from);
  const recovered = got.filter(([seq]) => seq >= 1_000_000);
  const before = got.slice(0, got.length - recovered.length);
  assert.deepEqual(before, said.slice(0, before.length), `from ${reader.from}`);
  for (const [seq, text] of reader.frames) if (seq < 1_000_000) assert.equal(text, turn.said.get(seq));
  if (recovered.length === 0) assert.equal(before.length, said.length, 'all of it');
  else {
    assert.deepEqual(
      recovered.map(([seq, text]) => [seq, framesOf(text)[0]?.type]),
      [
        [1_000_000, 'error'],
        [1_000_001, 'turn.end'],
      ],
    );
    const stored = said.filter(([seq]) => seq < turn.committedSeq);
    assert.ok(before.length >= stored.length, 'nothing that is committed is missing');
  }
}

async function play(
  rows: Rows,
  preamble: readonly Act[],
  script: readonly Act[],
  how: string,
  failures: number,
  pace: number,
): Promise<void> {
  const turn = new OwnedTurn(rows);
  for (const act of preamble) speak(turn, act);
  const world = new World(turn);
  world.takeOverFailures = failures;
  const readers = [new Reader(world.remote, 0)];
  for (const act of script) await perform(act, world, readers);
  await end(world, how);
  world.mend('reader');
  for (let round = 0; round < 60 && readers.some((reader) => !reader.ended); round++) {
    await world.settle(1_000);
    for (const reader of readers) reader.readAll(pace);
  }
  for (const reader of readers) {
    assert.equal(reader.ended, true, 'the stream ends');
    check(reader, world);
    assert.equal(world.left, 0);
  }
  for (const reader of readers) reader.leave();
  await world.clock.pass(5_000);
  assert.deepEqual([world.left, world.feeds.count, world.clock.waiting, world.warnings], [1, 0, 0, []]);
}

test('CLUSTER-12: whatever is lost on the way, a reader on another node gets every event once and in order, and the end', async (t) => {
  const rows = rowsOfApp(t);
  await fc.assert(
    fc.asyncProperty(
      fc.array(speaking, { maxLength: 6 }),
      fc.array(acts, { minLength: 10, maxLength: 60, size: 'max' }),
      endings,
      fc.nat({ max: 4 }),
      fc.integer({ min: 100, max: 4_000 }),
      (preamble, script, how, failures, pace) => play(rows, preamble, script, how, failures, pace),
    ),
    { numRuns: 60 },
  );
});

/** A turn with two committed blocks, and a reader from 0 who has read what there was. */
async function following(
  t: TestContext,
  options: Partial<RemoteTurnOptions> = {},
): Promise<{ world: World; turn: OwnedTurn; reader: Reader }> {
  const turn = new OwnedTurn(rowsOfApp(t));
  commitBlock(turn, 'first');
  const world = new World(turn, options);
  const reader = new Reader(world.remote, 0);
  commitBlock(turn, 'second');
  await arrive(world);
  reader.readAll();
  assert.deepEqual(reader.types, ['turn.start', 'block.delta', 'block.ready', 'block.delta', 'block.ready']);
  assert.deepEqual([world.asked, reader.wakes], [[], 1]);
  return { world, turn, reader };
}

function commitBlock(turn: OwnedTurn, text: string): void {
  turn.text(text);
  turn.beginCommit();
  turn.finishCommit();
}

/** What was said is told and arrives; no time passes. */
async function arrive(world: World): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await tick();
    world.deliver(world.queue.length);
  }
  await tick();
}

/** What the reader got last. */
function newest(reader: Reader, count: number): string[] {
  reader.readAll();
  return reader.types.slice(-count);
}

test('CLUSTER-12: a gap is noticed with the next frame, and what is missing is told again at once', async (t) => {
  const { world, turn, reader } = await following(t);
  turn.text('lost');
  await tick();
  world.queue.length = 0;
  turn.text('heard');
  await arrive(world);
  reader.readAll();
  assert.deepEqual([...reader.frames.keys()], [0, 1, 2, 3, 4, 5, 6]);
  assert.deepEqual(world.asked, [5]);
});

test('CLUSTER-14: a channel that keeps losing is not asked more than four times a second', async (t) => {
  const { world, turn, reader } = await following(t);
  for (let n = 0; n < 5; n++) {
    turn.text('lost');
    await tick();
    world.queue.length = 0;
    turn.text('told');
    await tick();
    world.deliver(1);
    await tick();
    world.queue.length = 0;
  }
  assert.equal(world.asked.length, 1);
  await world.clock.pass(249);
  assert.equal(world.asked.length, 1);
  await world.clock.pass(1);
  assert.equal(world.asked.length, 2);
  await arrive(world);
  reader.readAll();
  assert.equal(reader.frames.size, turn.said.size);
});

test('CLUSTER-13: a reader that lost Redis without notice gets what is committed within a second, and the end', async (t) => {
  const { world, turn, reader } = await following(t);
  world.cut();
  commitBlock(turn, 'third');
  await world.clock.pass(1_000);
  assert.deepEqual(newest(reader, 2), ['block.delta', 'block.ready']);
  assert.equal(reader.frames.size, 7);
  turn.beginCommit(true);
  await world.clock.pass(1_000);
  assert.deepEqual(newest(reader, 2), ['block.ready', 'turn.end']);
  assert.equal(reader.ended, true);
});

test('CLUSTER-14: while the owner cannot be asked it is tried again after 250 ms, then once a second', async (t) => {
  const { world } = await following(t);
  world.cut();
  world.remote.interrupted();
  const times: number[] = [];
  for (let ms = 0; ms < 3_300; ms += 50) {
    while (times.length < world.asked.length) times.push(ms);
    await world.clock.pass(50);
  }
  assert.deepEqual(times, [0, 250, 1_250, 2_250, 3_250]);
});

test('CLUSTER-12: what is lost while the owner is asked is asked for again', async (t) => {
  const { world } = await following(t);
  world.remote.interrupted();
  world.remote.interrupted();
  await arrive(world);
  assert.equal(world.asked.length, 2);
});

test('CLUSTER-12: a turn that ends while its owner is asked has ended for its readers', async (t) => {
  const { world, turn, reader } = await following(t);
  world.feeds.drop('reader', 1);
  world.remote.interrupted();
  turn.beginCommit(true);
  turn.finishCommit();
  await arrive(world);
  assert.deepEqual(newest(reader, 1), ['turn.end']);
  assert.equal(reader.ended, true);
});

test('CLUSTER-13: rows that have more than was told say that something was lost, so the owner is asked', async (t) => {
  const { world, turn, reader } = await following(t);
  commitBlock(turn, 'lost');
  turn.text('lost too');
  await tick();
  world.queue.length = 0;
  await world.clock.pass(1_000);
  await arrive(world);
  reader.readAll();
  assert.equal(reader.frames.size, turn.said.size);
  assert.deepEqual(world.asked, [7]);
});

test('CLUSTER-13: an owner that was cut off says where it stands, and readers ask for what they missed', async (t) => {
  const { world, turn, reader } = await following(t);
  world.cut();
  turn.text('lost');
  await tick();
  world.mend('owner');
  await arrive(world);
  assert.deepEqual(newest(reader, 1), ['block.delta']);
  assert.deepEqual(world.asked, [5]);
});

test('CLUSTER-14: an owner that says nothing for 20 s, or a reader that stood still for 3 s, leads to asking', async (t) => {
  const { world } = await following(t);
  await world.clock.pass(19_999);
  assert.equal(world.asked.length, 0);
  await world.clock.pass(1_001);
  assert.equal(world.asked.length, 1);
  await world.clock.pass(500);
  // The clock jumps over what was due.
  world.clock.nowMs += 4_000;
  await world.clock.pass(1_000);
  assert.equal(world.asked.length, 2);
});

test('CLUSTER-6: an owner that no longer runs the turn is asked twice before the turn is taken over', async (t) => {
  const { world, turn, reader } = await following(t);
  world.cut();
  turn.abandon();
  await tick();
  world.mend('reader');
  await arrive(world);
  assert.deepEqual([world.asked.length, world.takeOvers], [1, 0]);
  await world.clock.pass(250);
  await arrive(world);
  assert.deepEqual([world.asked.length, world.takeOvers], [2, 1]);
  assert.deepEqual(newest(reader, 2), ['error', 'turn.end']);
  assert.deepEqual([...reader.frames.keys()].slice(-2), [1_000_000, 1_000_001]);
});

test('CLUSTER-6: when nobody can take the turn over the stream ends with an error to try again after', async (t) => {
  const { world, turn, reader } = await following(t);
  turn.text('unheard');
  world.die();
  world.takeOverFailures = EVERYTHING;
  world.remote.ownerLost();
  await world.clock.pass(3_749);
  assert.equal(newest(reader, 1)[0], 'block.ready');
  await world.clock.pass(1);
  assert.deepEqual(newest(reader, 2), ['error', 'turn.end']);
  assert.match(reader.frames.get(5) ?? '', /"code":"internal".*"retryable":true/);
  assert.deepEqual([reader.ended, world.takeOvers, world.warnings.length], [true, 5, 1]);
});

test('CLUSTER-6: what a lost owner says does not count', async (t) => {
  const { world, turn, reader } = await following(t);
  turn.text('said by a node that was fenced');
  await tick();
  world.remote.ownerLost();
  await arrive(world);
  assert.deepEqual(newest(reader, 2), ['error', 'turn.end']);
  assert.equal(reader.frames.has(5), false);
});

for (const found of ['in the row', 'by taking over'] as const) {
  test(`CLUSTER-6: a stream ends with its attempt when another one was begun meanwhile, found ${found}`, async (t) => {
    const { world, turn, reader } = await following(t);
    world.die();
    turn.text('unheard');
    turn.recover();
    turn.retry();
    commitBlock(turn, 'of the next attempt');
    if (found === 'by taking over') {
      world.remote.ownerLost();
      await arrive(world);
    } else await world.clock.pass(1_000);
    assert.deepEqual(newest(reader, 2), ['error', 'turn.end']);
    assert.deepEqual([reader.ended, [...reader.frames.keys()].at(-1)], [true, 1_000_001]);
    const late = new Reader(world.remote, 5);
    late.readAll(1);
    assert.deepEqual([[...late.frames.keys()], late.ended], [[1_000_000, 1_000_001], true]);
  });
}

test('CLUSTER-12: a turn that goes on elsewhere is read on from there, and left there with its last reader', async (t) => {
  const successor = new TurnLog(5, null);
  const { world, turn, reader } = await following(t, { takeOver: async () => ({ source: successor, fromSeq: 0 }) });
  world.die();
  world.remote.ownerLost();
  await tick();
  assert.equal(successor.readers, 1);
  const wakes = reader.wakes;
  successor.say({ type: 'turn.end', status: 'completed' });
  successor.end();
  await tick();
  assert.ok(reader.wakes > wakes);
  assert.deepEqual(newest(reader, 2), ['block.ready', 'turn.end']);
  assert.equal(reader.ended, true);
  reader.leave();
  assert.deepEqual([successor.readers, world.left, turn.ended], [0, 1, false]);
});

test('CLUSTER-15: committed text beyond 128 KB leaves memory, and is read from rows by who comes back for it', async (t) => {
  const { world, turn } = await following(t);
  turn.ping();
  commitBlock(turn, 'third');
  await arrive(world);
  const pings = () => {
    const reader = new Reader(world.remote, 0);
    reader.readAll(16_384);
    const size = reader.frames.size;
    assert.equal([...reader.frames.values()].join('').includes('x'.repeat(100)), turn.said.size > 8);
    return { pings: reader.types.filter((type) => type === 'ping').length, size };
  };
  // Rows do not keep pings, so whoever hears one was served from memory.
  assert.deepEqual(pings(), { pings: 1, size: 8 });
  turn.text('x'.repeat(140_000));
  await arrive(world);
  assert.equal(pings().pings, 0, 'what was committed left');
  assert.equal(pings().size, 8, 'what is not committed is here');
});

test('CLUSTER-15: a slice is about as long as was asked for, whatever was told together, and has at least one frame', async (t) => {
  const { world, turn } = await following(t);
  for (let n = 0; n < 20; n++) {
    turn.text('ten chars.');
    turn.ping();
  }
  await arrive(world);
  const frameChars = turn.said.get(5)?.length ?? 0;
  for (const maxChars of [1, frameChars, 3 * frameChars, 16_384]) {
    let { text, nextSeq } = world.remote.read(5, maxChars);
    let all = text;
    for (; text !== ''; all += text) {
      assert.ok(text.length > 0 && text.length < maxChars + frameChars + 10, `${text.length} of ${maxChars}`);
      ({ text, nextSeq } = world.remote.read(nextSeq, maxChars));
    }
    assert.equal(all, [...turn.said].flatMap(([seq, said]) => (seq < 5 ? [] : [said])).join(''));
  }
});

test('CLUSTER-14: several messages within a tick wake a reader once; the last reader that leaves ends the following', async (t) => {
  const { world, turn, reader } = await following(t);
  const other = new Reader(world.remote, 2);
  for (const text of ['a', 'b', 'c']) {
    turn.text(text);
    turn.log.flush();
  }
  assert.equal(world.queue.length, 3);
  world.deliver(3);
  await tick();
  assert.deepEqual([reader.wakes, other.wakes], [2, 1]);
  other.leave();
  other.leave();
  assert.equal(world.left, 0);
  reader.leave();
  reader.leave();
  assert.deepEqual([world.left, world.feeds.count, world.clock.waiting], [1, 0, 0]);
});

test('CLUSTER-14: a stream that nobody came to read is left after 10 s', async (t) => {
  const world = new World(new OwnedTurn(rowsOfApp(t)));
  await world.clock.pass(9_999);
  assert.equal(world.left, 0);
  await world.clock.pass(1_001);
  assert.deepEqual([world.left, world.clock.waiting], [1, 0]);
  // It would wait for ever: its client is told to try again.
  const late = new Reader(world.remote, 0);
  assert.deepEqual(newest(late, 3), ['turn.start', 'error', 'turn.end']);
  assert.deepEqual([late.ended, world.left], [true, 1]);
});

test('CLUSTER-13: rows that cannot be read at the moment are read later; a turn that is gone from them ends with an error', async (t) => {
  const rows = rowsOfApp(t);
  let isBroken = false;
  const shaky: Connection = {
    path: rows.db.path,
    statement: (sql) => {
      if (isBroken) throw new Error('database is locked');
      return rows.db.statement(sql);
    },
    tuples: (sql) => {
      if (isBroken) throw new Error('database is locked');
      return rows.db.tuples(sql);
    },
    exec: () => {},
    close: () => {},
  };
  const turn = new OwnedTurn(rows);
  const world = new World(turn, { db: shaky });
  const reader = new Reader(world.remote, 0);
  world.cut();
  commitBlock(turn, 'first');
  isBroken = true;
  await world.clock.pass(1_000);
  assert.equal(world.warnings.length, 1);
  isBroken = false;
  await world.clock.pass(1_000);
  assert.deepEqual(newest(reader, 3), ['turn.start', 'block.delta', 'block.ready']);
  for (const table of ['turn_journal', 'blocks', 'turns']) rows.writer.exec(`DELETE FROM ${table}`);
  await world.clock.pass(1_000);
  assert.deepEqual(newest(reader, 2), ['error', 'turn.end']);
  assert.deepEqual([reader.ended, world.warnings.length], [true, 2]);
});

test('CLUSTER-15: readers on another node that take nothing make the model wait, also after the owner was asked to tell again', async (t) => {
  const turn = new OwnedTurn(rowsOfApp(t));
  const lags: boolean[] = [];
  turn.log.onLag = (isLagging) => void lags.push(isLagging);
  const world = new World(turn);
  const readers = [new Reader(world.remote, 0), new Reader(world.remote, 0)] as const;
  world.remote.slow(readers[0], true);
  assert.deepEqual(lags, [], 'the other one reads');
  world.remote.slow(readers[1], true);
  assert.deepEqual(lags, [true]);
  world.remote.interrupted();
  await world.clock.pass(1_000);
  assert.deepEqual(lags, [true, false, true]);
  world.remote.slow(readers[0], false);
  assert.deepEqual(lags, [true, false, true, false]);
});
