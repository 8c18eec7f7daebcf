import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mintId } from '../../../protocol/ids.ts';
import {
  APPS_PER_ORGANISATION_MAX,
  KEYS_PER_APP_MAX,
  listKeys,
  listOrganisations,
  mintKeyToken,
  organisationOfApp,
  readKey,
  readOrganisation,
  readPlanPeriods,
  transactions,
} from '../../../storage/organisations/organisations.ts';
import { each } from '../../support/each.ts';
import { openApp, openFiles } from '../migrations/migrated-files.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');

function key(channel: 'live' | 'sandbox') {
  return { keyId: mintId('key', NOW), token: mintKeyToken(channel), channel };
}

test('KEY-2: minted keys are rd_pk_live_ or rd_pk_test_ and 24 base32 characters', () => {
  assert.match(mintKeyToken('live'), /^rd_pk_live_[a-z2-7]{24}$/);
  assert.match(mintKeyToken('sandbox'), /^rd_pk_test_[a-z2-7]{24}$/);
  assert.notEqual(mintKeyToken('live'), mintKeyToken('live'));
});

test('CONSOLE-8: a PATCH of an organisation changes the fields it names and no other', (t) => {
  const { control, organisationId } = openFiles(t, NOW);
  const members = [{ email: 'ada@example.com', name: 'Ada' }];
  transactions.patchOrganisation(control, { id: organisationId, members, nowMs: NOW });
  const patched = transactions.patchOrganisation(control, { id: organisationId, name: 'Acme Ltd', nowMs: NOW });
  assert.deepEqual(patched, readOrganisation(control, organisationId));
  assert.deepEqual([patched.name, patched.plan, patched.members], ['Acme Ltd', 'free', members]);
  assert.throws(() => transactions.patchOrganisation(control, { id: 'org_x', nowMs: NOW }), { code: 'not_found' });
});

test('LIMIT-21: the plan of each month is kept, the last change within a month counts', (t) => {
  const { control, organisationId } = openFiles(t, NOW);
  transactions.patchOrganisation(control, { id: organisationId, plan: 'scale', nowMs: Date.parse('2026-12-03T00:00:00Z') });
  transactions.patchOrganisation(control, { id: organisationId, plan: 'growth', nowMs: Date.parse('2026-12-09T00:00:00Z') });
  assert.deepEqual(readPlanPeriods(control, organisationId), [
    { from: '2026-11', plan: 'free' },
    { from: '2026-12', plan: 'growth' },
  ]);
});

test('CONSOLE-7: organisations are paged by id', (t) => {
  const { control, organisationId } = openFiles(t, NOW);
  const second = mintId('org', NOW + 1);
  const autoTopUp = { enabled: false, amount_usd: 10 };
  transactions.createOrganisation(control, { id: second, name: 'B', plan: 'free', members: [], autoTopUp, nowMs: NOW });
  assert.deepEqual(each(listOrganisations(control, '', 1), 'id'), [organisationId]);
  assert.deepEqual(each(listOrganisations(control, organisationId, 5), 'id'), [second]);
});

test('KEY-1: a deleted key is revoked at once and is no other key', (t) => {
  const { control, organisationId, appId } = openApp(t, NOW);
  const [live, sandbox] = [key('live'), key('sandbox')];
  for (const one of [live, sandbox]) transactions.addKey(control, { organisationId, appId, key: one, nowMs: NOW });
  assert.deepEqual(readKey(control, live.token)?.channel, 'live');
  assert.equal(transactions.revokeKey(control, { appId: 'app_other', keyId: live.keyId, nowMs: NOW }), false);
  assert.equal(transactions.revokeKey(control, { appId, keyId: live.keyId, nowMs: NOW + 5 }), true);
  assert.equal(transactions.revokeKey(control, { appId, keyId: live.keyId, nowMs: NOW + 9 }), false);
  assert.equal(readKey(control, live.token)?.revokedAtMs, NOW + 5);
  assert.deepEqual(each(listKeys(control, appId), 'token'), [sandbox.token]);
  assert.equal(readKey(control, mintKeyToken('live')), undefined);
});

test('LIMIT-37: an app has a bounded number of keys, revoked ones aside', (t) => {
  const { control, organisationId, appId } = openApp(t, NOW);
  for (let i = 0; i < KEYS_PER_APP_MAX; i++) transactions.addKey(control, { organisationId, appId, key: key('sandbox'), nowMs: NOW });
  const one = key('live');
  assert.throws(() => transactions.addKey(control, { organisationId, appId, key: one, nowMs: NOW }), { code: 'conflict' });
  transactions.revokeKey(control, { appId, keyId: listKeys(control, appId)[0]?.keyId ?? '', nowMs: NOW });
  transactions.addKey(control, { organisationId, appId, key: one, nowMs: NOW });
  assert.equal(readKey(control, one.token)?.appId, appId);
});

test('CONSOLE-26: an organisation has a bounded number of apps; deleting one makes room', (t) => {
  const { control, organisationId } = openFiles(t, NOW);
  const register = (appId: string) => transactions.registerApp(control, { organisationId, appId, keys: [], nowMs: NOW });
  for (let i = 0; i < APPS_PER_ORGANISATION_MAX; i++) register(`app_${i}`);
  assert.throws(() => register('app_more'), { code: 'conflict', message: /at most 500 apps/ });
  transactions.unregisterApp(control, { appId: 'app_0' });
  register('app_more');
});

test('CONSOLE-12: removing an app from the directory takes its keys with it, and may be repeated', (t) => {
  const { control, organisationId, appId } = openApp(t, NOW);
  const live = key('live');
  transactions.addKey(control, { organisationId, appId, key: live, nowMs: NOW });
  assert.equal(organisationOfApp(control, appId), organisationId);
  transactions.unregisterApp(control, { appId });
  transactions.unregisterApp(control, { appId });
  assert.equal(organisationOfApp(control, appId), undefined);
  assert.equal(readKey(control, live.token), undefined);
});
