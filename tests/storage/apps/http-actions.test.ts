import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { mintId } from '../../../protocol/ids.ts';
import type { HttpAction } from '../../../protocol/setup/action-rules.ts';
import { transactions as apps } from '../../../storage/apps/apps.ts';
import {
  ACTIONS_PER_APP_MAX,
  ARCHIVED_ACTIONS_KEPT,
  countActions,
  hostOf,
  listActions,
  readAction,
  transactions,
} from '../../../storage/apps/http-actions.ts';
import { transactions as keys, openSharedKey, readSharedKey, sealSharedKey } from '../../../storage/apps/shared-keys.ts';
import { openVault } from '../../../storage/secrets/vault.ts';
import type { Connection } from '../../../storage/sqlite/connection.ts';
import { each } from '../../support/each.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { addApp, openApp, openFiles } from '../migrations/migrated-files.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');
const BEARER = { needs_key: { kind: 'bearer' } } as const;

function item(name: string, more: Partial<HttpAction> = {}): HttpAction {
  return {
    external_key: `key of ${name}`,
    name,
    description: 'Looks something up.',
    method: 'GET',
    url_template: `https://api.shop.example/${name}`,
    ...more,
  } as HttpAction;
}

type Fixture = ReturnType<typeof fixtureOf>;

function fixtureOf(db: Connection, appId: string) {
  return {
    db,
    appId,
    upsert: (action: HttpAction, nowMs = NOW, origin = 'setup') =>
      transactions.upsertAction(db, { actionId: mintId('act', nowMs), appId, action, origin, nowMs }),
    archive: (name: string, nowMs = NOW) =>
      transactions.archiveAction(db, { appId, externalKey: `key of ${name}`, reason: undefined, nowMs }),
    enter: (name: string, host = 'api.shop.example') =>
      keys.setSharedKey(db, { appId, name, host, sealed: Buffer.from(`sealed for ${host}`), nowMs: NOW }),
    remove: (name: string) => keys.deleteSharedKey(db, { appId, name }),
    enabled: (name: string) => readAction(db, appId, name)?.enabled,
  };
}

function oneApp(t: TestContext): Fixture {
  const { db, appId } = openApp(t, NOW);
  return fixtureOf(db, appId);
}

test('SERVERACTION-1: a key sent again updates its action; the same item twice changes nothing but its reason', (t) => {
  const { db, appId, upsert } = oneApp(t);
  const first = upsert(item('find_order'));
  assert.deepEqual(first, { op: 'created', id: first.id, needsKey: false });
  const rows = () => db.statement('SELECT * FROM http_actions').all();
  const before = rows();
  const shuffled = Object.fromEntries(Object.entries(item('find_order')).reverse()) as unknown as HttpAction;
  for (const same of [item('find_order'), shuffled]) {
    assert.deepEqual(upsert(same, NOW + 1), { op: 'unchanged', id: first.id, needsKey: false });
    assert.deepEqual(rows(), before);
  }
  const explained = item('find_order', { reason: 'Seen in the router.' });
  assert.deepEqual(upsert(explained, NOW + 1), { op: 'unchanged', id: first.id, needsKey: false });
  assert.deepEqual(rows(), [{ ...before[0], reason: 'Seen in the router.' }], 'but for the reason, which is kept');
  const changed = item('track_order', { external_key: 'key of find_order', reason: 'Renamed.' });
  assert.deepEqual(upsert(changed, NOW + 2), { op: 'updated', id: first.id, needsKey: false });
  const [action, ...others] = listActions(db, appId, '', 10);
  assert.equal(others.length, 0);
  assert.deepEqual([action?.name, action?.reason, action?.createdAtMs, action?.updatedAtMs], ['track_order', 'Renamed.', NOW, NOW + 2]);
  const { reason: _, ...definition } = changed;
  assert.deepEqual(action?.definition, definition);
});

test('SERVERACTION-16: a name that another action in service has is refused, and free again once that one is archived', (t) => {
  const { upsert, archive } = oneApp(t);
  upsert(item('find_order'));
  const second = item('find_order', { external_key: 'second' });
  assert.throws(() => upsert(second), { code: 'conflict', message: /^name find_order belongs to .* key of find_order/ });
  archive('find_order');
  assert.equal(upsert(second).op, 'created');
  assert.throws(() => upsert(item('find_order')), { code: 'conflict' }, 'the archived one cannot come back under a taken name');
});

test('SERVERACTION-1: archiving takes an action out of service, is idempotent, and sending it again brings it back', (t) => {
  const { db, appId, upsert, archive, enabled } = oneApp(t);
  const { id } = upsert(item('find_order'));
  assert.throws(() => archive('never_sent'), { code: 'not_found' });
  for (const nowMs of [NOW + 1, NOW + 2]) assert.deepEqual(archive('find_order', nowMs), { id, name: 'find_order' });
  const [action] = listActions(db, appId, '', 10);
  assert.deepEqual([action?.archivedAtMs, action?.enabled, enabled('find_order')], [NOW + 1, false, undefined]);
  assert.deepEqual(countActions(db, appId), { enabled: 0, needsKey: 0 });
  assert.deepEqual(upsert(item('find_order')), { op: 'updated', id, needsKey: false });
  assert.equal(enabled('find_order'), true);
});

test('SERVERACTION-10: an action with needs_key is switched off until its host has a key, which serves every action of that host', (t) => {
  const { db, appId, upsert, enter, enabled } = oneApp(t);
  assert.equal(upsert(item('open_data')).needsKey, false);
  for (const name of ['find_order', 'find_user']) assert.equal(upsert(item(name, BEARER)).needsKey, true);
  const elsewhere = item('find_parcel', { ...BEARER, url_template: 'https://api.shop.example:8443/parcels' });
  upsert(elsewhere);
  assert.deepEqual(countActions(db, appId), { enabled: 1, needsKey: 3 });
  assert.deepEqual(enter('find_order'), { hosts: ['api.shop.example'], actions: ['find_order', 'find_user'] });
  assert.deepEqual(
    ['open_data', 'find_order', 'find_user', 'find_parcel'].map((name) => enabled(name)),
    [true, true, true, false],
  );
  assert.deepEqual(countActions(db, appId), { enabled: 3, needsKey: 1 });
  assert.equal(upsert(item('list_orders', BEARER)).needsKey, false, 'a later action of the host finds the key there');
});

test('SERVERACTION-11: a key is kept when the action is sent again, moves within its host or comes back from the archive', (t) => {
  const { db, appId, upsert, archive, enter, enabled } = oneApp(t);
  upsert(item('find_order', BEARER));
  enter('find_order');
  const moved = item('find_order', { ...BEARER, url_template: 'https://API.shop.example/v2/orders?id={{param.id}}' });
  for (const again of [item('find_order', BEARER), moved]) {
    assert.equal(upsert(again).needsKey, false);
    assert.equal(enabled('find_order'), true);
  }
  archive('find_order');
  assert.deepEqual(upsert(moved), { op: 'updated', id: readAction(db, appId, 'find_order')?.id, needsKey: false });
});

test('SERVERACTION-11: a key never follows its action to another host, and is still there when the action returns', (t) => {
  const { db, appId, upsert, enter, enabled } = oneApp(t);
  upsert(item('find_order', BEARER));
  enter('find_order');
  assert.equal(upsert(item('find_order', { ...BEARER, url_template: 'https://thief.example/' })).needsKey, true);
  assert.equal(enabled('find_order'), false);
  assert.equal(readSharedKey(db, appId, 'thief.example'), undefined);
  assert.throws(() => enter('find_order'), { code: 'conflict', message: /calls thief\.example now/ }, 'sealed for the host it had before');
  assert.equal(upsert(item('find_order', BEARER)).needsKey, false);
});

test('SERVERACTION-12: entering a key needs an action in service that declares needs_key; entering again replaces', (t) => {
  const { db, appId, upsert, archive, enter } = oneApp(t);
  assert.throws(() => enter('find_order'), { code: 'not_found' });
  upsert(item('find_order'));
  assert.throws(() => enter('find_order'), { code: 'conflict', message: /declares no needs_key/ });
  upsert(item('find_user', BEARER));
  for (const sealed of ['one', 'two']) {
    keys.setSharedKey(db, { appId, name: 'find_user', host: 'api.shop.example', sealed: Buffer.from(sealed), nowMs: NOW });
    assert.equal(readSharedKey(db, appId, 'api.shop.example')?.toString(), sealed);
  }
  archive('find_user');
  assert.throws(() => enter('find_user'), { code: 'not_found' });
});

test('SERVERACTION-12: removing a key switches the host’s actions off; an archived action’s key can be removed too', (t) => {
  const { upsert, archive, enter, remove, enabled } = oneApp(t);
  for (const name of ['find_order', 'find_user']) upsert(item(name, BEARER));
  assert.throws(() => remove('find_order'), { code: 'not_found' });
  assert.throws(() => remove('never_sent'), { code: 'not_found' });
  enter('find_order');
  assert.deepEqual(remove('find_user'), { hosts: ['api.shop.example'], actions: ['find_order', 'find_user'] });
  assert.deepEqual([enabled('find_order'), enabled('find_user')], [false, false]);
  enter('find_order');
  archive('find_order');
  assert.deepEqual(remove('find_order'), { hosts: ['api.shop.example'], actions: ['find_user'] });
  assert.throws(() => remove('find_order'), { code: 'not_found' });
});

test('SERVERACTION-12: removing a key takes along what an address that moved on left behind, and no key that another action uses', (t) => {
  const { db, appId, upsert, enter, remove } = oneApp(t);
  const at = (name: string, host: string) => upsert(item(name, { ...BEARER, url_template: `https://${host}/` }));
  at('find_order', 'old.example');
  at('find_user', 'other.example');
  enter('find_order', 'old.example');
  enter('find_user', 'other.example');
  at('find_order', 'new.example');
  assert.deepEqual(remove('find_order'), { hosts: ['old.example'], actions: [] });
  assert.equal(readSharedKey(db, appId, 'old.example'), undefined);
  assert.notEqual(readSharedKey(db, appId, 'other.example'), undefined);
});

test('SERVERACTION-13: a shared key is sealed for its app and host, and opens for no other', (t) => {
  const vault = openVault(join(temporaryDir(t), 'master-key'), undefined);
  const sealed = sealSharedKey(vault, 'app_one', 'api.shop.example', 'sk-very-secret');
  assert.equal(sealed.includes('sk-very-secret'), false);
  assert.equal(openSharedKey(vault, 'app_one', 'api.shop.example', sealed), 'sk-very-secret');
  assert.throws(() => openSharedKey(vault, 'app_one', 'thief.example', sealed));
  assert.throws(() => openSharedKey(vault, 'app_two', 'api.shop.example', sealed));
});

test('SERVERACTION-15: the host is told in lower case, with a port that is not the usual one', () => {
  const host = (url_template: string) => hostOf({ url_template });
  assert.equal(host('https://API.Shop.example:443/orders/{{param.id}}?q={{param.q}}'), 'api.shop.example');
  assert.equal(host('https://api.shop.example:8443/'), 'api.shop.example:8443');
});

test('SERVERACTION-16: apps share neither names, external keys nor shared keys; a deleted app takes its own with it', (t) => {
  const files = openFiles(t, NOW);
  const [one, two] = ['One', 'Two'].map((name) => fixtureOf(files.db, addApp(files, name, NOW))) as [Fixture, Fixture];
  for (const fixture of [one, two]) assert.equal(fixture.upsert(item('find_order', BEARER)).op, 'created');
  one.enter('find_order');
  assert.deepEqual([one.enabled('find_order'), two.enabled('find_order')], [true, false]);
  apps.deleteApp(files.db, { appId: one.appId });
  assert.deepEqual(listActions(files.db, one.appId, '', 10), []);
  assert.equal(readSharedKey(files.db, one.appId, 'api.shop.example'), undefined);
  assert.equal(listActions(files.db, two.appId, '', 10).length, 1);
  assert.throws(() => one.upsert(item('late')), { code: 'not_found' });
});

test('SERVERACTION-16: an app has a bounded number in service; archiving makes room, and the oldest archived are forgotten', (t) => {
  const { db, appId, upsert, archive } = oneApp(t);
  for (let n = 0; n < ACTIONS_PER_APP_MAX; n++) upsert(item(`action_${n}`));
  assert.throws(() => upsert(item('one_more')), { code: 'conflict', message: /at most 200/ });
  assert.equal(upsert(item('action_0', { description: 'Changed.' })).op, 'updated', 'a full app can still be changed');
  archive('action_0', NOW + 1);
  assert.equal(upsert(item('one_more')).op, 'created');
  assert.throws(() => upsert(item('action_0')), { code: 'conflict' }, 'coming back takes a place too');
  for (let n = 1; n <= ARCHIVED_ACTIONS_KEPT - 1; n++) archive(`action_${n}`, NOW + 1 + n);
  assert.equal(listActions(db, appId, '', 1_000).length, ARCHIVED_ACTIONS_KEPT + 1);
  archive('one_more', NOW + 1_000);
  assert.equal(listActions(db, appId, '', 1_000).length, ARCHIVED_ACTIONS_KEPT);
  assert.throws(() => archive('action_0'), { code: 'not_found' });
  assert.doesNotThrow(() => archive('action_1'));
});

test('CONSOLE-7: pages follow each other by id and hold every action once', (t) => {
  const { db, appId, upsert } = oneApp(t);
  for (let n = 0; n < 5; n++) upsert(item(`action_${n}`), NOW + n);
  const first = listActions(db, appId, '', 3);
  const rest = listActions(db, appId, first.at(-1)?.id ?? '', 3);
  assert.deepEqual(
    each([...first, ...rest], 'name'),
    [0, 1, 2, 3, 4].map((n) => `action_${n}`),
  );
});

describe('SERVERACTION-14: where the token of the signed-in person goes', () => {
  const mine = (url: string, more: Partial<HttpAction> = {}) => item('orders', { auth: 'user', url_template: url, ...more });
  const OURS = 'https://api.shop.example/orders';
  const THEIRS = 'https://stranger.example/orders';
  const refused = { name: 'Refusal', code: 'conflict', message: /token, which goes to api\.shop\.example, to stranger\.example/ };

  test('a setup token moves it to no other host: not by an update, in steps, from the archive, or under another key', (t) => {
    const fixture = oneApp(t);
    fixture.upsert(mine(OURS));
    assert.throws(() => fixture.upsert(mine(THEIRS)), refused);
    fixture.upsert(mine(OURS, { auth: 'none' }));
    fixture.upsert(mine(THEIRS, { auth: 'none' }));
    assert.throws(() => fixture.upsert(mine(THEIRS)), refused);
    fixture.archive('orders');
    assert.throws(() => fixture.upsert(mine(THEIRS)), refused);
    assert.throws(() => fixture.upsert(mine(THEIRS, { external_key: 'another' })), refused);
    fixture.upsert(mine(`${OURS}/new-path`));
    assert.equal(readAction(fixture.db, fixture.appId, 'orders')?.host, 'api.shop.example');
  });

  test('a setup token gives the name to no action that sends the token elsewhere; one that keeps its name stays changeable', (t) => {
    const fixture = oneApp(t);
    fixture.upsert(mine(OURS));
    const other = { external_key: 'another', name: 'parcels' };
    fixture.upsert(mine(THEIRS, other));
    fixture.archive('orders');
    assert.throws(() => fixture.upsert(mine(THEIRS, { ...other, name: 'orders' })), refused);
    assert.equal(fixture.upsert(mine(`${THEIRS}/new-path`, other)).op, 'updated');
    // Nor in steps: without the token it may have the name, and with the name it may not have the token.
    fixture.upsert(mine(THEIRS, { ...other, name: 'orders', auth: 'none' }));
    assert.throws(() => fixture.upsert(mine(THEIRS, { ...other, name: 'orders' })), refused);
  });

  test('a person does, in the console or by approving a proposal, and from then on it goes there', (t) => {
    for (const origin of ['console', 'proposal']) {
      const fixture = oneApp(t);
      fixture.upsert(mine(OURS));
      fixture.upsert(mine(THEIRS), NOW, origin);
      assert.equal(fixture.upsert(mine(THEIRS, { description: 'Says more.' })).op, 'updated');
      assert.throws(() => fixture.upsert(mine(OURS)), { code: 'conflict' });
    }
  });
});
