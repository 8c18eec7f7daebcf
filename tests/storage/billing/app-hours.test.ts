import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { type CountedHour, HOUR_MS, readAppHours, readTriedHours, transactions } from '../../../storage/billing/app-hours.ts';
import { migrate } from '../../../storage/migrations/migrate.ts';
import { organisationMigrations } from '../../../storage/migrations/organisation.ts';
import { transactions as devices } from '../../../storage/people/devices.ts';
import { openWriter } from '../../../storage/sqlite/database.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

const APP = `INSERT INTO apps (id, name, slug, platform_hint, settings, live, identity_secret, created_at_ms, updated_at_ms)
  VALUES ('app_a', 'Shop', 'shop', '', '{}', 1, x'00', 0, 0)`;

test('CONSOLE-31, CONSOLE-34: a file of the version before is counted in by the hour, for a month, each device once a day, and with its app the counts go', (t) => {
  const db = openWriter(join(temporaryDir(t), 'org_a.sqlite'));
  t.after(() => db.close());
  migrate(db, organisationMigrations.slice(0, 1), 'organisation');
  db.exec(APP);
  migrate(db, organisationMigrations, 'organisation');
  const add = (hour: number, more: Partial<CountedHour> = {}) =>
    transactions.addAppHours(db, {
      hours: [{ appId: 'app_a', channel: 'live', hour, ended: 2, failed: 1, people: 0, firstWords: [1], ...more }],
      tried: [],
    });
  add(1_000);
  add(1_000, { firstWords: [1, 0, 3] });
  add(1_000, { appId: 'app_gone' });
  assert.deepEqual(readAppHours(db, 'app_a', 'live', 0), [{ hour: 1_000, ended: 4, failed: 2, people: 0, firstWords: [2, 0, 3] }]);
  for (const [hour, deviceId] of [
    [1_001, 'd'],
    [1_002, 'd'],
    [1_002, 'e'],
    [1_027, 'd'],
  ] as const)
    devices.seeDevices(db, { sightings: [{ appId: 'app_a', deviceId }], nowMs: hour * HOUR_MS });
  const people = () => readAppHours(db, 'app_a', 'live', 0).map((row) => [row.hour, row.people]);
  assert.deepEqual(people(), [
    [1_000, 0],
    [1_001, 1],
    [1_002, 1],
    [1_027, 1],
  ]);
  add(1_000 + 31 * 24 + 2);
  assert.deepEqual(people(), [
    [1_002, 1],
    [1_027, 1],
    [1_746, 0],
  ]);
  const tried = (hour: number, failed: number, appId = 'app_a') =>
    transactions.addAppHours(db, { hours: [], tried: [{ appId, kind: 'model', hour, tried: 2, failed }] });
  tried(2_000, 1);
  tried(2_000, 0);
  tried(2_000, 0, 'app_gone');
  const rounds = () => readTriedHours(db, 'app_a', 1_800);
  assert.deepEqual(rounds(), [{ kind: 'model', hour: 2_000, tried: 4, failed: 1 }]);
  tried(2_000 + 31 * 24 + 1, 2);
  assert.deepEqual(rounds(), [{ kind: 'model', hour: 2_745, tried: 2, failed: 2 }]);
  db.exec(`PRAGMA foreign_keys = ON; DELETE FROM apps WHERE id = 'app_a'`);
  assert.deepEqual([people(), rounds()], [[], []]);
});
