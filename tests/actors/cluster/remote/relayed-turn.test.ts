import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import fc from 'fast-check';
import type { Found } from '../../../../actors/cluster/remote/relayed-turn.ts';
import { errorEvent, FAILED_END, INTERRUPTED } from '../../../../actors/turns/events.ts';
import { TurnLog } from '../../../../actors/turns/log.ts';
import { Refusal } from '../../../../protocol/errors.ts';
import { renderEvent } from '../../../../protocol/runtime/stream-events.ts';
import { framesOf } from '../../turns/fixture.ts';
import { EVERYTHING, Reader, World } from './relay-world.ts';
import { OwnedTurn, type Rows, rowsOfApp, tick } from './remote-fixture.ts';

type Act =
  | { readonly do: 'text'; readonly delta: string; readonly times: number }
  | { readonly do: 'ping' | 'beginCommit' | 'finishCommit' | 'commit' | 'tick' | 'read' | 'unreachable' | 'slow' }
  | { readonly do: 'deliver' | 'break'; readonly count: number }
  | { readonly do: 'pass'; readonly ms: number };

const only = <T extends Act['do']>(...names: readonly T[]) => fc.record({ do: fc.constantFrom(...names) });
const delta = fc.record({
  do: fc.constant('text' as const),
  delta: fc.string({ unit: fc.constantFrom('a', '"', '\n', 'id: 7\n', '\ud83d', '\ude00', '⟦email_1⟧'), minLength: 1, maxLength: 8 }),
  // Now and then so much that what is committed leaves memory, and a line is held.
  times: fc.oneof({ weight: 24, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.constant(10_000) }),
});
const speaking: fc.Arbitrary<Act> = fc.oneof({ weight: 4, arbitrary: delta }, { weight: 1, arbitrary: only('ping', 'commit') });
const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 8, arbitrary: delta },
  { weight: 2, arbitrary: only('ping') },
  { weight: 4, arbitrary: only('beginCommit', 'finishCommit') },
  { weight: 8, arbitrary: only('tick') },
  { weight: 6, arbitrary: only('read') },
  { weight: 1, arbitrary: only('unreachable', 'slow') },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('deliver' as const), count: fc.integer({ min: 1, max: 9 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('break' as const), count: fc.nat({ max: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(1, 100, 250, 1_000, 5_000) }) },
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

async function perform(act: Act, world: World, reader: Reader): Promise<void> {
  if (act.do === 'tick') await tick();
  else if (act.do === 'deliver') world.pair.deliver(act.count);
  else if (act.do === 'break') world.pair.break(act.count);
  else if (act.do === 'unreachable') world.failures = world.soughtAtMs.length + 1;
  else if (act.do === 'slow') world.relayed.slow(reader, world.clock.nowMs % 2 === 0);
  else if (act.do === 'pass') await world.clock.pass(act.ms);
  else if (act.do === 'read') reader.read();
  else speak(world.turn, act);
}

const endings = fc.constantFrom('completes', 'completes', 'abandons', 'dies', 'dies in a commit', 'dies and is taken over elsewhere');

function end(world: World, how: string, arriving: number): void {
  const { turn } = world;
  turn.finishCommit();
  if (how === 'abandons') turn.abandon();
  else if (how === 'completes') {
    turn.beginCommit(true);
    turn.finishCommit();
  } else {
    if (how === 'dies in a commit') turn.beginCommit(true);
    if (how === 'dies and is taken over elsewhere') turn.recover();
    world.die(arriving);
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
  if (recovered.length === 0) {
    assert.equal(before.length, said.length, 'all of it');
    return;
  }
  const types = recovered.map(([seq, text]) => [seq, framesOf(text)[0]?.type]);
  assert.deepEqual(types, [
    [1_000_000, 'error'],
    [1_000_001, 'turn.end'],
  ]);
  const stored = said.filter(([seq]) => seq < turn.committedSeq);
  assert.ok(before.length >= stored.length, 'nothing that is committed is missing');
}

async function play(rows: Rows, preamble: readonly Act[], script: readonly Act[], how: string, arriving: number, from: number) {
  const turn = new OwnedTurn(rows);
  for (const act of preamble) speak(turn, act);
  const world = new World(turn);
  const reader = new Reader(world.relayed, from);
  for (const act of script) await perform(act, world, reader);
  end(world, how, arriving);
  for (let round = 0; round < 60 && !reader.ended; round++) {
    await world.settle(1_000);
    reader.readAll();
  }
  assert.equal(reader.ended, true, 'the stream ends');
  check(reader, world);
  reader.leave();
  await world.settle(5_000);
  assert.deepEqual([turn.log.readers, world.clock.waiting, world.warnings, world.errors, world.pair.isOpen], [0, 0, [], [], false]);
}

test('CLUSTER-12: however often the line breaks, a reader on another node gets every event once and in order, and the end', async (t) => {
  const rows = rowsOfApp(t);
  await fc.assert(
    fc.asyncProperty(
      fc.array(speaking, { maxLength: 6 }),
      fc.array(acts, { minLength: 10, maxLength: 60, size: 'max' }),
      endings,
      fc.nat({ max: 3 }),
      fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat({ max: 30 }) }),
      (preamble, script, how, arriving, from) => play(rows, preamble, script, how, arriving, from),
    ),
    { numRuns: 60 },
  );
});

function commitBlock(turn: OwnedTurn, text: string): void {
  turn.text(text);
  turn.beginCommit();
  turn.finishCommit();
}

/** A turn with two committed blocks, and a reader from 0 who has read what there was. */
async function following(t: TestContext, found?: Found): Promise<{ world: World; turn: OwnedTurn; reader: Reader }> {
  const turn = new OwnedTurn(rowsOfApp(t));
  commitBlock(turn, 'first');
  const world = new World(turn, found);
  const reader = new Reader(world.relayed, 0);
  reader.readAll();
  commitBlock(turn, 'second');
  await world.arrive();
  reader.readAll();
  assert.deepEqual(reader.types, ['turn.start', 'block.delta', 'block.ready', 'block.delta', 'block.ready']);
  // The line is no longer one that broke at once.
  await world.clock.pass(250);
  return { world, turn, reader };
}

/** What the reader got last. */
function newest(reader: Reader, count: number): string[] {
  reader.readAll();
  return reader.types.slice(-count);
}

test('CLUSTER-12: a line that breaks is made again at once, from the first event that did not arrive', async (t) => {
  const { world, turn, reader } = await following(t);
  turn.text('lost');
  await tick();
  world.pair.break(0);
  turn.text('said meanwhile');
  await world.arrive();
  reader.readAll();
  assert.deepEqual([...reader.frames.keys()], [0, 1, 2, 3, 4, 5, 6]);
  assert.equal(world.soughtAtMs.length, 1);
});

test('CLUSTER-14: an owner whose lines break at once is asked four times a second at most', async (t) => {
  const { world } = await following(t);
  for (let ms = 0; ms < 1_050; ms += 50) {
    world.pair.break(0);
    await world.clock.pass(50);
  }
  const pauses = world.soughtAtMs.slice(1).map((atMs, at) => atMs - (world.soughtAtMs[at] ?? 0));
  assert.deepEqual(pauses, [300, 250, 250, 250]);
});

test('CLUSTER-14: a turn that nobody can find is looked for again after 250, 500, 1,000 and 2,000 ms', async (t) => {
  const { world, reader } = await following(t);
  world.failures = 3;
  const startMs = world.clock.nowMs;
  world.pair.break(0);
  for (let ms = 0; ms < 3_000; ms += 250) await world.clock.pass(250);
  assert.deepEqual(
    world.soughtAtMs.map((atMs) => atMs - startMs),
    [0, 250, 750, 1_750],
  );
  assert.deepEqual([reader.ended, world.warnings], [false, []]);
});

test('CLUSTER-6: when nobody can say how the turn goes on the stream ends with an error to try again after', async (t) => {
  const { world, turn, reader } = await following(t);
  turn.text('unheard');
  world.failures = EVERYTHING;
  world.die();
  await world.clock.pass(3_749);
  assert.equal(newest(reader, 1)[0], 'block.ready');
  await world.clock.pass(1);
  assert.deepEqual(newest(reader, 2), ['error', 'turn.end']);
  assert.match(reader.frames.get(5) ?? '', /"code":"internal".*"retryable":true/);
  assert.deepEqual([reader.ended, world.soughtAtMs.length, world.warnings.length], [true, 5, 1]);
});

test('CLUSTER-6: a turn that is gone from the rows is not looked for again', async (t) => {
  const turn = new OwnedTurn(rowsOfApp(t));
  const world = new World(turn);
  const reader = new Reader(world.relayed, 0);
  reader.readAll();
  await world.settle(250);
  turn.recover = () => {
    throw new Refusal('not_found', 'There is no such turn.');
  };
  world.die();
  await tick();
  assert.deepEqual(newest(reader, 3), ['turn.start', 'error', 'turn.end']);
  assert.deepEqual([reader.ended, world.warnings.length], [true, 1]);
});

test('STREAM-7: nothing follows turn.end, also when its owner is lost before it has closed the stream', async (t) => {
  const { world, turn, reader } = await following(t);
  const end = renderEvent(5, errorEvent(INTERRUPTED)) + renderEvent(6, FAILED_END);
  world.pair.owner.send(['frames', 7, end, false]);
  turn.recover = () => {
    throw new Refusal('not_found', 'There is no such turn.');
  };
  world.die(EVERYTHING);
  await world.clock.pass(5_000);
  reader.readAll();
  assert.deepEqual(newest(reader, 2), ['error', 'turn.end']);
  assert.deepEqual([[...reader.frames.keys()].at(-1), reader.ended, world.soughtAtMs], [6, true, []]);
});

test('CLUSTER-6: an owner that no longer runs a turn which is open is taken over from', async (t) => {
  const { world, turn, reader } = await following(t);
  world.pair.break(0);
  turn.abandon();
  await world.arrive();
  assert.deepEqual(newest(reader, 2), ['error', 'turn.end']);
  assert.deepEqual([...reader.frames.keys()].slice(-2), [1_000_000, 1_000_001]);
});

test('STREAM-16: a stream ends with its attempt when another one was begun meanwhile', async (t) => {
  const { world, turn, reader } = await following(t);
  world.isAlive = false;
  turn.text('unheard');
  turn.recover();
  turn.retry();
  commitBlock(turn, 'of the next attempt');
  world.die();
  await world.arrive();
  assert.deepEqual(newest(reader, 2), ['error', 'turn.end']);
  assert.deepEqual([reader.ended, [...reader.frames.keys()].at(-1)], [true, 1_000_001]);
});

test('STREAM-7, STREAM-16: a stream ends with its attempt when two others were begun meanwhile', async (t) => {
  const { world, turn, reader } = await following(t);
  world.isAlive = false;
  turn.recover();
  turn.retry();
  turn.recover();
  turn.retry();
  commitBlock(turn, 'of the newest attempt');
  world.die();
  await world.arrive();
  assert.deepEqual(newest(reader, 2), ['error', 'turn.end']);
  assert.deepEqual([reader.ended, [...reader.frames.keys()].at(-1)], [true, 1_000_001]);
});

test('CLUSTER-12: a turn that goes on here is read on from there, and left with its reader', async (t) => {
  const successor = new TurnLog(5, null);
  const { world, reader } = await following(t, { source: successor, fromSeq: 0 });
  world.die();
  await tick();
  assert.equal(successor.readers, 1);
  const { wakes } = reader;
  successor.say({ type: 'turn.end', status: 'completed' });
  successor.end();
  await tick();
  assert.ok(reader.wakes > wakes);
  assert.deepEqual(newest(reader, 2), ['block.ready', 'turn.end']);
  assert.equal(reader.ended, true);
  reader.leave();
  assert.equal(successor.readers, 0);
});

test('CLUSTER-15: a reader that takes nothing leaves what comes with the owner, beyond 64 KB', async (t) => {
  const { world, turn, reader } = await following(t);
  for (let n = 0; n < 40; n++) {
    turn.text('x'.repeat(10_000));
    await world.arrive();
  }
  const before = reader.frames.size;
  let chars = 0;
  for (let n = 0; reader.read() && n < 100; n++) {
    assert.ok(n < 10, 'what lay here was a few slices');
    chars = [...reader.frames.values()].slice(before).join('').length;
    if (chars > 100_000) break;
  }
  for (let n = 0; n < 60; n++) {
    await world.arrive();
    reader.readAll();
  }
  assert.equal(reader.frames.size, turn.said.size);
});

test('CLUSTER-14: several messages within a tick wake a reader once; a reader that leaves ends the line', async (t) => {
  const { world, turn, reader } = await following(t);
  const { wakes } = reader;
  for (const text of ['a', 'b', 'c']) {
    turn.text(text);
    turn.log.flush();
  }
  assert.equal(world.pair.owner.queue.length, 3);
  world.pair.deliver(3);
  await tick();
  assert.equal(reader.wakes, wakes + 1);
  reader.leave();
  reader.leave();
  assert.deepEqual([world.pair.isOpen, turn.log.readers], [false, 0]);
});

test('CLUSTER-14: a turn that nobody came to read is left after 10 s, and gone on with when somebody comes', async (t) => {
  const turn = new OwnedTurn(rowsOfApp(t));
  const world = new World(turn);
  await world.clock.pass(9_999);
  assert.equal(world.pair.isOpen, true);
  await world.clock.pass(1);
  assert.deepEqual([world.pair.isOpen, world.soughtAtMs], [false, []]);
  const late = new Reader(world.relayed, 0);
  late.readAll();
  await world.arrive();
  assert.deepEqual([newest(late, 1), world.soughtAtMs.length], [['turn.start'], 1]);
  assert.throws(() => new Reader(world.relayed, 0), /one reader/);
});

test('CLUSTER-15: a reader on another node that takes nothing makes the model wait, also over the next line', async (t) => {
  const { world, turn, reader } = await following(t);
  const lags: boolean[] = [];
  turn.log.turn = { readersLag: (isLagging) => void lags.push(isLagging), share: { lateMs: 0, isRead: true } };
  world.relayed.slow(reader, true);
  await world.arrive();
  assert.deepEqual(lags, [true]);
  world.pair.break(0);
  await world.arrive();
  assert.deepEqual(lags, [true, false, true]);
  world.relayed.slow(reader, false);
  await world.arrive();
  assert.deepEqual(lags, [true, false, true, false]);
});
