/** Whom a device stands for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listBoundDevices, readBinding, unbindPerson } from '../../../storage/people/devices.ts';
import { addApp, openApp, openFiles } from '../migrations/migrated-files.ts';
import { identify } from './people.ts';

const [PHONE, TABLET] = ['a'.repeat(32), 'b'.repeat(32)];

test('PERSON-7: a device is bound within its app and kind of key, to the person of the last call', (t) => {
  const files = openFiles(t, 1);
  const { db } = files;
  const [one, other] = [addApp(files, 'One', 1), addApp(files, 'Other', 1)];
  const ann = identify(db, { appId: one, deviceId: PHONE, externalUserId: 'ann' });
  assert.deepEqual(readBinding(db, one, 'live', PHONE), { endUserId: ann.id, externalUserId: 'ann', proven: false, sinceMs: 1 });
  identify(db, { appId: one, deviceId: PHONE, externalUserId: 'ann', nowMs: 7 });
  assert.equal(readBinding(db, one, 'live', PHONE)?.sinceMs, 1, 'who says again that it is them is there since the first time');
  for (const [appId, channel, deviceId] of [
    [other, 'live', PHONE],
    [one, 'sandbox', PHONE],
    [one, 'live', TABLET],
    [one, 'live', ''],
  ] as const) {
    assert.equal(readBinding(db, appId, channel, deviceId), undefined);
  }
  const ben = identify(db, { appId: one, deviceId: PHONE, externalUserId: 'ben', proven: true, nowMs: 9 });
  assert.deepEqual(readBinding(db, one, 'live', PHONE), { endUserId: ben.id, externalUserId: 'ben', proven: true, sinceMs: 9 });
  assert.deepEqual(listBoundDevices(db, ann.id, 9), []);
});

test('PERSON-10: a binding without proof stands for nobody once the record is signed for', (t) => {
  const { db, appId } = openApp(t, 1);
  identify(db, { appId, deviceId: PHONE, externalUserId: 'ann' });
  identify(db, { appId, deviceId: TABLET, externalUserId: 'ann', proven: true });
  assert.equal(readBinding(db, appId, 'live', PHONE), undefined);
  assert.equal(readBinding(db, appId, 'live', TABLET)?.proven, true);
});

test('LIMIT-33: binding and erasing leave when a device was last seen', (t) => {
  const { db, appId } = openApp(t, 1);
  db.statement("INSERT INTO devices (app_id, channel, device_id, seen_at_ms) VALUES (:appId, 'live', :PHONE, 77)").run({ appId, PHONE });
  const { id } = identify(db, { appId, deviceId: PHONE, externalUserId: 'ann', proven: true, nowMs: 5 });
  assert.deepEqual(listBoundDevices(db, id, 9), [{ deviceId: PHONE, proven: true, boundAtMs: 5, seenAtMs: 77 }]);
  unbindPerson(db, id);
  assert.deepEqual(listBoundDevices(db, id, 9), []);
  const row = db.statement('SELECT seen_at_ms, end_user_id, proven, bound_at_ms FROM devices').get();
  assert.deepEqual({ ...row }, { seen_at_ms: 77, end_user_id: null, proven: 0, bound_at_ms: null });
});
