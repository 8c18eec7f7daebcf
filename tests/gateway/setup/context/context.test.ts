import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import * as v from 'valibot';
import { panelJson, panelSteps } from '../../../../actors/setup/panel.ts';
import { renderInPieces } from '../../../../gateway/http/json-pieces.ts';
import { CONTEXT_DEPTH, readContext } from '../../../../gateway/setup/context/context.ts';
import { setupSession } from '../../../../machines/setup-session.ts';
import { stepper } from '../../../../machines/step.ts';
import { stepPanel } from '../../../../machines/step-panel.ts';
import type { AppSettingsPatch } from '../../../../protocol/console/app-settings.ts';
import { mintId } from '../../../../protocol/ids.ts';
import { judgeHttpAction } from '../../../../protocol/setup/actions.ts';
import { experiencePatch } from '../../../../protocol/setup/persona.ts';
import { setupSchemas } from '../../../../protocol/setup/schemas.ts';
import { transactions as apps, readApp } from '../../../../storage/apps/apps.ts';
import { transactions as actions } from '../../../../storage/apps/http-actions.ts';
import { hashManifest, transactions as manifests } from '../../../../storage/apps/manifests.ts';
import { transactions as screens } from '../../../../storage/apps/screens.ts';
import { transactions as sharedKeys } from '../../../../storage/apps/shared-keys.ts';
import type { KnowledgeSource } from '../../../../storage/knowledge/knowledge.ts';
import { mintKeyToken, transactions as organisations } from '../../../../storage/organisations/organisations.ts';
import { readSession, transactions as sessions } from '../../../../storage/setup/setup-sessions.ts';
import { StoredSources } from '../../../storage/knowledge/stored-sources.ts';
import { type Files, openFiles } from '../../../storage/migrations/migrated-files.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');
const EXPIRES = NOW + 24 * 3_600_000;
const MODELS = [{ name: 'a-model', reads: ['text', 'documents'] }] as const;
const SHARED_KEY = 'sk-shared-never-shown';
const IDENTITY_SECRET = 'identity-never-shown';

interface Fixture extends Files {
  readonly appId: string;
  readonly sessionId: string;
  /** What GET /context answers, as JSON carries it. */
  context(writes?: 'apply' | 'propose', sourcesAfter?: string): Promise<ContextShape>;
}

interface Written {
  readonly origin: string | null;
  readonly updated_at: string | null;
}

/** As far as these tests look. */
interface ContextShape {
  readonly [key: string]: unknown;
  readonly config: {
    readonly appearance: Written & { readonly draft: unknown; readonly published: Record<string, unknown> | null };
    readonly experience: Written & { readonly persona: unknown; readonly personaVersion: number; readonly published: unknown };
    readonly knowledge: { readonly total: number; readonly next: string | null; readonly items: readonly Record<string, unknown>[] };
    readonly actions: { readonly total: number; readonly items: readonly Record<string, unknown>[] };
    readonly screens: { readonly total: number; readonly items: readonly Record<string, unknown>[] };
    readonly manifest: unknown;
  };
  readonly intake: { readonly knowledge: readonly Record<string, unknown>[] };
  readonly facts: { readonly handshakeAt: string | null; readonly liveAt: string | null };
  readonly keys: { readonly test: string | null; readonly live: string | null };
  readonly steps: { readonly all: readonly { id: string; state: string; closed_by: string }[]; readonly agent: readonly string[] };
}

function key(channel: 'live' | 'sandbox') {
  return { keyId: mintId('key', NOW), token: mintKeyToken(channel), channel };
}

/** An app with an open session and nothing configured. */
function oneApp(t: TestContext, settings: AppSettingsPatch = {}): Fixture {
  const files = openFiles(t, NOW);
  const { control, db, organisationId } = files;
  const appId = mintId('app', NOW);
  organisations.registerApp(control, { organisationId, appId, keys: [key('live'), key('sandbox')], nowMs: NOW });
  const sealedIdentitySecret = Buffer.from(IDENTITY_SECRET);
  apps.createApp(db, { appId, organisationId, name: 'Shop', platformHint: 'web', settings, sealedIdentitySecret, nowMs: NOW });
  const machine = stepper(setupSession, { input: { kind: 'setup', expiresAtMs: EXPIRES } });
  const panel = stepper(stepPanel);
  panel.send({ type: 'session.claimed' });
  panel.send({ type: 'step.written', step: 'appearance' });
  const sessionId = mintId('ses', NOW);
  sessions.openSetupSession(db, {
    id: sessionId,
    appId,
    kind: 'setup',
    state: machine.state,
    snapshot: JSON.stringify(machine.snapshot.context),
    panel: panelJson(panel),
    openedAtMs: NOW,
    expiresAtMs: EXPIRES,
  });
  return {
    ...files,
    appId,
    sessionId,
    async context(writes = 'apply', sourcesAfter = '') {
      const app = readApp(db, appId, organisationId);
      const session = readSession(db, sessionId);
      assert.ok(app !== undefined && session !== undefined);
      const publicUrl = 'https://assistant.invalid';
      const context = await readContext({
        db,
        control,
        app,
        session,
        writes,
        publicUrl,
        surroundings: 'production',
        models: MODELS,
        sourcesAfter,
      });
      return JSON.parse((await renderInPieces(context, CONTEXT_DEPTH)).toString());
    },
  };
}

/** Ids sort by the millisecond they are minted in; rows of one test are listed in the order they were added. */
let added = 0;

function laterId(prefix: 'kno' | 'act'): string {
  added += 1;
  return mintId(prefix, NOW + added);
}

type Said = { origin?: KnowledgeSource['origin']; uri?: string; content?: string | null };
async function addSource({ db, appId }: Fixture, externalKey: string, more: Said = {}): Promise<void> {
  const { origin = 'setup', uri = null, content = 'Some text.' } = more;
  const kind = uri === null ? 'text' : 'url';
  const source = { sourceId: laterId('kno'), appId, externalKey, kind, title: externalKey, uri, content } as const;
  await new StoredSources(db, NOW).save({ ...source, origin, reason: 'README.md' });
}

test('SETUP-38: GET /context has exactly its keys, and an app with nothing configured says so', async (t) => {
  const { appId, sessionId, context } = oneApp(t);
  const body = await context('propose');
  assert.deepEqual(
    Object.keys(body).toSorted(),
    [
      'api',
      'app',
      'config',
      'facts',
      'intake',
      'keys',
      'models',
      'profile',
      'proposals',
      'release',
      'schemas',
      'sdk',
      'session',
      'steps',
    ].toSorted(),
  );
  assert.deepEqual(body.app, { id: appId, name: 'Shop', slug: 'shop', platform_hint: 'web', live: false });
  assert.deepEqual(body.session, { id: sessionId, kind: 'setup', expires_at: '2026-11-22T10:00:00.000Z', writes: 'propose' });
  assert.deepEqual(body.profile, { links: [], description: '', is_live: false, brand_hints: { name: 'Shop', sites: [] }, detected: null });
  assert.deepEqual(body.intake, { knowledge: [] });
  assert.deepEqual(body.config, {
    appearance: { draft: null, origin: null, updated_at: null, published: null },
    experience: { persona: null, origin: null, updated_at: null, personaVersion: 0, published: null },
    knowledge: { total: 0, next: null, items: [] },
    actions: { total: 0, items: [] },
    screens: { total: 0, items: [] },
    manifest: null,
  });
  assert.deepEqual(body.api, { base: 'https://assistant.invalid/setup', runtime: 'https://assistant.invalid' });
  assert.deepEqual(body.schemas, JSON.parse(JSON.stringify(setupSchemas('production'))));
  assert.equal(body.facts.liveAt, null);
});

test('SETUP-39, SETUP-60: what the person entered, what was detected, and what was read of the links', async (t) => {
  const intake = { links: ['https://shop.example/about', 'https://shop.example/help'], description: 'Sells shoes.', is_live: true };
  const fixture = oneApp(t, { intake });
  const long = `${'👟'.repeat(299)}xyz`;
  await addSource(fixture, 'About us', { origin: 'intake', uri: 'https://shop.example/about', content: long });
  await addSource(fixture, 'Help', { origin: 'intake', uri: 'https://shop.example/help', content: null });
  await addSource(fixture, 'Returns');
  await addSource(fixture, 'Gone', { origin: 'intake', uri: 'https://shop.example/gone' });
  await new StoredSources(fixture.db, NOW).archive(fixture.appId, 'Gone');
  fixture.db.statement('UPDATE apps SET detected = :json').run({ json: '{"framework":"next"}' });
  const body = await fixture.context();
  assert.deepEqual(body.profile, {
    ...intake,
    brand_hints: { name: 'Shop', sites: ['https://shop.example'] },
    detected: { framework: 'next' },
  });
  assert.deepEqual(body.intake.knowledge, [
    { title: 'About us', kind: 'url', address: 'https://shop.example/about', status: 'pending', excerpt: `${'👟'.repeat(299)}x` },
    { title: 'Help', kind: 'url', address: 'https://shop.example/help', status: 'pending', excerpt: null },
  ]);
});

test('SETUP-40: drafts, what is published, and every item with its origin and external_key', async (t) => {
  const fixture = oneApp(t);
  const { db, appId, context } = fixture;
  const theme = { surface: '#ffffff', onSurface: '#111111', accent: '#0044cc', onAccent: '#ffffff' };
  apps.saveAppearanceDraft(db, { appId, body: { theme, reason: 'theme.css' }, nowMs: NOW });
  apps.saveExperienceDraft(db, { appId, patch: { assistantName: 'Ada' }, nowMs: NOW });
  apps.publishDrafts(db, { appId, nowMs: NOW });
  apps.saveAppearanceDraft(db, { appId, body: { theme: { ...theme, accent: '#112233' } }, origin: 'setup', nowMs: NOW + 1 });
  apps.saveExperienceDraft(db, { appId, patch: { assistantName: 'Grace' }, origin: 'console', nowMs: NOW + 2 });
  // What changes nothing is nobody's.
  apps.saveExperienceDraft(db, { appId, patch: { assistantName: 'Grace' }, origin: 'setup', nowMs: NOW + 3 });
  await addSource(fixture, 'help/returns', { origin: 'console' });
  await addSource(fixture, 'help/old');
  await new StoredSources(db, NOW).archive(appId, 'help/old');
  const screen = { name: 'cart', title: 'Cart', description: 'What will be bought.' };
  const declared = [screen, { ...screen, name: 'attic' }, { ...screen, name: 'plan' }];
  screens.declareScreens(db, { appId, screens: declared, archive: [], origin: 'setup', nowMs: NOW });
  screens.declareScreens(db, { appId, screens: [], archive: [{ name: 'attic' }], origin: 'setup', nowMs: NOW });
  const manifest = { version: '1', actions: [{ name: 'list_orders', description: 'Lists.' }], routes: [{ name: 'cart', title: 'Cart' }] };
  manifests.registerManifest(db, { appId, ...hashManifest(manifest), sdk: 'web/1.0.0', nowMs: NOW });
  const { config, facts } = await context();
  assert.deepEqual(config.appearance.draft, { theme: { ...theme, accent: '#112233' } });
  assert.deepEqual([config.appearance.origin, config.appearance.updated_at], ['setup', '2026-11-21T10:00:00.001Z']);
  assert.deepEqual([config.experience.origin, config.experience.updated_at], ['console', '2026-11-21T10:00:00.002Z']);
  assert.equal(config.appearance.published?.version, 1);
  // As it is served: with what was derived.
  assert.deepEqual({ ...(config.appearance.published?.theme as object), ...theme }, config.appearance.published?.theme);
  assert.deepEqual(config.experience.persona, { assistantName: 'Grace' });
  assert.equal(config.experience.personaVersion, 2);
  const published = config.experience.published as { assistantName: string };
  assert.equal(published.assistantName, 'Ada');
  // An agent may send it back as it is.
  assert.deepEqual(v.safeParse(experiencePatch, published).issues, undefined);
  assert.equal(config.knowledge.total, 1);
  assert.deepEqual(config.knowledge.items, [
    {
      external_key: 'help/returns',
      kind: 'text',
      title: 'help/returns',
      uri: null,
      status: 'pending',
      error: null,
      chunks: 0,
      origin: 'console',
      reason: 'README.md',
      updated_at: '2026-11-21T10:00:00.000Z',
    },
  ]);
  assert.deepEqual(
    config.screens.items.map(({ name, planned, origin }) => [name, planned, origin]),
    [
      ['cart', false, 'setup'],
      ['plan', true, 'setup'],
    ],
  );
  assert.equal(config.screens.total, 2);
  assert.deepEqual(config.manifest, { sdk: 'web/1.0.0', actions: ['list_orders'], routes: ['cart'] });
  assert.equal(facts.handshakeAt, '2026-11-21T10:00:00.000Z');
});

test('SETUP-40: sources come in pages of 200, the total is of all', async (t) => {
  const fixture = oneApp(t);
  for (let n = 0; n < 205; n++) await addSource(fixture, `help/${n}`);
  const { knowledge: listed } = (await fixture.context()).config;
  assert.deepEqual([listed.total, listed.items.length, typeof listed.next], [205, 200, 'string']);
  const { knowledge: rest } = (await fixture.context('apply', listed.next ?? '')).config;
  assert.deepEqual(
    [rest.total, rest.next, rest.items.map((item) => item.external_key)],
    [205, null, ['help/200', 'help/201', 'help/202', 'help/203', 'help/204']],
  );
});

test('SETUP-18, SETUP-40: needs_key is told, and no secret of the app is anywhere in the answer', async (t) => {
  const { db, appId, context } = oneApp(t);
  for (const [name, host] of [
    ['search_products', 'api.shop.example'],
    ['find_stores', 'maps.shop.example'],
    ['old_search', 'api.shop.example'],
  ]) {
    const item = {
      external_key: `api/${name}`,
      name: name as string,
      description: 'Finds things.',
      method: 'GET',
      url_template: `https://${host}/search`,
      needs_key: { kind: 'header', name: 'X-Api-Key', note: 'Ask the shop team.' },
    };
    const judged = judgeHttpAction(item, 'production');
    assert.ok(judged.form === 'action');
    actions.upsertAction(db, { actionId: laterId('act'), appId, action: judged.item, origin: 'setup', nowMs: NOW });
  }
  sharedKeys.setSharedKey(db, { appId, name: 'search_products', host: 'api.shop.example', sealed: Buffer.from(SHARED_KEY), nowMs: NOW });
  actions.archiveAction(db, { appId, externalKey: 'api/old_search', reason: undefined, nowMs: NOW });
  const body = await context();
  assert.equal(body.config.actions.total, 2);
  const told = body.config.actions.items.map(({ external_key, enabled, has_key, needs_key, origin }) => ({
    external_key,
    enabled,
    has_key,
    needs_key,
    origin,
  }));
  const needs_key = { kind: 'header', name: 'X-Api-Key', note: 'Ask the shop team.' };
  assert.deepEqual(told, [
    { external_key: 'api/search_products', enabled: true, has_key: true, needs_key, origin: 'setup' },
    { external_key: 'api/find_stores', enabled: false, has_key: false, needs_key, origin: 'setup' },
  ]);
  const json = JSON.stringify(body);
  for (const secret of [SHARED_KEY, IDENTITY_SECRET]) {
    for (const encoding of ['utf8', 'base64', 'hex'] as const) assert.ok(!json.includes(Buffer.from(secret).toString(encoding)));
  }
  assert.doesNotMatch(json, /sealed|"data":\[\d/);
});

test('SETUP-41: the newest key of each channel that was not revoked, null where none is left', async (t) => {
  const { control, organisationId, appId, context } = oneApp(t);
  const newest = key('sandbox');
  const revoked = key('sandbox');
  organisations.addKey(control, { organisationId, appId, key: newest, nowMs: NOW + 1 });
  organisations.addKey(control, { organisationId, appId, key: revoked, nowMs: NOW + 2 });
  organisations.revokeKey(control, { appId, keyId: revoked.keyId, nowMs: NOW + 3 });
  const { keys } = await context();
  assert.equal(keys.test, newest.token);
  assert.match(keys.live ?? '', /^rd_pk_live_/);
  assert.ok(JSON.stringify((await context()).sdk).includes(newest.token), 'the snippets carry it');
  control.statement("UPDATE app_keys SET revoked_at_ms = 1 WHERE channel = 'live'").run();
  assert.equal((await context()).keys.live, null);
});

test('STEP-1, STEP-6: every step with its state, and the ones an agent may report', async (t) => {
  const { db, sessionId, context } = oneApp(t);
  const { steps } = await context();
  assert.deepEqual(
    steps.all.map(({ id, state, closed_by }) => `${id} ${state} ${closed_by}`),
    [
      'waiting done server',
      'connected done server',
      'discover pending agent',
      'install pending agent',
      'identity pending agent',
      'appearance active either',
      'experience pending either',
      'knowledge pending either',
      'screens pending either',
      'actions pending either',
      'verify pending server',
      'test pending server',
      'done pending either',
    ],
  );
  assert.deepEqual(
    steps.agent,
    steps.all.map(({ id }) => id).filter((id) => id !== 'waiting' && id !== 'connected'),
  );
  const row = readSession(db, sessionId);
  assert.ok(row !== undefined);
  assert.deepEqual(panelSteps(row)[5], { id: 'appearance', label: 'Applying your look', state: 'active', closed_by: 'either' });
});
