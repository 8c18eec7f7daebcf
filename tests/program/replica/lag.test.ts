import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Lags, placeOf, readingsOf } from '../../../program/replica/lag.ts';
import { LitestreamLog } from '../../../program/replica/litestream-log.ts';

const PATH = '/data/a.sqlite';
const nothingBetter = { readUpTo: () => undefined, isTroubled: () => false };

/** What Litestream tells of one database. */
function metrics(read: readonly [number, number], sent: readonly [number, number], errors = 0): string {
  return [
    `litestream_shadow_wal_index{db="${PATH}"} ${read[0]}`,
    `litestream_shadow_wal_size{db="${PATH}"} ${read[1]}`,
    `litestream_replica_wal_index{db="${PATH}",name="file"} ${sent[0]}`,
    `litestream_replica_wal_offset{db="${PATH}",name="file"} ${sent[1]}`,
    `litestream_sync_count{db="${PATH}"} 4`,
    `litestream_sync_error_count{db="${PATH}"} ${errors}`,
  ].join('\n');
}

function lags(): Lags {
  const made = new Lags();
  made.follow(new Set([PATH]), 0);
  return made;
}

function lagS(of: Lags, nowMs: number): number | undefined {
  return of.worst(nowMs, 1)[0]?.lagS;
}

describe('REPLICA-2: how far behind a database is', () => {
  test('all that was read is there: not at all', () => {
    const one = lags();
    one.look(readingsOf(metrics([0, 4_096], [0, 4_096])), 10_000, nothingBetter);
    assert.equal(lagS(one, 10_000), 0);
  });

  test('under writes that never pause it is as far behind as the oldest write that is not there', () => {
    const one = lags();
    for (let second = 1; second <= 60; second += 1)
      one.look(readingsOf(metrics([0, second * 100], [0, (second - 1) * 100])), second * 1_000, nothingBetter);
    assert.equal(lagS(one, 60_000), 1);
  });

  test('a replica that stands still falls behind by the time that passes, and catches up at once', () => {
    const one = lags();
    for (let second = 1; second <= 60; second += 1)
      one.look(readingsOf(metrics([0, second * 100], [0, 50])), second * 1_000, nothingBetter);
    assert.equal(lagS(one, 60_000), 60);
    one.look(readingsOf(metrics([1, 100], [1, 100])), 61_000, nothingBetter);
    assert.equal(lagS(one, 61_000), 0);
  });

  test('a new generation counts from zero', () => {
    const one = lags();
    one.look(readingsOf(metrics([7, 900], [7, 100])), 1_000, nothingBetter);
    one.look(readingsOf(metrics([0, 900], [0, 100])), 2_000, nothingBetter);
    one.look(readingsOf(metrics([0, 1_000], [0, 900])), 3_000, nothingBetter);
    assert.equal(lagS(one, 3_000), 1);
  });

  test('a size that Litestream did not bring up to date is looked up', () => {
    const one = lags();
    one.look(readingsOf(metrics([1, 6_000_000], [1, 4_152])), 9_000, {
      ...nothingBetter,
      readUpTo: (path) => (path === PATH ? placeOf(1, 4_152) : undefined),
    });
    assert.equal(lagS(one, 9_000), 0);
  });

  test('a version that does not say where the replica is counts as behind while it fails', () => {
    const one = lags();
    const told = (errors: number) => `litestream_sync_count{db="${PATH}"} 4\nlitestream_sync_error_count{db="${PATH}"} ${errors}`;
    one.look(readingsOf(told(0)), 1_000, nothingBetter);
    one.look(readingsOf(told(1)), 5_000, nothingBetter);
    one.look(readingsOf(told(2)), 9_000, nothingBetter);
    assert.equal(lagS(one, 9_000), 8);
    one.look(readingsOf(told(2)), 10_000, nothingBetter);
    assert.equal(lagS(one, 10_000), 0);
  });

  test('a database of which there was nothing to send since the start is in step, unless the log tells of trouble', () => {
    const one = lags();
    const told = readingsOf(
      `litestream_shadow_wal_index{db="${PATH}"} 1\nlitestream_shadow_wal_size{db="${PATH}"} 90\nlitestream_sync_count{db="${PATH}"} 4`,
    );
    one.look(told, 5_000, { ...nothingBetter, isTroubled: () => true });
    assert.equal(lagS(one, 5_000), 5);
    one.look(told, 6_000, nothingBetter);
    assert.equal(lagS(one, 6_000), 0);
  });

  test('a log that says that something is sent, and not that it was, is trouble; so is an error, for a while', () => {
    const log = new LitestreamLog();
    const line = (level: string, message: string) =>
      `time=2026-11-23T17:16:53.202Z level=${level} msg="${message}" db=${PATH} replica=file`;
    log.read(line('INFO', 'write wal segment'), 0);
    assert.equal(log.isTroubled(PATH, 1_000), false);
    assert.equal(log.isTroubled(PATH, 10_000), true);
    log.read(line('INFO', 'wal segment written'), 10_000);
    assert.equal(log.isTroubled(PATH, 20_000), false);
    log.read(line('ERROR', 'monitor error'), 20_000);
    assert.equal(log.isTroubled(PATH, 21_000), true);
    assert.equal(log.isTroubled(PATH, 60_000), false);
  });

  test('a database that went away is forgotten, one that came begins now', () => {
    const one = lags();
    one.follow(new Set(['/data/b.sqlite']), 30_000);
    assert.equal(one.size, 1);
    assert.equal(lagS(one, 31_000), 1);
  });
});
