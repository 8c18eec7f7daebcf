/** Every error code of the setup interface over HTTP, with the sentence that says what to do. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AGENT, type Agent, agentOf, createAgent, fetchFile, PNG, tokenIn } from '../../support/setup-agent.ts';
import { assertRefused, bareCall, ENDPOINTS, startSetup, THEME } from './setup-app.ts';

const setup = await startSetup();
const { baseUrl, operatorToken } = setup.service;
const bare = (method: string, path: string, headers?: Record<string, string>) => bareCall(setup, method, path, headers);

test('SETUP-16: 401 missing_token: no bearer header on every endpoint but GET /file; a token in the query is not read', async () => {
  const { code } = await (await setup.app()).open();
  const token = tokenIn((await fetchFile(baseUrl, code)).text);
  for (const route of ENDPOINTS.filter(({ path }) => path !== '/file')) {
    assertRefused(await bare(route.method, route.path), 401, 'missing_token', 'Authorization: Bearer');
  }
  for (const query of ['token', 'access_token', 'authorization', 'setup_token']) {
    assertRefused(await bare('GET', `/status?${query}=${token}`), 401, 'missing_token');
  }
  assertRefused(await bare('GET', '/status', { Authorization: token }), 401, 'missing_token');
  assertRefused(await bare('GET', '/status', { Authorization: `Basic ${token}` }), 401, 'missing_token');
});

test('SETUP-17: 401 invalid_token: never issued, a credential of another interface, or replaced by a newer file', async () => {
  const app = await setup.app();
  const { code, session } = await app.open();
  const first = await agentOf(baseUrl, code);
  assertRefused(await first.send('GET', '/status'), 409, 'not_started');
  const fresh = (await setup.operator('POST', `/sessions/${session.id}/code`)).json as { code: string };
  assertRefused(await first.send('GET', '/status'), 409, 'not_started');
  const second = await agentOf(baseUrl, fresh.code);
  assertRefused(await first.send('GET', '/status'), 401, 'invalid_token', 'file');
  assertRefused(await first.send('POST', '/start', AGENT), 401, 'invalid_token');
  assertRefused(await second.send('GET', '/status'), 409, 'not_started');
  for (const token of [`rd_st_${'0'.repeat(24)}`, operatorToken, app.keys.test, code, 'x'.repeat(5_000)]) {
    assertRefused(await createAgent(() => baseUrl, token).send('GET', '/status'), 401, 'invalid_token');
  }
});

test('SETUP-10: 404 unknown_code: GET /file with a code that was never issued, or without one', async () => {
  for (const query of ['', '?code=', `?code=${'0'.repeat(32)}`, `?code=${'0'.repeat(31)}`, '?code=%27--', `?code=${'A'.repeat(32)}`]) {
    assertRefused(await bare('GET', `/file${query}`), 404, 'unknown_code', 'console');
  }
});

test('SETUP-19: 404 app_not_found: the app of the session was deleted', async () => {
  const app = await setup.app();
  const agent = await app.agent();
  const { code } = await app.open('sync');
  await app.console('DELETE', '');
  assertRefused(await agent.send('GET', '/status'), 404, 'app_not_found', 'deleted');
  assertRefused(await agent.send('POST', '/start', AGENT), 404, 'app_not_found');
  assertRefused(await bare('GET', `/file?code=${code}`), 404, 'app_not_found');
});

test('HTTP-13: 404 not_found: a path that is none; 405 method_not_allowed: a method that its path does not have', async () => {
  for (const path of ['', '/', '/nope', '/status/x', '/v1/status']) assertRefused(await bare('GET', path), 404, 'not_found');
  for (const path of new Set(ENDPOINTS.map((endpoint) => endpoint.path))) {
    const answer = await bare('DELETE', path);
    assertRefused(answer, 405, 'method_not_allowed', path);
    const methods = ENDPOINTS.filter((endpoint) => endpoint.path === path).map(({ method }) => method);
    assert.deepEqual(String(answer.headers.allow).split(', '), methods.sort());
  }
});

test('SETUP-20: 409 not_started: every endpoint but GET /file and POST /start, until the session is claimed', async () => {
  const agent = await (await setup.app()).unstarted();
  const others = ENDPOINTS.filter(({ path }) => !['/file', '/start'].includes(path));
  assert.equal(others.length, 14);
  for (const route of others) assertRefused(await agent.send(route.method, route.path), 409, 'not_started', 'POST /start');
  assertRefused(await agent.send('PUT', '/appearance', { theme: THEME }), 409, 'not_started');
  await agent.get('POST', '/start', AGENT);
  assert.deepEqual(await agent.get('GET', '/smoke'), { run: null });
});

test('SETUP-21, SETUP-22: 409 already_claimed: an agent with another tool, model or os; the same three restart and are answered the same', async () => {
  const agent = await (await setup.app()).unstarted();
  const first = await agent.get('POST', '/start', AGENT);
  for (const other of [{ tool: 'cursor' }, { model: 'model-2' }, { os: 'darwin' }]) {
    assertRefused(await agent.send('POST', '/start', { ...AGENT, ...other }), 409, 'already_claimed', 'file');
  }
  assertRefused(await agent.send('POST', '/start', { tool: AGENT.tool }), 409, 'already_claimed');
  assert.deepEqual(await agent.get('POST', '/start', AGENT), first);
});

test('SETUP-2: 409 app_live: a setup session is not opened on a live app; a sync session is', async () => {
  const app = await setup.app();
  await app.console('POST', '/go-live');
  assertRefused(await setup.operator('POST', `/apps/${app.appId}/sessions`, { kind: 'setup' }), 409, 'app_live', 'sync');
  await (await app.agent('sync')).get('GET', '/status');
});

test('LOGO-9: 409 draft_invalid: POST /logo before there is an appearance draft', async () => {
  const agent = await (await setup.app()).agent();
  assertRefused(await agent.logo(PNG, 'image/png'), 409, 'draft_invalid', 'PUT /appearance');
  await agent.get('PUT', '/appearance', { theme: THEME });
  assert.equal((await agent.logo(PNG, 'image/png')).status, 200);
});

test('SETUP-10: 410 code_used: a code works once; 410 code_expired: a newer code replaced it', async () => {
  const { code, session } = await (await setup.app()).open();
  const fresh = (await setup.operator('POST', `/sessions/${session.id}/code`)).json as { code: string };
  assertRefused(await bare('GET', `/file?code=${code}`), 410, 'code_expired', 'command');
  assert.equal((await bare('GET', `/file?code=${fresh.code}`)).status, 200);
  assertRefused(await bare('GET', `/file?code=${fresh.code}`), 410, 'code_used', 'command');
});

/** Every endpoint that the token opened before. */
async function assertClosed(agent: Agent): Promise<void> {
  for (const route of ENDPOINTS.filter(({ path }) => path !== '/file')) {
    const body = route.path === '/start' ? AGENT : undefined;
    assertRefused(await agent.send(route.method, route.path, body), 410, 'session_closed', 'file');
  }
}

test('SETUP-5: 410 session_closed: at once after POST /complete, POST /fail, Stop, a newer session, and going live', async () => {
  const ends: readonly ((agent: Agent, app: Awaited<ReturnType<typeof setup.app>>, id: string) => Promise<unknown>)[] = [
    (agent) => agent.get('POST', '/complete', { summary: 'Done.' }),
    (agent) => agent.get('POST', '/fail', { reason: 'No compiler.' }),
    (_agent, _app, id) => setup.operator('POST', `/sessions/${id}/stop`),
    (_agent, app) => app.open('sync'),
    (_agent, app) => app.console('POST', '/go-live'),
  ];
  for (const end of ends) {
    const app = await setup.app();
    const { session, code } = await app.open();
    const agent = await agentOf(baseUrl, code);
    await agent.get('POST', '/start', AGENT);
    const { code: unused } = (await setup.operator('POST', `/sessions/${session.id}/code`)).json as { code: string };
    await end(agent, app, session.id);
    await assertClosed(agent);
    assertRefused(await bare('GET', `/file?code=${unused}`), 410, 'session_closed');
    assertRefused(await setup.operator('POST', `/sessions/${session.id}/code`), 410, 'session_closed');
  }
});
