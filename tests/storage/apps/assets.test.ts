import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { completeTheme } from '../../../protocol/appearance/complete-theme.ts';
import { mintId } from '../../../protocol/ids.ts';
import { transactions as apps } from '../../../storage/apps/apps.ts';
import { ASSETS_KEPT, readAsset, requireAppearanceDraft, transactions } from '../../../storage/apps/assets.ts';
import { readDraft, readPublishedConfig } from '../../../storage/apps/drafts.ts';
import { readIds } from '../../../storage/sqlite/columns.ts';
import type { Connection } from '../../../storage/sqlite/connection.ts';
import { addApp, known, openFiles } from '../migrations/migrated-files.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');
const THEME = { surface: '#ffffff', onSurface: '#111111', accent: '#0044cc', onAccent: '#ffffff' };

function shop(t: TestContext): { db: Connection; appId: string; other: string } {
  const files = openFiles(t, NOW);
  const appId = addApp(files, 'Shop', NOW);
  apps.saveAppearanceDraft(files.db, { appId, body: { theme: THEME, copilot: { launcherLabel: 'Ask' }, reason: 'brand' }, nowMs: NOW });
  return { db: files.db, appId, other: addApp(files, 'Other', NOW) };
}

function save(db: Connection, appId: string, content: string, nowMs = NOW) {
  const image = { mediaType: 'image/png', width: 30, height: 20, content: Buffer.from(content) };
  return transactions.saveLogo(db, { assetId: mintId('ast', nowMs), appId, ...image, nowMs });
}

function storedIds(db: Connection, appId: string): string[] {
  return readIds(db, 'FROM assets WHERE app_id = :appId ORDER BY created_at_ms', { appId });
}

test('LOGO-9: the logo is stored and set in the draft theme; the rest of the draft stays', (t) => {
  const { db, appId } = shop(t);
  const { revision } = known(db, appId);
  const { draft, logoAssetId, changed } = save(db, appId, 'logo', NOW + 5);
  assert.equal(changed, true);
  assert.deepEqual(draft, { theme: { ...THEME, logoAssetId }, copilot: { launcherLabel: 'Ask' }, reason: 'brand' });
  assert.deepEqual(readDraft(db, appId)?.appearance, draft);
  assert.equal(readDraft(db, appId)?.updatedAtMs, NOW + 5);
  assert.equal(known(db, appId).revision, revision + 1);
  assert.deepEqual(readAsset(db, appId, logoAssetId), {
    id: logoAssetId,
    appId,
    mediaType: 'image/png',
    width: 30,
    height: 20,
    content: Buffer.from('logo'),
    createdAtMs: NOW + 5,
  });
});

test('CONFIG-4: the test channel shows the logo at once, the live channel what was published', (t) => {
  const { db, appId } = shop(t);
  apps.publishDrafts(db, { appId, nowMs: NOW });
  const { logoAssetId } = save(db, appId, 'logo');
  const themeOf = (channel: 'live' | 'sandbox') => readPublishedConfig(db, known(db, appId), channel).config.theme;
  assert.deepEqual(themeOf('sandbox'), completeTheme({ ...THEME, logoAssetId }));
  assert.deepEqual(themeOf('live'), completeTheme(THEME));
});

test('LOGO-10: identical bytes keep their id and change nothing while the draft shows them', (t) => {
  const { db, appId } = shop(t);
  const first = save(db, appId, 'logo');
  const { revision } = known(db, appId);
  assert.deepEqual(save(db, appId, 'logo', NOW + 9), { ...first, changed: false });
  assert.equal(known(db, appId).revision, revision);
  const second = save(db, appId, 'another');
  assert.notEqual(second.logoAssetId, first.logoAssetId);
  assert.deepEqual(save(db, appId, 'logo'), first);
  assert.equal(storedIds(db, appId).length, 2);
});

test('LOGO-10: a logo is its app’s own', (t) => {
  const { db, appId, other } = shop(t);
  apps.saveAppearanceDraft(db, { appId: other, body: { theme: THEME }, nowMs: NOW });
  const mine = save(db, appId, 'logo');
  const theirs = save(db, other, 'logo');
  assert.notEqual(mine.logoAssetId, theirs.logoAssetId);
  assert.equal(readAsset(db, other, mine.logoAssetId), undefined);
  assert.equal(readAsset(db, appId, mintId('ast', NOW)), undefined);
});

test('LOGO-9: without a valid appearance draft it is 409 draft_invalid and nothing is stored', (t) => {
  const { db, appId, other } = shop(t);
  assert.throws(() => save(db, other, 'logo'), { code: 'draft_invalid', status: 409, message: /PUT \/appearance/ });
  db.statement('UPDATE apps SET appearance_draft = :draft WHERE id = :appId').run({
    appId,
    draft: JSON.stringify({ theme: { ...THEME, accent: 'red' } }),
  });
  assert.throws(() => requireAppearanceDraft(db, appId), { code: 'draft_invalid' });
  assert.throws(() => save(db, appId, 'logo'), { code: 'draft_invalid' });
  assert.deepEqual([...storedIds(db, appId), ...storedIds(db, other)], []);
});

test('CONSOLE-12: an app that is gone is 404 not_found', (t) => {
  const { db } = shop(t);
  assert.throws(() => save(db, mintId('app', NOW), 'logo'), { code: 'not_found', status: 404 });
});

test('LOGO-10: old logos are forgotten, except those that a draft or a publication names', (t) => {
  const { db, appId, other } = shop(t);
  apps.saveAppearanceDraft(db, { appId: other, body: { theme: THEME }, nowMs: NOW });
  const elsewhere = save(db, other, 'theirs').logoAssetId;
  const published = save(db, appId, 'published', NOW).logoAssetId;
  apps.publishDrafts(db, { appId, nowMs: NOW });
  const dark = save(db, appId, 'dark', NOW + 1).logoAssetId;
  apps.saveAppearanceDraft(db, { appId, body: { theme: THEME, themeDark: { logoAssetId: dark } }, nowMs: NOW });
  const later = Array.from({ length: ASSETS_KEPT + 3 }, (_, i) => save(db, appId, `logo ${i}`, NOW + 2 + i).logoAssetId);
  assert.deepEqual(storedIds(db, appId), [published, dark, ...later.slice(-ASSETS_KEPT)]);
  assert.deepEqual(storedIds(db, other), [elsewhere]);
});
