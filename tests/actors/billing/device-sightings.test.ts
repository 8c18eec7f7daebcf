import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeviceSightings } from '../../../actors/billing/device-sightings.ts';
import { countUsers } from '../../../storage/billing/usage.ts';
import type { Storage } from '../../../storage/storage.ts';
import { openFixture } from './fixture.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

async function open(t: Parameters<typeof openFixture>[0]) {
  const fixture = await openFixture(t);
  const { storage, organisationId, log, nowMs } = fixture;
  const sealedIdentitySecret = storage.vault.seal('test', Buffer.from('secret'));
  const app = { appId: 'app_a', organisationId, name: 'Shop', platformHint: 'web', settings: {}, sealedIdentitySecret, nowMs: nowMs() };
  await storage.write(organisationId, 'createApp', app);
  let writes = 0;
  const counting = {
    ...storage,
    write: (...call: Parameters<Storage['write']>) => {
      writes += 1;
      return storage.write(...call);
    },
  } as Storage;
  const sightings = new DeviceSightings(counting, log, nowMs);
  const see = (deviceId: string, channel: 'live' | 'sandbox' = 'live', appId = 'app_a') =>
    sightings.seen({ appId, organisationId, channel, deviceId });
  return { fixture, see, sightings, writes: () => writes, users: () => countUsers(storage.organisation(organisationId), nowMs()) };
}

test('LIMIT-33: devices that opened the app with a live key in the last 90 days are users, before they say a word', async (t) => {
  const { fixture, see, sightings, users } = await open(t);
  for (const device of ['d1', 'd2', 'd1', '']) see(device);
  see('d3', 'sandbox');
  see('d4', 'live', 'app_gone');
  assert.equal(users(), 0, 'nothing is written on the request’s path');
  await sightings.flush();
  assert.equal(users(), 2);
  fixture.pass(60 * DAY_MS);
  see('d2');
  await sightings.flush();
  fixture.pass(31 * DAY_MS);
  assert.equal(users(), 1, 'd1 was seen 91 days ago');
});

test('LIMIT-34: a device is written once a day, however often it calls, and many together', async (t) => {
  const { fixture, see, sightings, writes } = await open(t);
  for (let n = 0; n < 1_000; n++) see(`d${n % 100}`);
  await sightings.flush();
  assert.equal(writes(), 1);
  for (let n = 0; n < 1_000; n++) see(`d${n % 100}`);
  await sightings.flush();
  assert.equal(writes(), 1);
  fixture.pass(DAY_MS);
  see('d1');
  await sightings.flush();
  assert.equal(writes(), 2);
});

test('LIMIT-34: a sighting that could not be written is noted with the device’s next request', async (t) => {
  const fixture = await openFixture(t);
  let attempts = 0;
  const full = {
    write: () => {
      attempts += 1;
      return Promise.reject(new Error('disk full'));
    },
  } as unknown as Storage;
  const sightings = new DeviceSightings(full, fixture.log, fixture.nowMs);
  for (let n = 0; n < 2; n++) {
    sightings.seen({ appId: 'app_a', organisationId: fixture.organisationId, channel: 'live', deviceId: 'd1' });
    await sightings.flush();
  }
  assert.equal(attempts, 2);
});
