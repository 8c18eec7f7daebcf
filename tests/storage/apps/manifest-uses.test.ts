/** Which of an app's manifests count as its own, when strangers may post some, too. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  hashManifest,
  hasManifest,
  latestManifest,
  MANIFESTS_PER_APP_MAX,
  NEW_MANIFESTS_MAX,
  noteManifestUse,
  transactions,
} from '../../../storage/apps/manifests.ts';
import { registeredScreens } from '../../../storage/apps/screens.ts';
import { openApp } from '../migrations/migrated-files.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');
const HOUR_MS = 60 * 60 * 1000;

test('MANIFEST-7: an unsolicited manifest is the latest from its first turn on, and the first of an app at once', (t) => {
  const { db, appId } = openApp(t, NOW);
  const post = (version: string, unsolicited: boolean, nowMs = NOW) => {
    const hashed = hashManifest({ version, actions: [] });
    transactions.registerManifest(db, { ...hashed, appId, sdk: 'web/1.0.0', unsolicited, nowMs });
    return hashed.hash;
  };
  const first = post('1', true);
  assert.equal(latestManifest(db, appId)?.hash, first);
  const second = post('2', true);
  assert.equal(latestManifest(db, appId)?.hash, first);
  noteManifestUse(db, appId, second, NOW);
  assert.equal(latestManifest(db, appId)?.hash, second);
  const third = post('3', false);
  assert.equal(latestManifest(db, appId)?.hash, third);
  noteManifestUse(db, appId, 'f'.repeat(64), NOW);
  // One in use outlives those that were posted after it and are not used any more.
  for (let n = 0; n < MANIFESTS_PER_APP_MAX - 3; n++) post(`old ${n}`, false, NOW + 1_000);
  noteManifestUse(db, appId, second, NOW + 2 * HOUR_MS);
  for (let n = 0; n < 20; n++) post(`new ${n}`, false, NOW + 2_000);
  assert.equal(hasManifest(db, appId, second), true);
  assert.equal(db.statement('SELECT count(*) AS n FROM manifests').get()?.n, MANIFESTS_PER_APP_MAX + 2);
});

test('MANIFEST-7: what strangers post and use pushes out nothing that was in use for some hours, or that a signed person uses', (t) => {
  const { db, appId } = openApp(t, NOW);
  const post = (version: string, unsolicited: boolean, nowMs: number) => {
    const hashed = hashManifest({ version, actions: [] });
    transactions.registerManifest(db, { ...hashed, appId, sdk: 'web/1.0.0', unsolicited, nowMs });
    return hashed.hash;
  };
  const own = post('before it was live', false, NOW);
  const signed = post('2', true, NOW);
  noteManifestUse(db, appId, signed, NOW, true);
  const busy = post('3', true, NOW);
  for (let hour = 0; hour < 3; hour++) noteManifestUse(db, appId, busy, NOW + hour * (HOUR_MS + 1));
  const idle = post('4', true, NOW);
  noteManifestUse(db, appId, idle, NOW);
  const strangers = Array.from({ length: 250 }, (_, n) => {
    const hash = post(`stranger ${n}`, true, NOW + 4 * HOUR_MS + n);
    noteManifestUse(db, appId, hash, NOW + 4 * HOUR_MS + n);
    return hash;
  });
  post('one more', true, NOW + 5 * HOUR_MS);
  assert.deepEqual(
    [own, signed, busy, idle].map((hash) => hasManifest(db, appId, hash)),
    [true, true, true, false],
    'one that was used in one hour only is as new as theirs',
  );
  assert.equal(strangers.filter((hash) => hasManifest(db, appId, hash)).length, NEW_MANIFESTS_MAX);

  // Also of those in use the bound holds: what nobody vouches for goes first, and what was replaced long ago before it.
  for (let n = 0; n < MANIFESTS_PER_APP_MAX - 2; n++) post(`build ${n}`, false, NOW + 6 * HOUR_MS);
  assert.deepEqual(
    [own, signed, busy].map((hash) => hasManifest(db, appId, hash)),
    [true, true, false],
  );
  const muchLater = NOW + 100 * 24 * HOUR_MS;
  const newest = post('newest', true, muchLater);
  for (let hour = 0; hour < 3; hour++) noteManifestUse(db, appId, newest, muchLater + hour * (HOUR_MS + 1));
  post('one more build', false, muchLater);
  assert.equal(hasManifest(db, appId, newest), true);
  assert.equal(db.statement('SELECT count(*) AS n FROM manifest_uses').get()?.n, MANIFESTS_PER_APP_MAX + NEW_MANIFESTS_MAX);
});

test('MANIFEST-7: what a stranger posts and uses is neither the latest manifest of an app that has builds in use, nor makes its screens known', (t) => {
  const { db, appId } = openApp(t, NOW);
  const post = (route: string, unsolicited: boolean, nowMs: number) => {
    const hashed = hashManifest({ version: '1', actions: [], routes: [{ name: route, title: route }] });
    transactions.registerManifest(db, { ...hashed, appId, sdk: 'web/1.0.0', unsolicited, nowMs });
    return hashed.hash;
  };
  const seen = () => [latestManifest(db, appId)?.hash, [...registeredScreens(db, appId)].sort()];
  const own = post('orders', false, NOW);
  for (let n = 0; n < 30; n++) {
    // Posted only, or used in one hour.
    const hash = post(`stranger_${n}`, true, NOW + n);
    if (n === 0) noteManifestUse(db, appId, hash, NOW);
  }
  assert.deepEqual(seen(), [own, ['orders', 'stranger_0']]);

  const release = post('returns', true, NOW + HOUR_MS);
  noteManifestUse(db, appId, release, NOW + HOUR_MS, true);
  assert.equal(seen()[0], release, 'a signed person uses it');
  const anonymous = post('delivery', true, NOW + 2 * HOUR_MS);
  for (let hour = 0; hour < 3; hour++) {
    assert.equal(seen()[0], release);
    noteManifestUse(db, appId, anonymous, NOW + (2 + hour) * (HOUR_MS + 1));
  }
  assert.equal(seen()[0], anonymous, 'it was in use for some hours');
});
