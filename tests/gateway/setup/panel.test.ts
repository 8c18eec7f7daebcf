/** The panel as agents move it, over HTTP. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import { AGENT, agentOf, PNG } from '../../support/setup-agent.ts';
import { stepsIn } from '../../support/setup-work.ts';
import { article, assertRefused, httpAction, type Line, screen, startSetup, THEME } from './setup-app.ts';

const setup = await startSetup();

const event = (step: string, status: string, more: object = {}) => ({ step, status, ...more });

test('STEP-3: the first write marks its step started, and moving on to a later step finishes it', async () => {
  const { agent, view } = await setup.started();
  const moves: readonly (readonly [active: string, work: () => Promise<unknown>])[] = [
    ['appearance', () => agent.get('PUT', '/appearance', { theme: THEME })],
    ['appearance', () => agent.logo(PNG, 'image/png')],
    ['experience', () => agent.get('PUT', '/experience', { assistantName: 'Leaf' })],
    ['screens', () => agent.get('POST', '/screens', { screens: [screen('orders')] })],
    ['actions', () => agent.get('POST', '/actions', { items: [httpAction('a')] })],
    ['verify', () => agent.get('POST', '/events', event('verify', 'started'))],
  ];
  const done = ['waiting', 'connected'];
  for (const [index, [active, work]] of moves.entries()) {
    await work();
    const before = moves[index - 1]?.[0];
    if (before !== undefined && before !== active) done.push(before);
    const { session } = await view();
    assert.deepEqual([stepsIn(session, 'active'), stepsIn(session, 'done')], [[active], done]);
  }
});

test('STEP-4: a late write to a finished step adds its line and leaves it done', async () => {
  const { agent, view, state } = await setup.started();
  await agent.get('PUT', '/appearance', { theme: THEME });
  await agent.get('PUT', '/experience', { assistantName: 'Leaf' });
  const { events: before } = await view();
  await agent.get('PUT', '/appearance', { theme: { ...THEME, accent: '#0b5f4f' } });
  const { events: after } = await view();
  assert.equal(await state('appearance'), 'done');
  assert.deepEqual(
    after.slice(before.length).map(({ step, origin }) => [step, origin]),
    [['appearance', 'server']],
  );
});

test('STEP-6: an agent skips, fails and takes up again; failed and skipped steps are worked on by a write', async () => {
  const { agent, state } = await setup.started();
  const report = (step: string, status: string) => agent.get('POST', '/events', event(step, status));
  await report('identity', 'skipped');
  assert.equal(await state('identity'), 'skipped');
  await report('identity', 'started');
  assert.equal(await state('identity'), 'active');
  await report('identity', 'done');
  assert.equal(await state('identity'), 'done');
  await report('screens', 'failed');
  assert.equal(await state('screens'), 'failed');
  await agent.get('POST', '/screens', { screens: [screen('orders')] });
  assert.equal(await state('screens'), 'active');
  await report('actions', 'skipped');
  assert.deepEqual([await state('screens'), await state('actions')], ['done', 'skipped']);
});

test('STEP-7, STEP-8: done of an agent for verify and test is recorded and changes nothing; the handshake and a passing smoke test tick them', async () => {
  const { app, agent, view, state } = await setup.started();
  const answer = await agent.get<{ accepted: number; ids: number[] }>('POST', '/events', [event('verify', 'done'), event('test', 'done')]);
  assert.equal(answer.accepted, 2);
  assert.deepEqual([await state('verify'), await state('test')], ['pending', 'pending']);
  const recorded = (await view()).events.filter(({ id }) => answer.ids.includes(id));
  assert.deepEqual(
    recorded.map(({ step, status, origin }) => [step, status, origin]),
    [
      ['verify', 'done', 'agent'],
      ['test', 'done', 'agent'],
    ],
  );
  await agent.get('POST', '/events', event('verify', 'failed'));
  await app.callIn('orders');
  assert.deepEqual([await state('verify'), await state('screens')], ['done', 'done']);
  assert.equal((await agent.get('POST', '/smoke')).passed, false);
  assert.equal(await state('test'), 'active');
  await agent.get('POST', '/knowledge', { items: ['returns', 'delivery', 'brewing'].map((key) => article(key)) });
  assert.equal(await state('knowledge'), 'done');
  assert.equal((await agent.get('POST', '/smoke')).passed, true);
  assert.equal(await state('test'), 'done');
});

test('STEP-5: every write adds one line saying what it did; one that was refused adds one that says why, and its step stays as it was', async () => {
  const { agent, view } = await setup.started();
  const writes: readonly (readonly [step: string, says: RegExp, work: () => Promise<unknown>])[] = [
    ['appearance', /accent/, () => agent.get('PUT', '/appearance', { theme: THEME })],
    ['appearance', /logo/, () => agent.logo(PNG, 'image/png')],
    ['appearance', /nothing changed/, () => agent.get('PUT', '/appearance', { theme: THEME })],
    ['experience', /assistantName/, () => agent.get('PUT', '/experience', { assistantName: 'Leaf' })],
    ['actions', /1 created/, () => agent.get('POST', '/actions', { items: [httpAction('a')] })],
    ['screens', /1 added/, () => agent.get('POST', '/screens', { screens: [screen('orders')] })],
    ['test', /0 of \d/, () => agent.get('POST', '/smoke')],
  ];
  for (const [step, says, work] of writes) {
    const before = (await view()).events.length;
    await work();
    const [line, ...more] = (await view()).events.slice(before);
    assert.deepEqual([line?.step, line?.status, line?.origin, more], [step, 'progress', 'server', []]);
    assert.match(String(line?.title), says);
  }
  const before = await view();
  await agent.send('POST', '/knowledge', { items: [article('bad', ' ')] });
  await agent.send('PUT', '/appearance', { theme: { ...THEME, accent: 'red' } });
  const refused = (await view()).events.slice(before.events.length);
  assert.deepEqual(
    refused.map(({ step, status, title }) => [step, status, title]),
    [
      ['knowledge', 'failed', 'A write of knowledge was refused.'],
      ['appearance', 'failed', 'A write of appearance was refused.'],
    ],
  );
  assert.match(String(refused[0]?.detail), /^Knowledge: 1 failed\. bad: content /);
  assert.match(String(refused[1]?.detail), /^invalid_appearance: .*accent/);
  assert.deepEqual((await view()).session, before.session);
  await agent.get('POST', '/knowledge', { items: [article('good'), article('bad', ' ')] });
  // The indexer notes on its own that it is done, before or after the write does.
  const since = before.events.length + refused.length;
  await eventually(async () => (await view()).events.length >= since + 2);
  const lines = (await view()).events.slice(since).map(({ step, status, title }) => [step, status, title]);
  assert.deepEqual(lines.sort(), [
    ['knowledge', 'done', 'A knowledge source is indexed.'],
    ['knowledge', 'progress', 'Knowledge: 1 created, 1 failed.'],
  ]);
});

test('SETUP-47, SETUP-48: one event, a list, a list with a report; ids rise over all of them and events keep what was sent', async () => {
  const { agent, view } = await setup.started();
  const sent = event('install', 'progress', { title: 'Added it', detail: 'In package.json', data: { files: ['a'], constructor: 1 } });
  const one = await agent.get('POST', '/events', sent);
  const list = await agent.get('POST', '/events', [event('install', 'done'), event('identity', 'waiting')]);
  const report = await agent.get('POST', '/events', { events: [event('discover', 'done')], detected: { platform: 'web' } });
  const { events } = await view();
  const first = events.find(({ origin }) => origin === 'agent')?.id ?? 0;
  assert.deepEqual(one, { accepted: 1, ids: [first], detected: null });
  assert.deepEqual(list, { accepted: 2, ids: [first + 1, first + 2], detected: null });
  assert.deepEqual(report, { accepted: 1, ids: [first + 3], detected: { platform: 'web' } });
  assert.deepEqual(
    events.map(({ id }) => id),
    events.map((_, index) => index + 1),
  );
  const { id, at, origin, ...kept } = events.find((line) => line.id === first) as Line;
  assert.deepEqual([kept, origin], [sent, 'agent']);
  assert.equal(new Date(at).toISOString(), at);
  assert.ok(id > 0);
});

test('SETUP-48: ids of requests that race are all different and leave no gap', async () => {
  const { agent, view } = await setup.started();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => agent.get<{ ids: number[] }>('POST', '/events', Array(n + 1).fill(event('discover', 'progress')))),
  );
  const ids = answers.flatMap((answer) => answer.ids).sort((a, b) => a - b);
  assert.equal(ids.length, 210);
  assert.deepEqual(
    ids,
    ids.map((_, index) => (ids[0] as number) + index),
  );
  const page = await view('?limit=100');
  assert.deepEqual([page.events.length, page.next], [100, 100]);
  assert.equal((await view(`?after=${page.next}&limit=1000`)).events.length, (ids.at(-1) as number) - 100);
});

test('SETUP-47, SETUP-48: 50 events and 8,000 characters of data are taken, and one bad event of a list refuses them all', async () => {
  const { agent, view } = await setup.started();
  const data = { text: 'é'.repeat(8_000 - '{"text":""}'.length) };
  const taken = await agent.get('POST', '/events', Array(50).fill(event('discover', 'progress', { data })));
  assert.equal(taken.accepted, 50);
  const before = await view();
  assertRefused(await agent.send('POST', '/events', [event('install', 'done'), event('test', 'ok')]), 400, 'invalid_body', '[1].status');
  assertRefused(await agent.send('POST', '/events', event('install', 'done', { data: { text: `${data.text}é` } })), 400, 'invalid_body');
  assert.deepEqual(await view(), before);
});

test('SETUP-49: the discovery report is merged field by field, lists replaced, from POST /start and POST /events, and kept with the app', async () => {
  const app = await setup.app();
  const agent = await app.unstarted();
  await agent.get('POST', '/start', { ...AGENT, detected: { platform: 'web', locales: ['en', 'de'], darkTheme: true } });
  const report = (detected: object) => agent.get('POST', '/events', { events: [event('discover', 'progress')], detected });
  await report({ framework: 'react', locales: ['fr'] });
  const { detected } = await report({ darkTheme: false, screens: 3 });
  const merged = { platform: 'web', framework: 'react', locales: ['fr'], darkTheme: false, screens: 3 };
  assert.deepEqual(detected, merged);
  assert.deepEqual((await agent.get('POST', '/events', event('discover', 'done'))).detected, merged);
  const later = await app.agent('sync');
  assert.deepEqual((await later.get<{ profile: { detected: unknown } }>('GET', '/context')).profile.detected, merged);
});

test('SETUP-45, SETUP-61, STEP-11, SMOKE-5: GET /status: the keys of the table, before anything is configured; GET /smoke: { run: null } before the first run', async () => {
  const { agent } = await setup.started();
  const status = await agent.get<{ go_live: object[]; steps: { label: string }[]; release: { note: string } }>('GET', '/status');
  const { go_live: checks, steps, release, ...rest } = status;
  const { note, ...settings } = release;
  const nothing = { published_version: null, unpublished: false, reach: [], obstacles: [] };
  assert.deepEqual(settings, { auto_go_live: true, publish_on_go_live: true, ...nothing });
  assert.match(note, /Going live publishes the drafts/);
  assert.deepEqual(rest, {
    app_ready: false,
    knowledge_ready: true,
    screens_missing: 0,
    facts: {
      handshakeAt: null,
      manifest: null,
      knowledge: { sources: 0, indexed: 0, pending: 0, indexing: 0, failed: 0, chunks: 0 },
      declaredScreens: 0,
      httpActions: { enabled: 0, needsKey: 0 },
      smoke: null,
      liveAt: null,
    },
  });
  assert.deepEqual(
    checks.map((check) => Object.keys(check)),
    Array(4).fill(['key', 'label', 'ok', 'detail']),
  );
  const labels =
    'Waiting for your agent, Agent connected, Reading your code, Installing the SDK, Connecting your users, Applying your look, Defining the assistant, Filling the knowledge base, Connecting screens, Connecting actions, Building and verifying, Test conversation, Ready';
  assert.deepEqual(
    steps.map(({ label }) => label),
    labels.split(', '),
  );
  assert.deepEqual(await agent.get('GET', '/smoke'), { run: null });
});

test('SMOKE-5: GET /smoke: answers the latest run and runs nothing', async () => {
  const { agent, view } = await setup.started();
  const run = await agent.get('POST', '/smoke');
  const before = await view();
  assert.deepEqual(await agent.get('GET', '/smoke'), run);
  assert.deepEqual(Object.keys(run).sort(), ['createdAt', 'id', 'passed', 'platformFailure', 'results']);
  assert.deepEqual(await view(), before);
});

test('STEP-9: a failed or skipped of the agent stands until something newer is observed, also where the step was observed before', async () => {
  const { app, agent, state } = await setup.started();
  await agent.get('POST', '/knowledge', { items: [article('returns')] });
  await app.callIn('orders');
  assert.deepEqual([await state('knowledge'), await state('screens')], ['done', 'done']);
  await agent.get('POST', '/events', [event('knowledge', 'failed'), event('screens', 'skipped')]);
  await agent.get('GET', '/status');
  await agent.get('POST', '/events', event('discover', 'done'));
  assert.deepEqual([await state('knowledge'), await state('screens')], ['failed', 'skipped']);
  await app.callIn('orders');
  assert.deepEqual([await state('knowledge'), await state('screens')], ['failed', 'done']);
  await agent.get('POST', '/knowledge', { items: [article('delivery')] });
  assert.equal(await state('knowledge'), 'done');
});

test('STEP-9: what is true of an app already is ticked at once in a later session, and a failed after that stands', async () => {
  const { app, agent: first } = await setup.started();
  await first.get('POST', '/knowledge', { items: [article('returns')] });
  const { session, code } = await app.open();
  const agent = await agentOf(setup.service.baseUrl, code);
  await agent.get('POST', '/start', AGENT);
  const state = async () => (await setup.view(session.id)).session.steps.find(({ id }) => id === 'knowledge')?.state;
  assert.equal(await state(), 'done');
  await agent.get('POST', '/events', event('knowledge', 'failed'));
  assert.equal(await state(), 'failed');
});

test('STEP-10: right after POST /start the step turns red that had the last event', async () => {
  const { agent, state, view } = await setup.started();
  await agent.get('POST', '/fail', { reason: 'There is no repository here.' });
  assert.equal(await state('connected'), 'failed');
  const last = (await view()).events.at(-1);
  assert.deepEqual([last?.step, last?.status, last?.detail], ['connected', 'failed', 'There is no repository here.']);
});

test('LIVE-8: the app has called in with the first request that has a handshake, a chat too; app_ready needs the manifest', async () => {
  const { app, agent, state } = await setup.started();
  const ready = async () => {
    const {
      app_ready: is,
      facts,
      go_live: checks,
    } = await agent.get<{
      app_ready: boolean;
      facts: { handshakeAt: string | null };
      go_live: { detail: string }[];
    }>('GET', '/status');
    return { is, at: facts.handshakeAt, detail: checks[0]?.detail ?? '' };
  };
  assert.deepEqual(await ready().then(({ is, at }) => [is, at]), [false, null]);
  const chat = await createClient(setup.service.baseUrl, app.keys.test).chat({ message: { text: 'Hello' } });
  assert.equal(chat.status, 200);
  const called = await ready();
  assert.equal(called.is, false);
  assert.notEqual(called.at, null);
  assert.match(called.detail, /connected, but has sent no manifest/);
  assert.equal(await state('verify'), 'done');
  await app.callIn();
  assert.deepEqual(await ready().then(({ is, at }) => [is, at]), [true, called.at]);
});

test('SMOKE-1: the turns of a smoke run are no handshake of the app', async () => {
  const { agent, state } = await setup.started();
  await agent.get('POST', '/knowledge', { items: [article('returns')] });
  await agent.get('POST', '/smoke');
  assert.equal(await state('verify'), 'pending');
});
