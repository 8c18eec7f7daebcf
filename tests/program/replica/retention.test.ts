import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { Retention } from '../../../program/replica/retention.ts';
import { dataLayout } from '../../../storage/data-layout.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.UTC(2026, 0, 1);

describe('REPLICA-10: what was deleted goes from the replica', () => {
  test('also where Litestream is started anew so often that it never looks by itself, and across restarts of the service', (t) => {
    const layout = dataLayout(temporaryDir(t));
    mkdirSync(layout.replica, { recursive: true });
    const retention = () => new Retention(layout);
    let nowMs = START;
    for (; nowMs < START + 12 * HOUR; nowMs += 20 * MINUTE) {
      const one = retention();
      assert.equal(one.begin(nowMs), undefined, 'its own hour');
      assert.equal(one.isDone(nowMs + 19 * MINUTE), false);
    }
    const late = retention();
    nowMs += MINUTE;
    assert.equal(late.begin(nowMs), 60, 'it was not looked for half a day');
    assert.equal(late.isDone(nowMs + MINUTE), false, 'it is looking');
    assert.equal(retention().begin(nowMs + MINUTE), 60, 'it was started anew before that was over');
    assert.equal(late.isDone(nowMs + 2 * MINUTE), true);
    assert.equal(retention().begin(nowMs + 2 * MINUTE), undefined);
  });

  test('one that runs for hours looks by itself', (t) => {
    const layout = dataLayout(temporaryDir(t));
    mkdirSync(layout.replica, { recursive: true });
    const one = new Retention(layout);
    assert.equal(one.begin(START), undefined);
    for (let nowMs = START; nowMs < START + 48 * HOUR; nowMs += 10 * MINUTE) assert.equal(one.isDone(nowMs), false);
    assert.equal(one.begin(START + 49 * HOUR), undefined);
  });
});
