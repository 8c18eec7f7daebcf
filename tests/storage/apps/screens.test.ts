import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ScreenDeclaration } from '../../../protocol/setup/screens.ts';
import { hashManifest, transactions as manifests } from '../../../storage/apps/manifests.ts';
import {
  ARCHIVED_SCREENS_KEPT,
  countPlanned,
  countScreens,
  listScreens,
  SCREENS_PER_APP_MAX,
  screensMissing,
  transactions,
} from '../../../storage/apps/screens.ts';
import { addApp, openApp, openFiles } from '../migrations/migrated-files.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');
const NOTHING = { added: [], updated: [], unchanged: [], archived: [], unknown: [] };

function screen(name: string, title = 'A screen'): ScreenDeclaration {
  return { name, title, description: 'Shows something.' } as ScreenDeclaration;
}

function oneApp(t: TestContext) {
  const { db, appId } = openApp(t, NOW);
  return {
    db,
    appId,
    declare(screens: readonly ScreenDeclaration[], archived: readonly string[] = [], nowMs = NOW) {
      const archive = archived.map((name) => ({ name, reason: 'Gone.' }));
      return transactions.declareScreens(db, { appId, screens, archive, origin: 'setup', nowMs });
    },
    /** A build calls in with these routes. */
    build(version: string, routes?: readonly string[]) {
      const listed = routes === undefined ? {} : { routes: routes.map((name) => ({ name, title: 'A route' })) };
      manifests.registerManifest(db, { appId, ...hashManifest({ version, actions: [], ...listed }), sdk: 'web/1.0.0', nowMs: NOW });
    },
  };
}

test('SCREEN-1: a screen declared again by the same name is updated; the same declaration writes nothing', (t) => {
  const { db, appId, declare } = oneApp(t);
  assert.deepEqual(declare([screen('cart'), screen('home')]), { ...NOTHING, added: ['cart', 'home'] });
  const rows = () => db.statement('SELECT * FROM screens').all();
  const before = rows();
  const shuffled = Object.fromEntries(Object.entries(screen('cart')).reverse()) as unknown as ScreenDeclaration;
  assert.deepEqual(declare([shuffled], [], NOW + 1), { ...NOTHING, unchanged: ['cart'] });
  assert.deepEqual(rows(), before);
  assert.deepEqual(declare([screen('cart', 'Your cart'), screen('home'), screen('help')], [], NOW + 2), {
    ...NOTHING,
    added: ['help'],
    updated: ['cart'],
    unchanged: ['home'],
  });
  const [cart] = listScreens(db, appId, '', 1);
  assert.deepEqual([cart?.definition, cart?.createdAtMs, cart?.updatedAtMs], [screen('cart', 'Your cart'), NOW, NOW + 2]);
});

test('SCREEN-1: archiving removes a screen, names that were never declared are unknown, declaring again brings back', (t) => {
  const { db, appId, declare } = oneApp(t);
  declare([screen('cart'), screen('home')]);
  assert.deepEqual(declare([], ['cart', 'attic'], NOW + 1), { ...NOTHING, archived: ['cart'], unknown: ['attic'] });
  assert.deepEqual(declare([], ['cart'], NOW + 2), { ...NOTHING, archived: ['cart'] });
  const [cart] = listScreens(db, appId, '', 1);
  assert.deepEqual([cart?.archivedAtMs, cart?.reason, cart?.updatedAtMs], [NOW + 1, 'Gone.', NOW + 1]);
  assert.equal(countScreens(db, appId), 1);
  assert.deepEqual(declare([screen('cart')]), { ...NOTHING, updated: ['cart'] });
  const [back] = listScreens(db, appId, '', 1);
  assert.deepEqual([back?.archivedAtMs, back?.reason, countScreens(db, appId)], [null, null, 2]);
});

test('SCREEN-2: declared screens that the latest manifest does not register; archived ones are not missed', (t) => {
  const { db, appId, declare, build } = oneApp(t);
  declare([screen('cart'), screen('home'), screen('help')]);
  assert.equal(screensMissing(db, appId), 3);
  build('1', ['cart', 'home', 'not_declared']);
  assert.equal(screensMissing(db, appId), 1);
  declare([], ['help']);
  assert.equal(screensMissing(db, appId), 0);
  build('2', ['cart']);
  assert.equal(screensMissing(db, appId), 1);
  build('3');
  assert.equal(screensMissing(db, appId), 2);
});

test('SCREEN-2: a screen is planned until a build’s manifest names it, whichever build that was', (t) => {
  const { db, appId, declare, build } = oneApp(t);
  declare([screen('cart'), screen('home'), screen('help')]);
  assert.equal(countPlanned(db, appId), 3);
  build('web', ['cart']);
  build('ios', ['home']);
  build('without routes');
  assert.equal(countPlanned(db, appId), 1);
  declare([], ['help']);
  assert.equal(countPlanned(db, appId), 0);
});

test('SCREEN-4: a declaration that would be one too many saves none of its screens; archiving makes room', (t) => {
  const { db, appId, declare } = oneApp(t);
  const all = Array.from({ length: SCREENS_PER_APP_MAX }, (_, n) => screen(`screen_${n}`));
  declare(all);
  db.statement('SAVEPOINT refused').run();
  assert.throws(() => declare([screen('screen_0', 'Changed'), screen('one_more')]), { code: 'conflict', message: /at most 500/ });
  db.statement('ROLLBACK TO refused').run();
  assert.equal(countScreens(db, appId), SCREENS_PER_APP_MAX);
  assert.deepEqual(declare([screen('one_more')], ['screen_0']), { ...NOTHING, added: ['one_more'], archived: ['screen_0'] });
  const names = all.slice(1).map(({ name }) => name);
  declare([], [...names, 'one_more'], NOW + 1);
  assert.equal(listScreens(db, appId, '', 1_000).length, ARCHIVED_SCREENS_KEPT, 'the one archived longest ago is forgotten');
  assert.deepEqual(declare([], ['screen_0', 'screen_1']), { ...NOTHING, archived: ['screen_1'], unknown: ['screen_0'] });
});

test('SCREEN-4: apps share no names, and an app that was deleted is said to be gone', (t) => {
  const files = openFiles(t, NOW);
  const declare = (appId: string) =>
    transactions.declareScreens(files.db, { appId, screens: [screen('cart')], archive: [], origin: 'setup', nowMs: NOW });
  const [one, two] = [addApp(files, 'One', NOW), addApp(files, 'Two', NOW)];
  for (const appId of [one, two]) assert.deepEqual(declare(appId).added, ['cart']);
  assert.throws(() => declare('app_gone'), { code: 'not_found' });
});
