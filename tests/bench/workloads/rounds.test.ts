/** Order of the rounds, medians, and who is left out. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { compileLoad, SHARES } from '../../../bench/load/load.ts';
import { withModel } from '../../../bench/model/model.ts';
import { secondsLeft, shownTime } from '../../../bench/progress.ts';
import { summarize, workloadTable } from '../../../bench/report/report.ts';
import { median, percentile } from '../../../bench/report/table.ts';
import type { Candidate, Scene } from '../../../bench/servers/candidate.ts';
import { relay } from '../../../bench/servers/candidate.ts';
import { ableTo, inOrderOf, isScattered, type Outcome, play, type Round, reasonOf } from '../../../bench/workloads/rounds.ts';
import { warmUntilStill, warmUs } from '../../../bench/workloads/warm-up.ts';
import { workloadNamed } from '../../../bench/workloads/workloads.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

function round(cpuMs: number, firstMs: number): Round {
  const times = SHARES.map((share) => firstMs * (1 + share));
  const counts = { streams: 10, ok: 10, broken: 0, refused: 0, deltas: 10, chars: 40, bytes: 1_000 };
  return { ...counts, stalled: false, first_ms: times, whole_ms: times, wall_s: 1, reasons: [], cpu_ns: cpuMs * 1e6, peak_rss_bytes: 2 };
}

function outcome(candidate: string, rounds: readonly Round[]): Outcome {
  return { workload: workloadNamed('W3'), candidate, rounds, idle_rss_bytes: 1, peak_rss_bytes: 2 };
}

describe('BENCH-2: rounds', () => {
  test('every other round goes the other way round', () => {
    const players = ['a', 'b', 'c'];
    assert.deepEqual(
      [0, 1, 2].map((at) => inOrderOf(players, at).join('')),
      ['abc', 'cba', 'abc'],
    );
  });

  test('a peer is left out of a workload with more than twice the streams that its core feeds', () => {
    const peer = (name: string, openStreams?: number): Candidate => ({ ...relay, name, role: 'peer', ...(openStreams && { openStreams }) });
    const { able, leftOut } = ableTo(workloadNamed('W2'), [relay, peer('slow', 250), peer('slower', 249), peer('quick')]);
    assert.deepEqual(
      able.map(({ name }) => name),
      ['relay', 'slow', 'quick'],
    );
    assert.deepEqual(leftOut, [
      { candidate: 'slower', workload: 'W2', why: 'one core feeds some 249 streams of it at a time, and this asks for 500' },
    ]);
  });

  test('the median of an even number of rounds lies between the two in the middle', () => {
    assert.equal(median([3, 1, 2]), 2);
    assert.equal(median([4, 1, 3, 2]), 2.5);
    assert.ok(Number.isNaN(median([])));
    assert.equal(percentile([5, 1, 4, 2, 3], 0.99), 5);
  });

  test('a summary has medians of the rounds, their range, and the ratio to the relay', () => {
    const relays = outcome('relay', [round(10, 1), round(30, 3), round(20, 2)]);
    const others = outcome('other', [round(60, 5), round(40, 4), round(50, 6)]);
    const [, other] = summarize([relays, others]);
    assert.ok(other !== undefined);
    // Ten turns a round: 50 ms are 5,000 µs a turn.
    assert.deepEqual([other.cpu_us, other.cpu_us_min, other.cpu_us_max], [5_000, 4_000, 6_000]);
    assert.deepEqual([other.ratio, other.first_p50_ms, other.added_p50_ms], [2.5, 7.5, 4.5]);
  });

  test('BENCH-18: a warm-up ends when three windows cost the same, and at its maximum otherwise', async () => {
    const warmed = (costs: readonly number[]) => {
      let at = 0;
      return warmUntilStill(async () => costs[at++ % costs.length] ?? 0, { maxS: 20, now: () => at * 2_000 });
    };
    const falling = await warmed([900, 500, 300, 210, 201, 200, 205, 100]);
    assert.deepEqual([falling.windows_us.length, falling.is_steady, falling.seconds, warmUs(falling)], [6, true, 12, 611 / 3]);
    const restless = await warmed([100, 200]);
    assert.deepEqual([restless.windows_us.length, restless.is_steady], [10, false]);
  });

  test('BENCH-19: rounds that scatter are marked, and added latency is never below zero', () => {
    const [calm, scattered] = [outcome('relay', [round(10, 3), round(15, 3)]), outcome('other', [round(10, 1), round(16, 1)])];
    assert.deepEqual([calm, scattered].map(isScattered), [false, true]);
    const [, row = []] = workloadTable([calm, { ...scattered, again: 2 }]).rows;
    assert.ok(row.includes('1000 to 1600 (wide)**') && row.includes('within the spread / within the spread'), row.join());
  });

  test('the time left is that of all parts, by the pace of those that are over', () => {
    const fresh = { expected: 0, took: 0, partExpected: 100, partTook: 0, ahead: 900 };
    assert.equal(secondsLeft(fresh), 1_000);
    assert.equal(secondsLeft({ ...fresh, partTook: 40 }), 960);
    // A part that takes longer than expected is not taken for one that gives time back.
    assert.equal(secondsLeft({ ...fresh, partTook: 400 }), 900);
    assert.equal(secondsLeft({ expected: 540, took: 240, partExpected: 100, partTook: 10, ahead: 300 }), 190);
    assert.deepEqual([0, 4, 80, 240].map(shownTime), ['10 s', '10 s', '80 s', '4 min']);
  });
});

test('BENCH-2, BENCH-6: servers are measured in turns, and a peer that fails is left out with its reason in one line', async (t) => {
  const outDir = temporaryDir(t);
  const broken = (name: string, start: (scene: Scene) => ReturnType<Candidate['start']>): Candidate => ({
    name,
    what: name,
    role: 'peer',
    start,
  });
  const absent = broken('absent', () => Promise.reject(new Error('\nit does not start\n  at some line')));
  const mute = broken('mute', async (scene) => ({ ...(await relay.start(scene)), path: '/nowhere', name: 'mute' }));
  const again: Candidate = { ...relay, name: 'again', start: async (scene) => ({ ...(await relay.start(scene)), name: 'again' }) };
  const steps: string[] = [];
  const program = compileLoad(outDir);
  const workload = { ...workloadNamed('W3'), requests: 200 };
  const { outcomes, leftOut } = await withModel(outDir, ({ origin }) => {
    const candidates = [relay, absent, mute, again];
    return play({ candidates, rounds: 2, quick: true, program, upstream: origin, outDir, onStep: (step) => steps.push(step) }, workload);
  });
  assert.deepEqual(
    outcomes.map(({ candidate, rounds }) => [candidate, rounds.length]),
    [
      ['relay', 2],
      ['again', 2],
    ],
  );
  for (const { rounds } of outcomes) for (const { ok, broken: lost, cpu_ns } of rounds) assert.ok(ok >= 64 && lost === 0 && cpu_ns > 0);
  assert.deepEqual(
    leftOut.map(({ candidate, workload: of, why }) => [candidate, of, /it does not start|^no stream was whole: not 200/.test(why)]),
    [
      ['absent', 'W3', true],
      ['mute', 'W3', true],
    ],
  );
  assert.ok(leftOut.every(({ why }) => !why.includes('\n')));
  const measured = steps.filter((step) => step.includes('in round'));
  assert.deepEqual(
    measured.map((step) => step.split(' ')[1]),
    ['relay', 'again', 'again', 'relay'],
  );
  assert.equal(reasonOf('no error'), 'no error');
  assert.ok(join(outDir, 'load') === program);
});

test('BENCH-6: a run in which the relay does not start fails', async (t) => {
  const outDir = temporaryDir(t);
  const failing: Candidate = { ...relay, start: () => Promise.reject(new Error('no port')) };
  const stage = { candidates: [failing], rounds: 1, quick: true, program: '', upstream: '', outDir, onStep: () => {} };
  await assert.rejects(play(stage, workloadNamed('W3')), /^Error: W3, relay: no port$/);
});
