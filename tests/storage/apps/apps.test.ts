import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { completeTheme, deriveDark } from '../../../protocol/appearance/complete-theme.ts';
import { DEFAULT_APP_SETTINGS } from '../../../protocol/console/app-settings.ts';
import { mintId } from '../../../protocol/ids.ts';
import { DEFAULT_PERSONA } from '../../../protocol/setup/persona.ts';
import { listApps, readApp, transactions } from '../../../storage/apps/apps.ts';
import { readDraft, readPersona, readPublishedConfig } from '../../../storage/apps/drafts.ts';
import { transactions as live } from '../../../storage/apps/going-live.ts';
import { PREVIOUS_IDENTITY_SECRET_VALID_MS, readIdentitySecrets, sealIdentitySecret } from '../../../storage/apps/identity-secrets.ts';
import { insertBlocks } from '../../../storage/conversations/blocks.ts';
import { openVault } from '../../../storage/secrets/vault.ts';
import { countRows, insert } from '../../../storage/sqlite/columns.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { storeConversation, storeTurn } from '../conversations/stored-turns.ts';
import { StoredSources } from '../knowledge/stored-sources.ts';
import { addApp, known, openApp, openFiles } from '../migrations/migrated-files.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');
const THEME = { surface: '#ffffff', onSurface: '#111111', accent: '#0044cc', onAccent: '#ffffff' };

test('CONSOLE-9: a new app starts with the default settings and is not live', (t) => {
  const files = openFiles(t, NOW);
  const app = known(files.db, addApp(files, 'Shop', NOW));
  assert.deepEqual(app.settings, DEFAULT_APP_SETTINGS);
  assert.deepEqual(
    [app.settings.messagesPerMinute, app.settings.messagesPerDay, app.settings.hardCap, app.settings.confirmationTtlS],
    [20, 400, true, 900],
  );
  assert.deepEqual([app.live, app.liveAtMs, app.publishedVersion, app.organisationId], [false, null, null, files.organisationId]);
});

test('CONSOLE-11: slugs are derived from the name and unique within the organisation', (t) => {
  const files = openFiles(t, NOW);
  const slugs = ['Café Ávila!', 'cafe avila', 'Café-Avila', '日本'].map((name) => known(files.db, addApp(files, name, NOW)).slug);
  assert.deepEqual(slugs, ['cafe-avila', 'cafe-avila-2', 'cafe-avila-3', 'app']);
});

test('CONSOLE-11: a slug that another app has is refused, its own is not', (t) => {
  const files = openFiles(t, NOW);
  const { db, organisationId } = files;
  addApp(files, 'One', NOW);
  const two = addApp(files, 'Two', NOW);
  assert.throws(() => transactions.patchApp(db, { appId: two, organisationId, patch: { slug: 'one' }, nowMs: NOW }), { code: 'conflict' });
  assert.equal(transactions.patchApp(db, { appId: two, organisationId, patch: { slug: 'two' }, nowMs: NOW }).slug, 'two');
  const third = { appId: mintId('app', NOW), organisationId, name: 'x', slug: 'one', platformHint: '', settings: {}, nowMs: NOW };
  assert.throws(() => transactions.createApp(db, { ...third, sealedIdentitySecret: Buffer.from('x') }), { code: 'conflict' });
  assert.equal(listApps(db).length, 2);
});

test('LIMIT-3: a changed setting counts for the next read, also where the row was cached', (t) => {
  const { db, organisationId, appId } = openApp(t, NOW);
  const before = known(db, appId);
  assert.equal(known(db, appId), before, 'an unchanged row is not parsed again');
  transactions.patchApp(db, {
    appId,
    organisationId,
    patch: { messages_per_minute: 5, daily_model_budget_usd: 2.5, intake: { description: 'A shop.' } },
    nowMs: NOW + 1,
  });
  const after = known(db, appId);
  assert.deepEqual([after.settings.messagesPerMinute, after.settings.dailyModelBudgetUsd], [5, 2.5]);
  assert.deepEqual(after.settings.intake, { links: [], description: 'A shop.', isLive: false });
  assert.equal(after.settings.messagesPerDay, before.settings.messagesPerDay);
  assert.equal(after.revision, before.revision + 1);
  transactions.patchApp(db, { appId, organisationId, patch: { daily_model_budget_usd: null }, nowMs: NOW + 2 });
  assert.equal(known(db, appId).settings.dailyModelBudgetUsd, null);
});

test('STORE-2: a read inside a write that is rolled back leaves nothing stale behind', (t) => {
  const { db, organisationId, appId } = openApp(t, NOW);
  db.exec('BEGIN');
  transactions.patchApp(db, { appId, organisationId, patch: { name: 'Never' }, nowMs: NOW });
  db.exec('ROLLBACK');
  transactions.patchApp(db, { appId, organisationId, patch: { name: 'Really' }, nowMs: NOW });
  assert.equal(known(db, appId).name, 'Really');
});

test('LIVE-4: the first time of going live stays when it is done again', (t) => {
  const { db, organisationId, appId } = openApp(t, NOW);
  assert.deepEqual(live.goLive(db, { appId, organisationId, nowMs: NOW + 10 }), { wentLive: true, version: null });
  assert.deepEqual(live.goLive(db, { appId, organisationId, nowMs: NOW + 99 }), { wentLive: false, version: null });
  assert.deepEqual([known(db, appId).live, known(db, appId).liveAtMs], [true, NOW + 10]);
  assert.throws(() => live.goLive(db, { appId: 'app_x', organisationId, nowMs: NOW }), { code: 'not_found' });
});

test('LIVE-2: drafts of an app that never published anything become version 1 with it, unless its setting is off', (t) => {
  const files = openFiles(t, NOW);
  const { db, organisationId } = files;
  const goLive = (appId: string) => live.goLive(db, { appId, organisationId, nowMs: NOW + 10 }).version;
  const drafted = () => {
    const appId = addApp(files, 'Shop', NOW);
    transactions.saveExperienceDraft(db, { appId, patch: { assistantName: 'Ada' }, nowMs: NOW });
    return appId;
  };
  const obedient = drafted();
  assert.equal(goLive(obedient), 1);
  assert.equal(readPersona(db, known(db, obedient), 'live').assistantName, 'Ada');
  const careful = drafted();
  transactions.patchApp(db, { appId: careful, organisationId, patch: { publish_on_go_live: false }, nowMs: NOW });
  assert.equal(goLive(careful), null);
  assert.equal(readPersona(db, known(db, careful), 'live').assistantName, DEFAULT_PERSONA.assistantName);
  const published = drafted();
  transactions.publishDrafts(db, { appId: published, nowMs: NOW });
  transactions.saveExperienceDraft(db, { appId: published, patch: { assistantName: 'Eve' }, nowMs: NOW });
  assert.equal(goLive(published), 1);
  assert.equal(readPersona(db, known(db, published), 'live').assistantName, 'Ada');
});

test('APPEARANCE-2: the theme replaces the draft but keeps an uploaded logo; a copilot block left out stays', (t) => {
  const { db, appId } = openApp(t, NOW);
  const logoAssetId = mintId('ast', NOW);
  transactions.saveAppearanceDraft(db, {
    appId,
    body: { theme: { ...THEME, radius: 8, logoAssetId }, themeDark: { accent: '#99bbff' }, copilot: { launcherLabel: 'Help' } },
    nowMs: NOW,
  });
  const { draft, changed } = transactions.saveAppearanceDraft(db, { appId, body: { theme: { ...THEME, accent: '#cc0000' } }, nowMs: NOW });
  assert.deepEqual(draft, { theme: { ...THEME, accent: '#cc0000', logoAssetId }, copilot: { launcherLabel: 'Help' } });
  assert.deepEqual(changed.sort(), ['theme.accent', 'theme.radius', 'themeDark.accent']);
  assert.deepEqual(readDraft(db, appId)?.appearance, draft);
});

test('PERSONA-1: a patch of the persona keeps what it omits, and the version rises when the persona changes', (t) => {
  const { db, appId } = openApp(t, NOW);
  transactions.saveExperienceDraft(db, { appId, patch: { assistantName: 'Ada', suggestions: ['Hi?'] }, nowMs: NOW });
  const second = transactions.saveExperienceDraft(db, { appId, patch: { tone: 'Calm.', reason: 'brand book' }, nowMs: NOW });
  assert.deepEqual(second.draft, { assistantName: 'Ada', suggestions: ['Hi?'], tone: 'Calm.', reason: 'brand book' });
  assert.deepEqual([second.changed, second.personaVersion], [['tone'], 2]);
  const same = transactions.saveExperienceDraft(db, { appId, patch: { tone: 'Calm.', reason: 'again' }, nowMs: NOW });
  assert.deepEqual([same.changed, same.personaVersion], [[], 2]);
});

test('APPEARANCE-3: the same draft sent again leaves the row as it was', (t) => {
  const { db, appId } = openApp(t, NOW);
  const write = (nowMs: number) => {
    transactions.saveAppearanceDraft(db, { appId, body: { theme: THEME }, nowMs });
    transactions.saveExperienceDraft(db, { appId, patch: { assistantName: 'Ada' }, nowMs });
    const { revision, updatedAtMs } = known(db, appId);
    return { revision, updatedAtMs };
  };
  assert.deepEqual(write(NOW + 1), write(NOW + 2));
});

test('CONFIG-1: the sandbox sees the draft at once, the live channel only what was published', (t) => {
  const { db, appId } = openApp(t, NOW);
  assert.throws(() => transactions.publishDrafts(db, { appId, nowMs: NOW }), { code: 'conflict' });
  transactions.saveAppearanceDraft(db, { appId, body: { theme: THEME, copilot: { launcherLabel: 'Help' } }, nowMs: NOW });
  transactions.saveExperienceDraft(db, { appId, patch: { assistantName: 'Ada', tone: 'Calm.', suggestions: [] }, nowMs: NOW });
  const drafted = { theme: completeTheme(THEME), themeDark: deriveDark(THEME), copilot: { launcherLabel: 'Help', assistantName: 'Ada' } };
  assert.deepEqual(readPublishedConfig(db, known(db, appId), 'sandbox').config, drafted);
  assert.deepEqual(readPublishedConfig(db, known(db, appId), 'live'), { version: null, updatedAtMs: NOW, config: {} });
  assert.deepEqual(readPersona(db, known(db, appId), 'live'), DEFAULT_PERSONA);

  assert.deepEqual(transactions.publishDrafts(db, { appId, nowMs: NOW + 5 }), { version: 1 });
  assert.deepEqual(transactions.publishDrafts(db, { appId, nowMs: NOW + 6 }), { version: 1 }, 'nothing changed');
  transactions.saveExperienceDraft(db, { appId, patch: { assistantName: 'Bob' }, nowMs: NOW + 7 });
  assert.deepEqual(readPublishedConfig(db, known(db, appId), 'live'), { version: 1, updatedAtMs: NOW + 5, config: drafted });
  assert.equal(readPersona(db, known(db, appId), 'live').assistantName, 'Ada');
  assert.equal(readPersona(db, known(db, appId), 'live').tone, 'Calm.');
  assert.equal(readPersona(db, known(db, appId), 'sandbox').assistantName, 'Bob');
  assert.deepEqual(transactions.publishDrafts(db, { appId, nowMs: NOW + 8 }), { version: 2 });
  assert.equal(readPersona(db, known(db, appId), 'live').assistantName, 'Bob');
});

test('CONFIG-3: a stored row that fails validation on output is served as {}', (t) => {
  const { db, appId } = openApp(t, NOW);
  transactions.saveExperienceDraft(db, { appId, patch: { assistantName: 'Ada' }, nowMs: NOW });
  for (const broken of ['{"theme":{"accent":"red"}}', 'not json']) {
    db.statement('UPDATE apps SET appearance_draft = :broken, revision = revision + 1').run({ broken });
    assert.deepEqual(readPublishedConfig(db, known(db, appId), 'sandbox').config, {});
  }
});

test('CONSOLE-13: after a rotation the previous identity secret stays valid for 24 hours', (t) => {
  const { db, appId } = openApp(t, NOW);
  const vault = openVault(join(temporaryDir(t), 'master-key'), undefined);
  for (const secret of ['first', 'second']) {
    transactions.rotateIdentitySecret(db, { appId, sealed: sealIdentitySecret(vault, appId, secret), nowMs: NOW });
  }
  const validUntilMs = NOW + PREVIOUS_IDENTITY_SECRET_VALID_MS;
  assert.deepEqual(readIdentitySecrets(db, vault, appId, validUntilMs - 1), {
    current: 'second',
    previous: { secret: 'first', validUntilMs },
  });
  assert.deepEqual(readIdentitySecrets(db, vault, appId, validUntilMs), { current: 'second', previous: null });
  assert.equal(readIdentitySecrets(db, vault, 'app_x', NOW), undefined);
});

test('STORE-14: deleting an app takes everything it knew and said, and leaves the others and the ledger', async (t) => {
  const files = openFiles(t, NOW);
  const { db } = files;
  const [gone, kept] = [addApp(files, 'Gone', NOW), addApp(files, 'Kept', NOW)];
  for (const appId of [gone, kept]) {
    const sources = new StoredSources(db, NOW);
    const { id: sourceId } = await sources.save({
      sourceId: mintId('kno', NOW),
      appId,
      externalKey: 'a',
      kind: 'text',
      title: 'Returns',
      uri: null,
      content: 'Text',
      origin: 'console',
      reason: null,
    });
    await sources.index(sourceId, [{ ordinal: 0, headings: [], text: 'Text' }]);
    const conversationId = mintId('cnv', NOW);
    const messageId = mintId('msg', NOW);
    storeConversation(db, { id: conversationId, appId });
    storeTurn(db, { appId, conversationId, turnId: 't', answer: messageId });
    insertBlocks(db, conversationId, messageId, [
      { id: mintId('blk', NOW), position: 0, blockType: 'text', revision: 1, body: '{}', fallbackText: null },
    ]);
    insert(db, 'usage_days', { appId, channel: 'live', day: '2026-11-21', turns: 1 });
  }
  assert.equal(transactions.deleteApp(db, { appId: gone }), true);
  assert.equal(transactions.deleteApp(db, { appId: gone }), false);
  assert.equal(readApp(db, gone), undefined);
  assert.equal(known(db, kept).name, 'Kept');
  for (const table of ['knowledge_sources', 'knowledge_chunks', 'knowledge_index', 'conversations', 'messages', 'blocks', 'turns']) {
    assert.equal(countRows(db, `FROM ${table}`), 1, table);
  }
  assert.equal(countRows(db, 'FROM usage_days'), 2);
});
