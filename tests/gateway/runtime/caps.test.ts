/** Each cap at its edge, and how it is told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dataLayout } from '../../../storage/data-layout.ts';
import { openReader } from '../../../storage/sqlite/database.ts';
import { createClient, createOperator, createTestApp, HANDSHAKE, outline, type StreamAnswer, type TestApp } from '../../support/client.ts';
import { startService } from '../../support/service.ts';
import { startUpstream, upstreamEnv } from '../../support/upstream.ts';
import { FILE } from '../../support/whole-file.ts';
import { DONE } from './scripted-chat.ts';

/** A turn costs 104 millionths of a dollar: 100 tokens in at 1 USD a million, 2 out at 2. */
const TURN_USD = 0.000_104;

const NOTICES = { ...HANDSHAKE, capabilities: ['notices'] };
const build = (sdk: string, capabilities: readonly string[] = []) => ({ ...HANDSHAKE, sdk, capabilities });

const upstream = await startUpstream(FILE, () => [{ text: 'Fine.' }]);
const env = (more: Record<string, string> = {}) => ({ ...upstreamEnv(upstream), DEMO: 'off', LOG_LEVEL: 'silent', ...more });
const service = await startService(FILE, { env: env() });
const operator = createOperator(service.baseUrl, service.operatorToken);
/** A turn costs 2.5 USD there, and the plan has 5. */
const costly = await startService(FILE, { env: env({ MODEL_PRICES: '{"scripted":{"input":25000,"output":0}}' }) });
const administer = createOperator(costly.baseUrl, costly.operatorToken);
const makeApp = (settings: Record<string, unknown> = {}): Promise<TestApp> =>
  createTestApp(service.baseUrl, service.operatorToken, settings);
const say = (key: string, client: unknown = HANDSHAKE, more: Record<string, unknown> = {}, at = service): Promise<StreamAnswer> =>
  createClient(at.baseUrl, key).say('Hello', { client, ...more });

function assertAnswered({ events, text }: StreamAnswer): void {
  assert.deepEqual(outline(events), DONE, text);
}

interface Told {
  readonly reason: string;
  readonly code: string;
  /** Midnight of the next day, or of the next month's first. */
  readonly until: 'day' | 'month';
}

function midnightAfter(until: Told['until'], nowMs: number): string {
  const now = new Date(nowMs);
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  return new Date(until === 'day' ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1, 1)).toISOString();
}

/** The notice, then a turn that is completed and free; no turn.start. */
function assertNotice({ status, events, text }: StreamAnswer, { reason, until }: Told): void {
  assert.equal(status, 200);
  assert.deepEqual(outline(events), ['notice', 'turn.end'], text);
  const [first] = events;
  assert.ok(first !== undefined);
  const { message, resets_at, ...notice } = first;
  assert.deepEqual(notice, { type: 'notice', v: 1, seq: 0, reason });
  assert.equal(resets_at, midnightAfter(until, Date.now()));
  assert.deepEqual(events[1], { type: 'turn.end', v: 1, seq: 1, status: 'completed', billable: false });
  assertCalm(message);
}

function assertError({ status, events, text }: StreamAnswer, { code }: Told): void {
  assert.equal(status, 200);
  assert.deepEqual(outline(events), ['error', 'turn.end'], text);
  assert.deepEqual([events[0]?.code, events[1]?.status], [code, 'error']);
  assertCalm(events[0]?.message);
}

/** A sentence for a person: no figures, no money, no word for developers. */
function assertCalm(message: unknown): void {
  assert.match(String(message), /^[A-Z].*\.$/);
  assert.doesNotMatch(String(message), /\d|USD|\$|budget|quota|limit|credit|console|error/i);
}

/** Asserts how a reached cap is told: as a notice to builds that list `notices`, else as an error. `oldGetsError`: old builds get the error anyway. */
async function assertTold(key: string, told: Told, { oldGetsError = false, at = service } = {}): Promise<void> {
  for (const sdk of ['web/0.50.0', 'web/0.25.0', 'flutter/0.48.0', 'kiosk/0.1.0']) {
    assertNotice(await say(key, build(sdk, ['notices']), {}, at), told);
    assertError(await say(key, build(sdk), {}, at), told);
    assertError(await say(key, build(sdk, ['answer_pages']), {}, at), told);
  }
  for (const sdk of ['web/0.24.9', 'flutter/0.47.0', 'flutter/0.48.0-beta.1']) {
    const answer = await say(key, build(sdk, ['notices']), {}, at);
    if (oldGetsError) assertError(answer, told);
    else assertNotice(answer, told);
  }
}

test('LIMIT-11, STREAM-12: on a live key the n-th of an app is answered and the next is not; other apps are not concerned', async () => {
  const app = await makeApp({ messages_per_day: 3 });
  const made = await operator('POST', `/orgs/${app.organisationId}/apps`, { name: 'Second' });
  const second = made.json as { app: { id: string }; keys: { live: string } };
  await operator('POST', `/apps/${second.app.id}/go-live`);
  for (let n = 0; n < 3; n++) assertAnswered(await say(app.liveKey));
  await assertTold(app.liveKey, { reason: 'user_limit', code: 'rate_limited', until: 'day' });
  assertAnswered(await say(second.keys.live));
  assertAnswered(await say(app.testKey));
});

test('LIMIT-11: on a test key the turns of all apps of the organisation count together', async () => {
  const app = await makeApp({ messages_per_day: 3 });
  const made = await operator('POST', `/orgs/${app.organisationId}/apps`, { name: 'Second', messages_per_day: 3 });
  const { keys } = made.json as { keys: { test: string } };
  for (const key of [app.testKey, keys.test, app.testKey]) assertAnswered(await say(key));
  for (const key of [app.testKey, keys.test])
    assertNotice(await say(key, NOTICES), { reason: 'user_limit', code: 'rate_limited', until: 'day' });
  assertAnswered(await say(app.liveKey));
});

test('LIMIT-14: a cap that is lowered holds from the next turn on, however soon that comes and whatever was left', async () => {
  const app = await makeApp({ messages_per_day: 100 });
  for (let n = 0; n < 2; n++) assertAnswered(await say(app.liveKey));
  const asked = upstream.requests.length;
  await operator('PATCH', `/apps/${app.appId}`, { messages_per_day: 2 });
  assertNotice(await say(app.liveKey, NOTICES), { reason: 'user_limit', code: 'rate_limited', until: 'day' });
  assert.equal(upstream.requests.length, asked);
});

test('LIMIT-11, LIMIT-14: sixteen at once get exactly as many answers as are left', async () => {
  const app = await makeApp({ messages_per_day: 5 });
  const answers = await Promise.all(Array.from({ length: 16 }, () => say(app.liveKey, NOTICES)));
  assert.equal(answers.filter(({ events }) => events[0]?.type === 'turn.start').length, 5);
  assert.equal(answers.filter(({ events }) => events[0]?.type === 'notice').length, 11);
});

test('LIMIT-15, STREAM-13: turn.end says what is left of the minute and of the day', async () => {
  const app = await makeApp({ messages_per_minute: 5, messages_per_day: 3 });
  const client = createClient(service.baseUrl, app.liveKey);
  const left = async () => (await client.say('Hello')).events.at(-1)?.usage;
  assert.deepEqual(await left(), { minute_left: 4, day_left: 2 });
  assert.deepEqual(await left(), { minute_left: 3, day_left: 1 });
  assert.deepEqual(await left(), { minute_left: 2, day_left: 0 });
  const other = createClient(service.baseUrl, app.testKey, 'e'.repeat(32));
  assert.deepEqual((await other.say('Hello')).events.at(-1)?.usage, { minute_left: 4, day_left: 2 });
});

test('LIMIT-18: turns go on until the day has cost as much; the refused leave no row', async () => {
  const app = await makeApp({ daily_model_budget_usd: 2 * TURN_USD });
  assertAnswered(await say(app.liveKey));
  assertAnswered(await say(app.liveKey));
  await assertTold(app.liveKey, { reason: 'spend_paused', code: 'quota_exceeded', until: 'day' });
  const usage = (await operator('GET', `/orgs/${app.organisationId}/usage`)).json as { apps: { turns: number; conversations: number }[] };
  assert.deepEqual([usage.apps[0]?.turns, usage.apps[0]?.conversations], [2, 2]);
  await operator('PATCH', `/apps/${app.appId}`, { daily_model_budget_usd: null });
  assertAnswered(await say(app.liveKey));
});

test('LIMIT-39, LIMIT-23, STREAM-12: credit at zero is exhausted: the launcher hides, no new conversation starts, open ones finish below zero', async () => {
  const app = await createTestApp(costly.baseUrl, costly.operatorToken);
  await administer('PATCH', `/orgs/${app.organisationId}`, { plan: 'free' });
  const available = async (key = app.liveKey) => {
    const { json } = await createClient(costly.baseUrl, key).send('GET', '/v1/apps/config');
    return (json as { available: boolean }).available;
  };
  const first = await say(app.liveKey, NOTICES, {}, costly);
  assertAnswered(first);
  assert.equal(await available(), true, 'half of it is left');
  assertAnswered(await say(app.liveKey, NOTICES, {}, costly));
  assert.equal(await available(), false, 'at zero');
  assert.equal(await available(app.testKey), true, 'test keys spend nothing');
  await assertTold(app.liveKey, { reason: 'credit_exhausted', code: 'quota_exceeded', until: 'month' }, { oldGetsError: true, at: costly });
  assertAnswered(await say(app.liveKey, NOTICES, { conversation_id: first.events[0]?.conversation_id }, costly));
  assertAnswered(await say(app.testKey, NOTICES, {}, costly));
  const usage = async () =>
    (
      (await administer('GET', `/orgs/${app.organisationId}/usage`)).json as {
        credit: { overdrawn_usd: number; purchased_left_usd: number };
      }
    ).credit;
  assert.equal((await usage()).overdrawn_usd, 2.5);
  await administer('POST', `/orgs/${app.organisationId}/credit`, { amount_usd: 10 });
  assert.equal((await usage()).purchased_left_usd, 7.5, 'what was used below zero is deducted from the next credit');
  assert.equal(await available(), true, 'at once');
  assertAnswered(await say(app.liveKey, NOTICES, {}, costly));
});

test('LIMIT-23: with hard_cap off the assistant goes on below zero, and what it costs is written down', async () => {
  const app = await createTestApp(costly.baseUrl, costly.operatorToken, { hard_cap: false });
  await administer('PATCH', `/orgs/${app.organisationId}`, { plan: 'free' });
  for (let n = 0; n < 6; n++) {
    const answer = await say(app.liveKey, NOTICES, {}, costly);
    assertAnswered(answer);
    assert.equal(answer.events.at(-1)?.billable, true);
  }
  const { json } = await createClient(costly.baseUrl, app.liveKey).send('GET', '/v1/apps/config');
  assert.equal((json as { available: boolean }).available, true);
  const { credit, spent_usd } = (await administer('GET', `/orgs/${app.organisationId}/usage`)).json as {
    credit: { overdrawn_usd: number };
    spent_usd: number;
  };
  assert.deepEqual([spent_usd, credit.overdrawn_usd], [15, 10]);
});

test('LIMIT-19: behind all caps stands the platform’s daily ceiling, for live and test turns of all organisations, after a restart too', async (t) => {
  const ceiling = { PLATFORM_DAILY_BUDGET_USD: (2 * TURN_USD).toFixed(6) };
  const guarded = await startService(t, { env: env(ceiling) });
  const one = await createTestApp(guarded.baseUrl, guarded.operatorToken);
  const other = await createTestApp(guarded.baseUrl, guarded.operatorToken);
  assertAnswered(await say(one.liveKey, NOTICES, {}, guarded));
  assertAnswered(await say(other.testKey, NOTICES, {}, guarded));
  const told = { reason: 'daily_ceiling', code: 'quota_exceeded', until: 'day' } as const;
  await assertTold(one.liveKey, told, { at: guarded });
  for (const key of [one.testKey, other.liveKey]) assertNotice(await say(key, NOTICES, {}, guarded), told);
  await guarded.stop();
  const again = await startService(t, { dataDir: guarded.dataDir, env: env(ceiling) });
  assertNotice(await say(one.liveKey, NOTICES, {}, again), told);
  await again.stop();
  const lifted = await startService(t, { dataDir: guarded.dataDir, env: env() });
  assertAnswered(await say(one.liveKey, NOTICES, {}, lifted));
});

test('LIMIT-14: caps are asked before anything of the turn is worked on: manifest, attachments, personal data', async () => {
  const app = await makeApp({ messages_per_day: 1 });
  const first = await say(app.liveKey);
  assertAnswered(first);
  const conversation_id = first.events[0]?.conversation_id as string;
  const attachments = [{ upload_id: 'upl_000000000000000000000000' }];
  const unknown = { ...HANDSHAKE, manifest_hash: 'a'.repeat(64) };
  const told = { reason: 'user_limit', code: 'rate_limited', until: 'day' } as const;
  for (const more of [{ attachments }, { client: unknown }, { conversation_id, message: { text: 'I am ada@example.org.' } }]) {
    assertError(await createClient(service.baseUrl, app.liveKey).chat({ message: { text: 'Hello' }, ...more }), told);
  }
  const db = openReader(dataLayout(service.dataDir).organisation(app.organisationId));
  assert.equal(
    db.statement('SELECT placeholders FROM conversations WHERE id = :conversation_id').get({ conversation_id })?.placeholders,
    0,
  );
  db.close();
});
