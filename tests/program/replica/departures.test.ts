import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { Departures } from '../../../program/replica/departures.ts';
import { type ReplicaStore, replicaStore } from '../../../program/replica/store.ts';
import { dataLayout } from '../../../storage/data-layout.ts';
import { controlMigrations } from '../../../storage/migrations/control.ts';
import { migrate } from '../../../storage/migrations/migrate.ts';
import { openWriter } from '../../../storage/sqlite/database.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

const HOUR = 3_600_000;
const START = Date.UTC(2026, 0, 1);
const CONTROL = 'control.sqlite';
const STAYS = 'organisations/org_stays.sqlite';
const LEAVES = 'organisations/org_leaves.sqlite';
const FILES = ['generations/1/snapshots/0.snapshot.lz4', 'generations/1/wal/0.wal.lz4', 'generations/2/wal/0.wal.lz4'];

/** A replica of three databases; `org_leaves` is not in the control file unless it is `known`. */
async function replicaOf(t: TestContext, { known = false } = {}) {
  const layout = dataLayout(temporaryDir(t));
  mkdirSync(layout.replica, { recursive: true });
  const control = openWriter(layout.control);
  migrate(control, controlMigrations, 'control');
  if (known) control.exec("INSERT INTO organisations VALUES ('org_leaves', 'Lost', 'free', '[]', '{}', 1)");
  control.close();
  const store = replicaStore({
    url: `file://${temporaryDir(t)}`,
    s3: { region: 'us-east-1', endpoint: undefined, accessKeyId: undefined, secretAccessKey: undefined },
  });
  assert.ok(store !== undefined);
  for (const name of [CONTROL, STAYS, LEAVES]) for (const file of FILES) await store.put(`${name}/${file}`, Buffer.from('x'));
  return { layout, store };
}

/** What lies there of each database after `look` was asked once an hour, for so many hours. */
async function after(hours: number, departures: Departures, store: ReplicaStore, fromMs: number): Promise<number[]> {
  for (let hour = 0; hour <= hours; hour += 1) {
    departures.look(fromMs + hour * HOUR);
    await departures.end();
  }
  return Promise.all([CONTROL, STAYS, LEAVES].map(async (name) => (await store.list(`${name}/`)).length));
}

describe('REPLICA-10: what an organisation leaves behind that moved away', () => {
  test('goes from the replica a day and an hour later, also when the keeper was started anew meanwhile', async (t) => {
    const { layout, store } = await replicaOf(t);
    new Departures(store, layout).note([CONTROL, STAYS, LEAVES], START);
    const departures = new Departures(store, layout);
    departures.note([CONTROL, STAYS], START + HOUR);
    assert.deepEqual(await after(24, departures, store, START + HOUR), [3, 3, 3]);
    const restarted = new Departures(store, layout);
    restarted.note([CONTROL, STAYS], START + 25 * HOUR);
    assert.deepEqual(await after(3, restarted, store, START + 25 * HOUR), [3, 3, 0]);
  });

  test('stays when it comes back in time', async (t) => {
    const { layout, store } = await replicaOf(t);
    const departures = new Departures(store, layout);
    departures.note([CONTROL, STAYS, LEAVES], START);
    departures.note([CONTROL, STAYS], START);
    departures.note([CONTROL, STAYS, LEAVES], START + 20 * HOUR);
    assert.deepEqual(await after(30, departures, store, START + 20 * HOUR), [3, 3, 3]);
  });

  test('stays while the cell has the organisation: its file was lost, and this is what is left of it', async (t) => {
    const { layout, store } = await replicaOf(t, { known: true });
    const departures = new Departures(store, layout);
    departures.note([CONTROL, STAYS, LEAVES], START);
    departures.note([CONTROL, STAYS], START);
    assert.deepEqual(await after(100, departures, store, START), [3, 3, 3]);
  });

  test('is told while it cannot be removed, and is removed later', async (t) => {
    const { layout, store } = await replicaOf(t);
    let isAway = true;
    const remove = async (name: string) => {
      if (isAway) throw new Error('connection refused');
      await store.remove(name);
    };
    const departures = new Departures({ ...store, remove }, layout);
    departures.note([LEAVES], START);
    departures.note([], START);
    assert.deepEqual(await after(30, departures, store, START), [3, 3, 3]);
    assert.equal(departures.problem, 'connection refused');
    isAway = false;
    assert.deepEqual(await after(1, departures, store, START + 31 * HOUR), [3, 3, 0]);
    assert.equal(departures.problem, undefined);
  });
});
