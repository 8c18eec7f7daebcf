/** What is wrong with a body of the setup interface, over HTTP, and the field that the message names. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { JSON_BODY_MAX_BYTES } from '../../../protocol/limits.ts';
import { AGENT, createAgent, fetchFile, tokenIn } from '../../support/setup-agent.ts';
import { article, assertRefused, bareCall, ENDPOINTS, httpAction, screen, startSetup, THEME } from './setup-app.ts';

const setup = await startSetup();
const { baseUrl } = setup.service;

test('SETUP-25: 400 invalid_json: a body that is no JSON, is missing, is announced as something else or nests too deep, on every endpoint with a body', async () => {
  const agent = await (await setup.app()).agent();
  const withBody = ENDPOINTS.filter(({ takesJson }) => takesJson);
  assert.equal(withBody.length, 9);
  for (const route of withBody) {
    const refused = async (body: string, names?: string, headers?: Record<string, string>) =>
      assertRefused(await agent.send(route.method, route.path, body, headers), 400, 'invalid_json', names);
    for (const body of ['{"tool":', 'x', '']) await refused(body);
    await refused('[]', 'Content-Type', { 'Content-Type': 'text/plain' });
    await refused(`${'['.repeat(65)}${']'.repeat(65)}`, '64');
  }
});

const MALFORMED: readonly (readonly [method: string, path: string, body: unknown, names: string])[] = [
  ['POST', '/start', {}, 'tool'],
  ['POST', '/start', { tool: 7 }, 'tool'],
  ['POST', '/start', { tool: 'x'.repeat(41) }, 'tool'],
  ['POST', '/start', { ...AGENT, model: 'x'.repeat(81) }, 'model'],
  ['POST', '/start', { ...AGENT, os: 'x'.repeat(41) }, 'os'],
  ['POST', '/start', { ...AGENT, pid: 1 }, 'pid'],
  ['POST', '/start', { ...AGENT, detected: { language: 'c' } }, 'detected.language'],
  ['POST', '/start', { ...AGENT, detected: { locales: Array(41).fill('en') } }, 'detected.locales'],
  ['POST', '/start', [], 'body'],
  ['POST', '/events', { step: 'waiting', status: 'done' }, 'step'],
  ['POST', '/events', { step: 'connected', status: 'done' }, 'step'],
  ['POST', '/events', { step: 'install', status: 'finished' }, 'status'],
  ['POST', '/events', { step: 'install' }, 'status'],
  ['POST', '/events', { step: 'install', status: 'done', titel: 'x' }, 'titel'],
  ['POST', '/events', { step: 'install', status: 'done', title: 'x'.repeat(121) }, 'title'],
  ['POST', '/events', { step: 'install', status: 'done', detail: 'x'.repeat(2_001) }, 'detail'],
  ['POST', '/events', { step: 'install', status: 'done', data: { text: 'x'.repeat(8_000) } }, 'data'],
  ['POST', '/events', { step: 'install', status: 'done', data: [] }, 'data'],
  [
    'POST',
    '/events',
    [
      { step: 'install', status: 'done' },
      { step: 'waiting', status: 'done' },
    ],
    '[1].step',
  ],
  ['POST', '/events', Array(51).fill({ step: 'install', status: 'progress' }), '50'],
  ['POST', '/events', [], 'at least one'],
  ['POST', '/events', { events: Array(51).fill({ step: 'install', status: 'progress' }) }, 'events'],
  ['POST', '/events', { events: [{ step: 'install', status: 'done' }], found: {} }, 'found'],
  ['POST', '/events', { events: [{ step: 'install', status: 'done' }], detected: { fonts: Array(11).fill('a') } }, 'detected.fonts'],
  ['POST', '/events', 7, 'body'],
  ['PUT', '/appearance', {}, 'theme'],
  ['PUT', '/appearance', { theme: 'dark' }, 'theme'],
  ['PUT', '/appearance', { theme: THEME, themes: {} }, 'themes'],
  ['PUT', '/appearance', { theme: { ...THEME, background: '#ffffff' } }, 'theme.background'],
  ['PUT', '/appearance', { theme: THEME, copilot: { assistantName: 'Leaf' } }, 'copilot.assistantName'],
  ['PUT', '/appearance', [], 'body'],
  ['PUT', '/appearance', null, 'body'],
  ['PUT', '/experience', { name: 'Leaf' }, 'name'],
  ['PUT', '/experience', { assistantName: 7 }, 'assistantName'],
  ['PUT', '/experience', { suggestions: 'one' }, 'suggestions'],
  ['PUT', '/experience', [], 'body'],
  ['POST', '/knowledge', {}, 'items'],
  ['POST', '/knowledge', { items: [] }, 'items'],
  ['POST', '/knowledge', { items: Array(26).fill(article('a')) }, 'items'],
  ['POST', '/knowledge', { items: [{ ...article('a'), url: 'x' }] }, 'items[0].url'],
  ['POST', '/smoke', { questions: 3 }, 'questions'],
  ['POST', '/smoke', [], 'body'],
  ['POST', '/knowledge', { items: [article('a')], dry: true }, 'dry'],
  ['POST', '/actions', { items: Array(51).fill(httpAction('a')) }, 'items'],
  ['POST', '/actions', { items: [httpAction('a', { key: 'sk-1' })] }, 'items[0].key'],
  ['POST', '/actions', { items: [httpAction('a', { needs_key: { kind: 'bearer', value: 'sk-1' } })] }, 'items[0].needs_key.value'],
  ['POST', '/screens', [], 'body'],
  ['POST', '/screens', { screens: [{ name: 'Orders', title: 'Orders', description: 'x' }] }, 'screens[0].name'],
  ['POST', '/screens', { screens: [{ name: 'orders', title: '', description: 'x' }] }, 'screens[0].title'],
  ['POST', '/screens', { screens: [{ ...screen('orders'), path: '/o' }] }, 'screens[0].path'],
  ['POST', '/screens', { screens: Array(51).fill(screen('orders')) }, 'screens'],
  ['POST', '/screens', { archive: Array(51).fill({ name: 'orders' }) }, 'archive'],
  ['POST', '/complete', {}, 'summary'],
  ['POST', '/complete', { summary: 'x'.repeat(20_001) }, 'summary'],
  ['POST', '/complete', { summary: 'x', files_changed: Array(501).fill('a') }, 'files_changed'],
  ['POST', '/complete', { summary: 'x', human_todos: Array(51).fill('a') }, 'human_todos'],
  ['POST', '/complete', { summary: 'x', todos: [] }, 'todos'],
  ['POST', '/fail', {}, 'reason'],
  ['POST', '/fail', { reason: 'x'.repeat(2_001) }, 'reason'],
  ['POST', '/fail', { reason: 'x', step: 'waiting' }, 'step'],
];

test('SETUP-26, SCREEN-3: 400 invalid_body: names the unknown, missing, mistyped or oversized field, and changes nothing', async () => {
  const agent = await (await setup.app()).agent();
  const before = await agent.get('GET', '/status');
  for (const [method, path, body, names] of MALFORMED) {
    const error = assertRefused(await agent.send(method, path, JSON.stringify(body)), 400, 'invalid_body', names);
    assert.ok((error.details ?? []).length > 0, `${method} ${path} has details`);
  }
  assert.deepEqual(await agent.get('GET', '/status'), before);
});

test('SETUP-29: an item of another type, or with a field of one, fails alone; the others are saved', async () => {
  const agent = await (await setup.app()).agent();
  const batches: readonly (readonly [path: string, items: readonly unknown[], errors: readonly RegExp[]])[] = [
    [
      '/knowledge',
      [article('good'), 'text', { ...article('b'), content: 7 }, null, { kind: 'text' }, { external_key: 5 }],
      [/the item must be an object/, /^content must be a string/, /the item must be an object/, /external_key is required/, /external_key/],
    ],
    [
      '/actions',
      [httpAction('good'), [], httpAction('b', { params: 'none' }), httpAction('c', { timeout_ms: '5' })],
      [/the item must be an object/, /^params must be an array/, /^timeout_ms must be a number/],
    ],
  ];
  for (const [path, items, errors] of batches) {
    const answer = await agent.get<{ failed: number; results: { external_key: string; ok: boolean; error?: string }[] }>('POST', path, {
      items,
    });
    assert.equal(answer.failed, errors.length);
    assert.deepEqual([answer.results[0]?.ok, answer.results[0]?.external_key], [true, 'good']);
    for (const [at, error] of errors.entries()) assert.match(answer.results[at + 1]?.error ?? '', error);
    const none = await agent.send('POST', path, { items: items.slice(1) });
    assert.equal(none.status, 422, none.text);
  }
});

test('SETUP-26: 400 invalid_body: a body of an endpoint that takes none is refused by its fields, {} and nothing are not', async () => {
  const app = await setup.app();
  const agent = await app.agent();
  assertRefused(await agent.send('POST', '/smoke', { force: true }), 400, 'invalid_body', 'force');
  assertRefused(await agent.send('POST', '/smoke', '{"a":'), 400, 'invalid_json');
  assert.equal((await agent.send('POST', '/smoke', {})).status, 200);
  await app.console('PUT', '/experience', { assistantName: 'Leaf' });
  for (const path of ['publish', 'go-live', 'smoke']) {
    assertRefused(await setup.operator('POST', `/apps/${app.appId}/${path}`, { now: 1 }), 400, 'invalid_body', 'now');
    assert.equal((await setup.operator('POST', `/apps/${app.appId}/${path}`)).status, 200, path);
  }
});

test('SETUP-26: 400 invalid_body: the console refuses a list in place of a document as the setup interface does', async () => {
  const { appId } = await setup.app();
  for (const path of ['appearance', 'experience']) {
    for (const body of [[], null, 'x']) {
      assertRefused(await setup.operator('PUT', `/apps/${appId}/${path}`, body), 400, 'invalid_body', 'body');
    }
  }
});

test('LOGO-1: 400 invalid_body: POST /logo without the field file, or with another one', async () => {
  const agent = await (await setup.app()).agent();
  assertRefused(await agent.send('POST', '/logo', { file: 'x' }), 400, 'invalid_body', 'file');
  const part = (name: string) => `--b\r\nContent-Disposition: form-data; name="${name}"; filename="a.png"\r\n\r\nabc\r\n--b--\r\n`;
  const type = { 'Content-Type': 'multipart/form-data; boundary=b' };
  assertRefused(await agent.send('POST', '/logo', part('image'), type), 400, 'invalid_body', 'image');
});

test('SETUP-27: 413 too_large: a JSON body over 2 MB, its length announced or not; exactly 2 MB is read', async () => {
  const { code } = await (await setup.app()).open();
  const token = tokenIn((await fetchFile(baseUrl, code)).text);
  const agent = createAgent(() => baseUrl, token);
  await agent.get('POST', '/start', AGENT);
  const padded = (bytes: number) => `{"items":[]}${' '.repeat(bytes - 12)}`;
  const over = padded(JSON_BODY_MAX_BYTES + 1);
  assertRefused(await agent.send('POST', '/knowledge', over), 413, 'too_large', String(JSON_BODY_MAX_BYTES));
  const chunks = Readable.from([over.slice(0, 1_000), over.slice(1_000)], { objectMode: false });
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  assertRefused(await bareCall(setup, 'POST', '/knowledge', headers, chunks), 413, 'too_large');
  assertRefused(await agent.send('POST', '/knowledge', padded(JSON_BODY_MAX_BYTES)), 400, 'invalid_body', 'items');
  const { steps } = await agent.get<{ steps: { id: string; state: string }[] }>('GET', '/status');
  assert.equal(steps.find(({ id }) => id === 'knowledge')?.state, 'pending');
});

test('SETUP-28: 422 invalid_appearance and invalid_experience: well-formed bodies with values that the console would refuse', async () => {
  const agent = await (await setup.app()).agent();
  const { onAccent: _, ...three } = THEME;
  const appearances: readonly (readonly [body: unknown, names: string])[] = [
    [{ theme: three }, 'theme.onAccent'],
    [{ theme: { ...THEME, accent: '#0b6e4f80' } }, 'theme.accent'],
    [{ theme: { ...THEME, accent: 'green' } }, 'theme.accent'],
    [{ theme: { ...THEME, radius: 33 } }, 'theme.radius'],
    [{ theme: THEME, themeDark: { surface: 'rgb(0,0,0)' } }, 'themeDark.surface'],
    [{ theme: THEME, copilot: { launcherLabel: 'x'.repeat(25) } }, 'copilot.launcherLabel'],
    [{ theme: THEME, reason: 'x'.repeat(1_001) }, 'reason'],
  ];
  for (const [body, names] of appearances) {
    const error = assertRefused(await agent.send('PUT', '/appearance', body), 422, 'invalid_appearance', names);
    assert.equal(error.details?.[0]?.path, names);
  }
  const experiences: readonly (readonly [body: unknown, names: string])[] = [
    [{ assistantName: 'x'.repeat(41) }, 'assistantName'],
    [{ tone: 'x'.repeat(4_001) }, 'tone'],
    [{ guardrails: 'Be nice.' }, 'guardrails'],
    [{ topics: Array.from({ length: 21 }, (_, n) => `t${n}`) }, 'topics'],
    [{ languages: ['english'] }, 'languages[0]'],
    [{ welcomeTitle: 'x'.repeat(81) }, 'welcomeTitle'],
    [{ welcomeBody: 'x'.repeat(161) }, 'welcomeBody'],
    [{ suggestions: ['a', 'b', 'c', 'd', 'e'] }, 'suggestions'],
    [{ suggestions: ['x'.repeat(61)] }, 'suggestions[0]'],
  ];
  for (const [body, names] of experiences) {
    assertRefused(await agent.send('PUT', '/experience', body), 422, 'invalid_experience', names);
  }
});

interface Batch {
  readonly failed: number;
  readonly results: readonly { readonly external_key: string; readonly ok: boolean; readonly error?: string }[];
}

test('SETUP-30: 422 without a code: POST /knowledge and /actions where no item was saved; one that was saved makes it a 200', async () => {
  const agent = await (await setup.app()).agent();
  const batches: readonly (readonly [path: string, bad: unknown, good: unknown, names: string])[] = [
    ['/knowledge', { ...article('bad'), content: ' ' }, article('good'), 'content'],
    ['/knowledge', { external_key: 'bad', kind: 'url', uri: 'ftp://example.com' }, article('good'), 'uri'],
    ['/knowledge', { external_key: 'bad', op: 'archive' }, article('good'), 'external_key'],
    ['/actions', httpAction('bad', { url_template: 'http://shop.example.com' }), httpAction('good'), 'url_template'],
    ['/actions', httpAction('bad', { method: 'POST', risk: 'write' }), httpAction('good'), 'confirm_template'],
    ['/actions', { external_key: 'bad', op: 'archive' }, httpAction('good'), 'external_key'],
  ];
  for (const [path, bad, good, names] of batches) {
    const none = await agent.send('POST', path, { items: [bad] });
    const { failed, results, error } = none.json as Batch & { error?: unknown };
    assert.deepEqual([none.status, failed, results.length, error], [422, 1, 1, undefined], none.text);
    assert.deepEqual([results[0]?.external_key, results[0]?.ok], ['bad', false]);
    assert.ok(results[0]?.error?.includes(names), `${results[0]?.error} does not name ${names}`);
    const some = await agent.get<Batch>('POST', path, { items: [bad, good] });
    assert.deepEqual([some.failed, some.results.map(({ ok }) => ok)], [1, [false, true]]);
  }
});
