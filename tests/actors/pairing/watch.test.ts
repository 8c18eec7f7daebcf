/** How long a pairing is watched for nobody, and what a page hears meanwhile. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import pino from 'pino';
import { silentAnnouncer } from '../../../actors/announcements.ts';
import { Pairings } from '../../../actors/pairing/pairings.ts';
import { storeApp } from '../setup/app-in-storage.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');
const PING_MS = 15_000;
const DEVICE = 'a'.repeat(32);

/** A claimed pairing; time passes for it when the test says so. */
async function claimed(t: TestContext) {
  const { storage, organisationId, appId } = await storeApp(t, NOW);
  let nowMs = NOW;
  let watched = 0;
  const actors = {
    watchDevice() {
      watched += 1;
      return () => {
        watched -= 1;
      };
    },
  };
  const pairings = new Pairings({ storage, actors, others: silentAnnouncer, log: pino({ level: 'silent' }), nowMs: () => nowMs });
  t.after(() => pairings.close());
  const { id, code } = await pairings.open({ id: appId, organisationId });
  await pairings.claim({ organisationId, appId, channel: 'sandbox', deviceId: DEVICE }, code);
  t.mock.timers.enable({ apis: ['setTimeout', 'setImmediate'] });
  return {
    look: () => pairings.watch({ organisationId, pairingId: id }),
    watched: () => watched,
    pass(ms: number): void {
      for (let left = ms; left > 0; left -= PING_MS) {
        nowMs += PING_MS;
        t.mock.timers.tick(PING_MS);
      }
    },
  };
}

test('PAIRING-11: a page that hears nothing else hears every 15 seconds that the connection lives', async (t) => {
  const pairing = await claimed(t);
  const source = pairing.look().source((row, state) => ({ id: row.id, state }));
  let woken = 0;
  source.subscribe(() => {
    woken += 1;
  });
  assert.match(source.read(0, 1_000).text, /^event: pairing\ndata: \{"id":"pai_\w+","state":"claimed"\}\n\n$/);
  assert.equal(source.read(1, 1_000).text, '');
  woken = 0;
  pairing.pass(PING_MS);
  assert.ok(woken > 0);
  assert.deepEqual([source.read(1, 1_000).text, source.read(1, 1_000).text], [': ping\n\n', '']);
});

test('PAIRING-10: turns are followed for a minute after the last page has gone, so that one may come back', async (t) => {
  const pairing = await claimed(t);
  const watch = pairing.look();
  const leave = watch.source(() => ({})).subscribe(() => {});
  pairing.pass(120_000);
  assert.equal(pairing.watched(), 1);
  leave();
  pairing.pass(45_000);
  assert.deepEqual([pairing.watched(), pairing.look() === watch], [1, true]);
  pairing.pass(30_000);
  assert.deepEqual([pairing.watched(), pairing.look() === watch], [0, false]);
  assert.equal(pairing.watched(), 1, 'a page that comes later begins anew');
});
