/** When workers that ended are started again, on a clock of its own; with processes it is tests/program/workers/supervisor.test.ts. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Place, type RestartClock, Restarts } from '../../../program/workers/restarts.ts';
import { SUPERVISOR_TIMES } from '../../../program/workers/supervisor.ts';

class HandClock implements RestartClock {
  #nowMs = 0;
  #due: { readonly atMs: number; readonly work: () => void }[] = [];

  nowMs(): number {
    return this.#nowMs;
  }

  after(ms: number, work: () => void): () => void {
    const entry = { atMs: this.#nowMs + ms, work };
    this.#due.push(entry);
    return () => {
      this.#due = this.#due.filter((other) => other !== entry);
    };
  }

  /** Lets time pass and does what falls due, in order. */
  advance(ms: number): void {
    const endMs = this.#nowMs + ms;
    for (;;) {
      const [next] = this.#due.filter(({ atMs }) => atMs <= endMs).sort((one, other) => one.atMs - other.atMs);
      if (next === undefined) break;
      this.#nowMs = next.atMs;
      this.#due = this.#due.filter((other) => other !== next);
      next.work();
    }
    this.#nowMs = endMs;
  }
}

interface SeenWorker {
  readonly starts: number[];
  serving: boolean;
  readonly place: Place;
  /** Kills it; in how many ms it is started again. */
  kill(): number;
}

/** Workers that listen `bootMs` after they were started; null: they end then, before they listen. */
function workersOn(clock: HandClock, boots: readonly (number | null)[]): SeenWorker[] {
  const restarts = new Restarts(SUPERVISOR_TIMES, clock);
  const FAILS_AFTER_MS = 300;
  return boots.map((bootMs) => {
    let life = 0;
    const begin = () => {
      worker.starts.push(clock.nowMs());
      const mine = ++life;
      place.starting();
      clock.after(bootMs ?? FAILS_AFTER_MS, () => {
        if (mine !== life) return;
        if (bootMs === null) {
          place.ended();
          return;
        }
        worker.serving = true;
        place.serving();
      });
    };
    const place = restarts.place(begin);
    const worker: SeenWorker = {
      starts: [],
      serving: false,
      place,
      kill() {
        life += 1;
        worker.serving = false;
        return place.ended();
      },
    };
    begin();
    return worker;
  });
}

/** The share of 70 s in which nobody serves, when every two seconds the one that `choose` names is killed. */
function outage(
  workers: readonly SeenWorker[],
  clock: HandClock,
  choose: (serving: readonly SeenWorker[], round: number) => SeenWorker,
): number {
  const STEP_MS = 10;
  clock.advance(10_000);
  let none = 0;
  for (let atMs = 0; atMs < 70_000; atMs += STEP_MS) {
    const serving = workers.filter((worker) => worker.serving);
    if (atMs % 2_000 === 0 && serving.length > 0) choose(serving, atMs / 2_000).kill();
    clock.advance(STEP_MS);
    if (!workers.some((worker) => worker.serving)) none += STEP_MS;
  }
  return none / 70_000;
}

describe('restarts of workers', () => {
  test('RUN-25: of three workers, one of which is killed every two seconds, one always serves', () => {
    const chosen: Record<string, (serving: readonly SeenWorker[], round: number) => SeenWorker> = {
      'one after the other': (serving, round) => serving[round % serving.length] as SeenWorker,
      'the first': (serving) => serving[0] as SeenWorker,
      'the last': (serving) => serving.at(-1) as SeenWorker,
    };
    for (const [name, choose] of Object.entries(chosen)) {
      const clock = new HandClock();
      assert.equal(outage(workersOn(clock, [1_000, 1_000, 1_000]), clock, choose), 0, name);
    }
  });

  test('RUN-20: while none serves, one is started at once, and the others after pauses of at most a second', () => {
    const clock = new HandClock();
    const workers = workersOn(clock, [1_000, 1_000, 1_000]);
    // Each has ended many times, so that its own pause is the longest.
    for (let round = 0; round < 10; round++) {
      clock.advance(5_000);
      for (const worker of workers) worker.kill();
    }
    clock.advance(5_000);
    const pauses = workers.map((worker) => {
      clock.advance(1);
      return worker.kill();
    });
    assert.deepEqual(pauses, [1_000, 1_000, 0]);
    const atMs = clock.nowMs();
    clock.advance(0);
    assert.deepEqual(
      workers.map(({ starts }) => starts.at(-1) === atMs),
      [false, false, true],
    );
    clock.advance(2_100);
    assert.deepEqual(
      workers.map(({ serving }) => serving),
      [true, true, true],
    );
  });

  test('RUN-20: a worker that cannot start at all waits up to 30 s between tries while others serve', () => {
    const clock = new HandClock();
    const [sound, broken] = workersOn(clock, [1_000, null]) as [SeenWorker, SeenWorker];
    clock.advance(200_000);
    assert.deepEqual([sound.starts, sound.serving], [[0], true]);
    const pauses = broken.starts.slice(1).map((atMs, index) => atMs - (broken.starts[index] ?? 0) - 300);
    assert.deepEqual(pauses.slice(0, 9), [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });

  test('RUN-20: when none can start, one tries every five seconds or so, and none spins', () => {
    const clock = new HandClock();
    const workers = workersOn(clock, [null, null, null]);
    clock.advance(600_000);
    const starts = workers.flatMap((worker) => worker.starts).sort((one, other) => one - other);
    const gaps = starts.slice(1).map((atMs, index) => atMs - (starts[index] ?? 0));
    assert.ok(Math.max(...gaps) <= 5_300, `longest time without a start: ${Math.max(...gaps)} ms`);
    assert.ok(starts.length < 250, `${starts.length} starts in ten minutes`);
  });

  test('RUN-20: when the only one that can start is killed, it and not one that cannot is started at once', () => {
    const clock = new HandClock();
    const [sound, broken] = workersOn(clock, [1_000, null]) as [SeenWorker, SeenWorker];
    clock.advance(100_000);
    const brokenStarts = broken.starts.length;
    assert.equal(sound.kill(), 0);
    clock.advance(1_000);
    assert.deepEqual([sound.serving, broken.starts.length], [true, brokenStarts]);
  });

  test('RUN-20: a worker that was asked to end is not started to fill a gap', () => {
    const clock = new HandClock();
    const [first, second] = workersOn(clock, [1_000, 1_000]) as [SeenWorker, SeenWorker];
    clock.advance(2_000);
    first.serving = false;
    first.place.away();
    assert.equal(second.kill(), 0);
    clock.advance(60_000);
    assert.deepEqual([first.starts.length, second.starts.length], [1, 2]);
  });

  test('RUN-20: pauses begin anew after a life of 60 s', () => {
    const clock = new HandClock();
    const [, second] = workersOn(clock, [1_000, 1_000]) as [SeenWorker, SeenWorker];
    const pauses: number[] = [];
    for (const livedMs of [1_500, 1_500, 1_500, 60_000]) {
      clock.advance(livedMs);
      pauses.push(second.kill());
      clock.advance(pauses.at(-1) as number);
    }
    assert.deepEqual(pauses, [500, 1_000, 1_000, 500]);
  });
});
