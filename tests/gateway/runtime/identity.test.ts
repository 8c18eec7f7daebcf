/** Who a turn is for, and which signatures count. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import type { RuntimeCaller } from '../../../gateway/route.ts';
import { isSignedBy, turnPerson } from '../../../gateway/runtime/identity.ts';
import type { Services } from '../../../gateway/services.ts';
import { mintId } from '../../../protocol/ids.ts';
import { readApp } from '../../../storage/apps/apps.ts';
import { PREVIOUS_IDENTITY_SECRET_VALID_MS, sealIdentitySecret } from '../../../storage/apps/identity-secrets.ts';
import { serveApp } from './runtime-app.ts';

const NOW = Date.UTC(2026, 10, 20);
const DEVICE = 'a'.repeat(32);
const ANN = 'ann';

const sign = (secret: string, id = ANN) => createHmac('sha256', secret).update(id).digest('hex');

/** An app whose identity secret is `two`, rotated from `one` at NOW. */
async function open(t: TestContext) {
  let nowMs = NOW;
  const app = await serveApp(t, []);
  const { storage, appId, organisationId } = app;
  for (const secret of ['one', 'two']) {
    const sealed = sealIdentitySecret(storage.vault, appId, secret);
    await storage.write(organisationId, 'rotateIdentitySecret', { appId, sealed, nowMs });
  }
  const services = { storage, nowMs: () => nowMs } as unknown as Services;
  const caller = (deviceId = DEVICE): RuntimeCaller => {
    const record = readApp(storage.organisation(organisationId), appId, organisationId);
    assert.ok(record !== undefined);
    return { app: record, appId, organisationId, channel: 'sandbox', address: '127.0.0.1', deviceId, person: null };
  };
  const identify = (deviceId: string, externalUserId: string, proven: boolean, endUserId = mintId('usr', nowMs), isNew = true) =>
    storage.write(organisationId, 'identify', {
      appId,
      channel: 'sandbox',
      deviceId,
      externalUserId,
      endUserId,
      isNew,
      proven,
      traits: undefined,
      nowMs,
    });
  return {
    ...app,
    services,
    caller,
    identify,
    setNow(atMs: number) {
      nowMs = atMs;
    },
  };
}

test('PERSON-4: a signature is lowercase hex HMAC-SHA256 of the user id, made with the app’s secret', async (t) => {
  const { services, caller } = await open(t);
  const isSigned = (hmac: string | null | undefined, id = ANN) => isSignedBy({ id, hmac }, caller(), services);
  const right = sign('two');
  assert.equal(isSigned(right), true);
  assert.equal(isSigned(sign('two', 'Änn 🙂'), 'Änn 🙂'), true);
  const wrong = [right.toUpperCase(), right.slice(1), `${right}0`, ` ${right}`, '', null, undefined, sign('three'), sign('two', 'ben')];
  for (const hmac of wrong) assert.equal(isSigned(hmac), false, String(hmac));
});

test('PERSON-4: after a rotation both secrets sign for a day, then only the new one', async (t) => {
  const { services, caller, setNow } = await open(t);
  const isSigned = (secret: string) => isSignedBy({ id: ANN, hmac: sign(secret) }, caller(), services);
  assert.deepEqual([isSigned('one'), isSigned('two')], [true, true]);
  setNow(NOW + PREVIOUS_IDENTITY_SECRET_VALID_MS - 1);
  assert.deepEqual([isSigned('one'), isSigned('two')], [true, true]);
  setNow(NOW + PREVIOUS_IDENTITY_SECRET_VALID_MS);
  assert.deepEqual([isSigned('one'), isSigned('two')], [false, true]);
});

test('PERSON-2: a turn without user reads its device once, and nothing when it names no device', async (t) => {
  const { services, caller } = await open(t);
  const home = caller();
  let reads = 0;
  const counted = {
    ...services,
    storage: {
      ...services.storage,
      organisation(id: string) {
        const db = services.storage.organisation(id);
        const tuples = (sql: string) => {
          reads += 1;
          return db.tuples(sql);
        };
        return { ...db, tuples };
      },
    },
  } as unknown as Services;
  turnPerson(undefined, { ...home, deviceId: '' }, counted);
  turnPerson(null, home, counted);
  assert.equal(reads, 0);
  turnPerson(undefined, home, counted);
  assert.equal(reads, 1);
});
