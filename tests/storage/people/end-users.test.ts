/** Records of people, their traits, and the history that moves onto them. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConversation } from '../../../storage/conversations/conversations.ts';
import { readBinding } from '../../../storage/people/devices.ts';
import {
  DEVICES_WITH_TRAITS_MAX,
  deviceTraitsOf,
  listEndUsers,
  readEndUser,
  readEndUserById,
  sealTraits,
  traitsOf,
  traitsOfRecord,
} from '../../../storage/people/end-users.ts';
import { openVault } from '../../../storage/secrets/vault.ts';
import { each } from '../../support/each.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { addApp, openApp, openFiles } from '../migrations/migrated-files.ts';
import { converse, identify } from './people.ts';

const [PHONE, TABLET] = ['a'.repeat(32), 'b'.repeat(32)];

test('PERSON-9: only the device’s own anonymous conversations of this app and key move, and no epoch changes', (t) => {
  const files = openFiles(t, 1);
  const { db } = files;
  const [one, other] = [addApp(files, 'One', 1), addApp(files, 'Other', 1)];
  const ben = identify(db, { appId: one, deviceId: TABLET, externalUserId: 'ben' });
  const mine = converse(db, { appId: one, deviceId: PHONE });
  const stays = [
    converse(db, { appId: other, deviceId: PHONE }),
    converse(db, { appId: one, deviceId: PHONE, channel: 'sandbox' }),
    converse(db, { appId: one, deviceId: TABLET }),
    converse(db, { appId: one, deviceId: '' }),
    converse(db, { appId: one, deviceId: PHONE, endUserId: ben.id }),
  ];
  const ann = identify(db, { appId: one, deviceId: PHONE, externalUserId: 'ann' });
  const moved = readConversation(db, mine.conversationId);
  assert.deepEqual([moved?.endUserId, moved?.epoch], [ann.id, 7]);
  assert.deepEqual(
    stays.map(({ conversationId }) => readConversation(db, conversationId)?.endUserId),
    [null, null, null, null, ben.id],
  );
});

test('PERSON-10: a record that came, went or was signed for since it was read is not written to', (t) => {
  const { db, appId } = openApp(t, 1);
  const ann = identify(db, { appId, deviceId: PHONE, externalUserId: 'ann', proven: true });
  const again = { appId, deviceId: TABLET, externalUserId: 'ann', proven: true };
  assert.equal(identify(db, { ...again, isNew: true, endUserId: 'usr_other' }).outcome, 'stale');
  assert.equal(identify(db, { ...again, endUserId: 'usr_other' }).outcome, 'stale');
  assert.equal(identify(db, { ...again, externalUserId: 'ben', isNew: false }).outcome, 'stale');
  assert.equal(identify(db, { ...again, proven: false }).outcome, 'unproven');
  assert.equal(readBinding(db, appId, 'live', TABLET), undefined);
  assert.deepEqual(each(listEndUsers(db, { appId, externalUserId: null, after: '', limit: 9 }), 'id'), [ann.id]);
});

test('PERSON-10: a signature is remembered, and none later takes it back', (t) => {
  const { db, appId } = openApp(t, 1);
  const verified = () => readEndUser(db, appId, 'live', 'ann')?.verified;
  identify(db, { appId, deviceId: PHONE, externalUserId: 'ann' });
  assert.equal(verified(), false);
  identify(db, { appId, deviceId: PHONE, externalUserId: 'ann', proven: true });
  assert.equal(verified(), true);
  identify(db, { appId, deviceId: PHONE, externalUserId: 'ann' });
  assert.equal(verified(), true);
});

test('PERSON-11: traits are sealed for one record: they open for nobody else, and none are null', (t) => {
  const files = openFiles(t, 1);
  const { db } = files;
  const vault = openVault(join(temporaryDir(t), 'key'), undefined);
  const appId = addApp(files, 'One', 1);
  const ann = identify(db, { appId, deviceId: PHONE, externalUserId: 'ann' });
  const ben = identify(db, { appId, deviceId: TABLET, externalUserId: 'ben' });
  const traitsTo = (deviceId: string, externalUserId: string) => traitsOf(db, vault, { appId, channel: 'live', externalUserId, deviceId });
  assert.equal(traitsTo(PHONE, 'ann'), null);
  assert.equal(traitsTo(PHONE, 'nobody'), null);
  const sealed = sealTraits(vault, appId, ann.id, { plan: 'pro', tags: ['a'] });
  identify(db, { appId, deviceId: PHONE, externalUserId: 'ann', traits: sealed });
  assert.deepEqual(traitsTo(PHONE, 'ann'), { plan: 'pro', tags: ['a'] });
  assert.deepEqual(traitsOfRecord(db, vault, appId, ann.id), { plan: 'pro', tags: ['a'] });
  for (const other of [TABLET, ''])
    assert.equal(traitsTo(other, 'ann'), null, 'nobody signed for them: only the device that said so is told');
  identify(db, { appId, deviceId: PHONE, externalUserId: 'ann', traits: sealed, proven: true });
  assert.deepEqual(traitsTo(TABLET, 'ann'), { plan: 'pro', tags: ['a'] }, 'a signature holds everywhere');
  identify(db, { appId, deviceId: TABLET, externalUserId: 'ben', traits: sealed });
  assert.throws(() => traitsOfRecord(db, vault, appId, ben.id));
  assert.equal(sealTraits(vault, appId, ann.id, {}), null);
});

test('PERSON-12: traits without a signature are kept for each device, the newest devices only, until signed ones come', (t) => {
  const files = openFiles(t, 1);
  const { db } = files;
  const vault = openVault(join(temporaryDir(t), 'key'), undefined);
  const appId = addApp(files, 'One', 1);
  const { id } = identify(db, { appId, deviceId: PHONE, externalUserId: 'ann' });
  const tell = (deviceId: string, traits: Record<string, unknown>, proven = false) =>
    identify(db, { appId, deviceId, externalUserId: 'ann', traits: sealTraits(vault, appId, id, traits), proven });
  const heardBy = (deviceId: string) => traitsOf(db, vault, { appId, channel: 'live', externalUserId: 'ann', deviceId });
  const kept = () => deviceTraitsOf(db, vault, appId, id).map(({ deviceId }) => deviceId);
  const others = Array.from({ length: DEVICES_WITH_TRAITS_MAX }, (_, n) => n.toString(16).padStart(32, '0'));
  tell(PHONE, { from: 'phone' });
  tell(TABLET, { from: 'tablet' });
  assert.deepEqual([heardBy(PHONE), heardBy(TABLET), heardBy('')], [{ from: 'phone' }, { from: 'tablet' }, null]);
  for (const other of others.slice(2)) tell(other, { from: other });
  tell(PHONE, { from: 'phone again' });
  tell(others[0] as string, { from: 'one too many' });
  assert.deepEqual(kept(), [...others.slice(2), PHONE, others[0]], 'the one that was silent longest went');
  assert.deepEqual([heardBy(PHONE), heardBy(TABLET)], [{ from: 'phone again' }, null]);
  assert.deepEqual(traitsOfRecord(db, vault, appId, id), { from: 'one too many' });
  identify(db, { appId, deviceId: TABLET, externalUserId: 'ann', proven: true });
  assert.deepEqual(heardBy(PHONE), { from: 'phone again' }, 'a signature without traits leaves them');
  tell(TABLET, {}, true);
  assert.deepEqual([kept(), heardBy(PHONE), traitsOfRecord(db, vault, appId, id)], [[], null, null], 'signed {} clears all');
});

test('PERSON-12: made-up devices push out no traits of a device that has talked to the app', (t) => {
  const files = openFiles(t, 1);
  const { db } = files;
  const vault = openVault(join(temporaryDir(t), 'key'), undefined);
  const appId = addApp(files, 'One', 1);
  const { id } = identify(db, { appId, deviceId: PHONE, externalUserId: 'ann' });
  const tell = (deviceId: string) =>
    identify(db, { appId, deviceId, externalUserId: 'ann', traits: sealTraits(vault, appId, id, { from: deviceId }) });
  converse(db, { appId, deviceId: PHONE, endUserId: id });
  tell(PHONE);
  const madeUp = Array.from({ length: DEVICES_WITH_TRAITS_MAX * 2 }, (_, n) => n.toString(16).padStart(32, '0'));
  for (const deviceId of madeUp) tell(deviceId);
  const kept = deviceTraitsOf(db, vault, appId, id).map(({ deviceId }) => deviceId);
  assert.deepEqual(kept, [PHONE, ...madeUp.slice(1 - DEVICES_WITH_TRAITS_MAX)]);
});

test('CONSOLE-14: people are listed oldest first, by app, and found by the name the app has for them', (t) => {
  const files = openFiles(t, 1);
  const { db } = files;
  const [one, other] = [addApp(files, 'One', 1), addApp(files, 'Other', 1)];
  const named = (externalUserId: string, nowMs: number, more = {}) =>
    identify(db, { appId: one, deviceId: PHONE, externalUserId, nowMs, ...more }).id;
  const people = [named('ann', 1), named('ben', 2), named('ann', 3, { channel: 'sandbox' })];
  const elsewhere = named('ann', 4, { appId: other });
  const list = (after: string, limit: number, externalUserId: string | null = null) =>
    listEndUsers(db, { appId: one, externalUserId, after, limit }).map(({ id }) => id);
  assert.deepEqual(list('', 9), people);
  assert.deepEqual([list('', 2), list(people[1] ?? '', 2)], [people.slice(0, 2), people.slice(2)]);
  assert.deepEqual(list('', 9, 'ann'), [people[0], people[2]]);
  assert.deepEqual(list('', 9, 'an'), []);
  assert.equal(readEndUserById(db, one, elsewhere), undefined);
  assert.equal(readEndUserById(db, other, elsewhere)?.externalUserId, 'ann');
});
