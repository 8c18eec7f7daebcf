import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { indexOf, Lags, type Place, positionOf, readingsOf } from '../../../program/replica/lag.ts';
import { LitestreamLog } from '../../../program/replica/litestream-log.ts';

const PATH = '/data/a.sqlite';
const GENERATION = 'aaaaaaaaaaaaaaaa';

function place(index: number, offset: number, generation = GENERATION): Place {
  return { generation, position: positionOf(index, offset) };
}

/** What Litestream tells of one database. */
function metrics([index, size]: readonly [number, number], syncs: number, errors = 0): string {
  return [
    `litestream_shadow_wal_index{db="${PATH}"} ${index}`,
    `litestream_shadow_wal_size{db="${PATH}"} ${size}`,
    `litestream_sync_count{db="${PATH}"} ${syncs}`,
    `litestream_sync_error_count{db="${PATH}"} ${errors}`,
  ].join('\n');
}

/** One database, at which a test looks each second: what Litestream read by then, and what arrived. */
class Looked {
  readonly lags = new Lags();
  second = 0;
  #syncs = 10;

  constructor() {
    this.lags.follow(new Set([PATH]), 0);
  }

  look(read: Place, { errors = 0, syncs = 1, readUpTo = read as Place | undefined } = {}): void {
    this.second += 1;
    this.#syncs += syncs;
    const index = indexOf(read.position);
    const told = metrics([index, read.position - positionOf(index, 0)], this.#syncs, errors);
    this.lags.look(readingsOf(told), this.second * 1_000, () => readUpTo);
  }

  arrived(arrived: Place): void {
    this.lags.arrived(PATH, arrived, this.second * 1_000);
  }

  get lagS(): number | undefined {
    return this.lags.worst(this.second * 1_000, 1)[0]?.lagS;
  }
}

describe('REPLICA-2: how far behind a database is', () => {
  test('all that was read has arrived: not at all, whatever else is told of the generation', () => {
    const one = new Looked();
    one.arrived(place(0, 4_096));
    one.look(place(0, 4_096));
    assert.equal(one.lagS, 0);
    one.look(place(0, 4_096), { readUpTo: undefined });
    assert.equal(one.lagS, 0, 'nothing has changed, so nothing is looked up');
  });

  test('a Litestream that is silent proves nothing', () => {
    const one = new Looked();
    for (let second = 1; second <= 60; second += 1) one.look(place(0, 4_096));
    assert.equal(one.lagS, 60);
    assert.deepEqual(one.lags.doubtful(60_000), [PATH]);
    one.arrived(place(0, 4_096));
    one.look(place(0, 4_096));
    assert.equal(one.lagS, 0);
    assert.deepEqual(one.lags.doubtful(61_000), []);
  });

  test('under writes that never pause it is as far behind as the oldest write that is not there', () => {
    const one = new Looked();
    for (let second = 1; second <= 60; second += 1) {
      one.arrived(place(0, (second - 1) * 100));
      one.look(place(0, second * 100));
    }
    assert.equal(one.lagS, 1);
  });

  test('a replica that stands still falls behind by the time that passes, and catches up at once', () => {
    const one = new Looked();
    one.arrived(place(0, 50));
    for (let second = 1; second <= 60; second += 1) one.look(place(0, second * 100));
    assert.equal(one.lagS, 60);
    assert.equal(one.lags.standsStill(60_000, 50), true);
    one.arrived(place(1, 100));
    one.look(place(1, 100));
    assert.equal(one.lagS, 0);
    assert.equal(one.lags.standsStill(61_000, 50), false);
  });

  test('what arrived of another generation is nothing, even where its places are the same', () => {
    const one = new Looked();
    one.arrived(place(7, 900));
    one.look(place(7, 900));
    assert.equal(one.lagS, 0);
    one.lags.beganAnew(PATH);
    for (let second = 1; second <= 9; second += 1) one.look(place(7, 900, 'bbbbbbbbbbbbbbbb'));
    assert.equal(one.lagS, 9);
    one.arrived(place(7, 900, 'bbbbbbbbbbbbbbbb'));
    one.look(place(7, 900, 'bbbbbbbbbbbbbbbb'));
    assert.equal(one.lagS, 0);
  });

  test('a Litestream that fails to read, or hangs over it, is behind from its last sync on', () => {
    const one = new Looked();
    one.arrived(place(0, 100));
    one.look(place(0, 100));
    one.look(place(0, 100), { errors: 1 });
    assert.equal(one.lagS, 1);
    one.look(place(0, 100), { errors: 1 });
    assert.equal(one.lagS, 0);
    for (let second = 1; second <= 20; second += 1) one.look(place(0, 100), { errors: 1, syncs: 0 });
    assert.equal(one.lagS, 15);
  });

  test('after a restart it counts when Litestream has looked at the file again', () => {
    const one = new Looked();
    one.arrived(place(0, 100));
    one.look(place(0, 100));
    one.lags.restarted();
    const readUpTo = () => place(0, 100);
    one.lags.look(readingsOf(metrics([0, 100], 1)), 2_000, readUpTo);
    assert.equal(one.lags.worst(2_000, 1)[0]?.lagS, 1);
    one.lags.look(readingsOf(metrics([0, 100], 3)), 4_000, readUpTo);
    assert.equal(one.lags.worst(4_000, 1)[0]?.lagS, 0);
  });

  test('a database that went away is forgotten, one that came begins now', () => {
    const { lags } = new Looked();
    lags.follow(new Set(['/data/b.sqlite']), 30_000);
    assert.equal(lags.size, 1);
    assert.equal(lags.worst(31_000, 1)[0]?.lagS, 1);
  });
});

describe('REPLICA-2: what Litestream’s log tells', () => {
  const line = (level: string, message: string, more: string) =>
    `time=2026-11-23T17:16:53.202Z level=${level} msg="${message}" db=${PATH}${more}`;
  const sent = ` replica=s3 position=${GENERATION}/0000000a:4152 elapsed=5.693975ms sz=16512`;

  test('how far a database was sent, and that another generation began', () => {
    const log = new LitestreamLog();
    assert.equal(log.read(line('INFO', 'write wal segment', ` replica=s3 position=${GENERATION}/0000000a:4152`), 0), undefined);
    assert.deepEqual(log.read(line('INFO', 'wal segment written', sent), 0), { kind: 'sent', path: PATH, place: place(10, 20_664) });
    assert.deepEqual(log.read(line('INFO', 'sync: new generation', ` generation=${GENERATION} reason="x"`), 0), {
      kind: 'generation',
      path: PATH,
    });
  });

  test('something that is being sent for long stands still, and a refusal holds until something is sent', () => {
    const log = new LitestreamLog();
    log.read(line('INFO', 'write wal segment', ' replica=s3'), 0);
    assert.deepEqual([log.isStuck(1_000), log.isStuck(10_000)], [false, true]);
    log.read(line('INFO', 'wal segment written', sent), 10_000);
    assert.equal(log.isStuck(20_000), false);
    log.read(line('ERROR', 'sync error', ' error="database is locked"'), 20_000);
    assert.equal(log.isRefused, false);
    log.read(line('ERROR', 'monitor error', ' replica=s3 error="InvalidAccessKeyId"'), 20_000);
    assert.deepEqual([log.isRefused, log.isStuck(600_000)], [true, false]);
    log.read(line('INFO', 'wal segment written', sent), 600_000);
    assert.equal(log.isRefused, false);
  });
});
