/** Who gets a session, and what ends it, over HTTP; a call is judged by what its token may do when its body has come. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { AGENT, agentOf, createAgent, fetchFile, tokenIn } from '../../support/setup-agent.ts';
import { stepsIn } from '../../support/setup-work.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { article, assertRefused, type SessionView, startSetup, THEME } from './setup-app.ts';

const setup = await startSetup();
const { started, view } = setup;
const { baseUrl } = setup.service;

test('SETUP-10: of calls that race for one code exactly one is answered, with the only token that works', async () => {
  const { code } = await (await setup.app()).open();
  const answers = await Promise.all(Array.from({ length: 8 }, () => fetchFile(baseUrl, code)));
  const won = answers.filter(({ status }) => status === 200);
  assert.equal(won.length, 1);
  for (const lost of answers.filter(({ status }) => status !== 200)) assertRefused(lost, 410, 'code_used');
  await createAgent(() => baseUrl, tokenIn(String(won[0]?.text))).get('POST', '/start', AGENT);
});

test('SETUP-11: a used code is code_used, also once its session has ended; one that was never used says that the session is closed', async () => {
  const app = await setup.app();
  const { code } = await app.open();
  const agent = await agentOf(baseUrl, code);
  await agent.get('POST', '/start', AGENT);
  assertRefused(await fetchFile(baseUrl, code), 410, 'code_used');
  await agent.get('POST', '/complete', { summary: 'Done.' });
  assertRefused(await fetchFile(baseUrl, code), 410, 'code_used');
  const unused = await app.open();
  await app.open();
  assertRefused(await fetchFile(baseUrl, unused.code), 410, 'session_closed');
});

test('SETUP-58: the console lists the sessions of an app, the newest first, and no code of any', async () => {
  const app = await setup.app();
  const first = await app.open();
  const second = await app.open('sync');
  const list = (query = '') => app.console<{ sessions: { id: string; kind: string; status: string }[] }>('GET', `/sessions${query}`);
  const { sessions } = await list();
  assert.deepEqual(
    sessions.map(({ id, kind, status }) => [id, kind, status]),
    [
      [second.session.id, 'sync', 'open'],
      [first.session.id, 'setup', 'cancelled'],
    ],
  );
  assert.deepEqual(sessions[0], (await view(second.session.id)).session);
  assert.equal(JSON.stringify(sessions).includes(second.code), false);
  assert.equal((await list('?limit=1')).sessions.length, 1);
  assertRefused(await setup.operator('GET', `/apps/${app.appId}/sessions?limit=51`), 400, 'invalid_request', 'limit');
});

test('SETUP-12: GET /file: text/markdown that nobody keeps, with a token of 24 lowercase hex characters', async () => {
  const { code, file_url: fileUrl, session } = await (await setup.app()).open();
  assert.match(code, /^[0-9a-f]{32}$/);
  assert.equal(fileUrl, `${baseUrl}/setup/file?code=${code}`);
  assert.equal(session.status, 'open');
  const file = await fetchFile(baseUrl, code);
  assert.match(String(file.headers['content-type']), /^text\/markdown/);
  assert.equal(file.headers['cache-control'], 'no-store');
  assert.match(tokenIn(file.text), /^rd_st_[0-9a-f]{24}$/);
});

test('SETUP-15: the command that the console shows writes the setup file, and fails once its code was used', async (t) => {
  const { command } = await (await setup.app()).open();
  const dir = temporaryDir(t);
  const run = () => promisify(execFile)('/bin/sh', ['-c', command], { cwd: dir, env: { PATH: process.env.PATH, TMPDIR: dir } });
  await run();
  const written = readdirSync(dir);
  assert.equal(written.length, 1);
  const agent = createAgent(() => baseUrl, tokenIn(readFileSync(join(dir, String(written[0])), 'utf8')));
  await assert.rejects(run(), /410/);
  await agent.get('POST', '/start', AGENT);
});

test('SETUP-21: of different agents that race exactly one claims the session', async () => {
  const { session, code } = await (await setup.app()).open();
  const agent = await agentOf(baseUrl, code);
  const tools = Array.from({ length: 8 }, (_, n) => `tool-${n}`);
  const answers = await Promise.all(tools.map((tool) => agent.send('POST', '/start', { tool })));
  const winner = answers.findIndex(({ status }) => status === 200);
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  for (const lost of answers.filter(({ status }) => status !== 200)) assertRefused(lost, 409, 'already_claimed');
  assert.deepEqual((await view(session.id)).session.agent, { tool: tools[winner], model: null, os: null });
});

test('SETUP-46, STEP-2: POST /start: answers session, app and the following call; waiting and connected close', async () => {
  const app = await setup.app();
  const { session, code } = await app.open();
  const agent = await agentOf(baseUrl, code);
  const { session: opened } = await view(session.id);
  const answer = await agent.get('POST', '/start', { ...AGENT, detected: { platform: 'web' } });
  assert.deepEqual(answer, {
    ok: true,
    session: { id: session.id, kind: 'setup', status: 'running', expires_at: opened.expires_at },
    app: { id: app.appId, name: 'Tea' },
    next: { method: 'GET', path: '/context', url: `${baseUrl}/setup/context` },
  });
  assert.equal(Date.parse(opened.expires_at) - Date.parse(opened.opened_at), 24 * 3_600_000);
  const next = await agent.get<{ session: object; profile: { detected: unknown } }>('GET', '/context');
  assert.deepEqual(next.session, { id: session.id, kind: 'setup', expires_at: opened.expires_at, writes: 'apply' });
  assert.deepEqual(next.profile.detected, { platform: 'web' });
  assert.deepEqual(stepsIn((await view(session.id)).session, 'done'), ['waiting', 'connected']);
});

test('SETUP-22: the same agent starts again with a fresh file of the same session, and its steps are kept', async () => {
  const { app, id, agent } = await started();
  await agent.get('PUT', '/appearance', { theme: THEME });
  const fresh = (await setup.operator('POST', `/sessions/${id}/code`)).json as { code: string; code_expires_at: string; command: string };
  assert.ok(fresh.command.includes(fresh.code));
  assert.ok(Date.parse(fresh.code_expires_at) > Date.now());
  const again = await agentOf(baseUrl, fresh.code);
  const answer = await again.get<{ session: { id: string } }>('POST', '/start', AGENT);
  assert.equal(answer.session.id, id);
  assertRefused(await agent.send('GET', '/status'), 401, 'invalid_token');
  assert.deepEqual(stepsIn(await again.get('GET', '/status'), 'active'), ['appearance']);
  assert.equal((await setup.operator('POST', `/apps/${app.appId}/sessions`, { kind: 'other' })).status, 400);
});

test('SETUP-1: one open session per app; a newer one cancels it, also of many that are opened at once', async () => {
  const { app, id, agent } = await started();
  const opened = await Promise.all([app.open(), app.open('sync'), app.open()]);
  assert.equal((await view(id)).session.status, 'cancelled');
  assertRefused(await agent.send('GET', '/status'), 410, 'session_closed');
  const states = await Promise.all(opened.map(async ({ session }) => (await view(session.id)).session.status));
  assert.deepEqual(states.sort(), ['cancelled', 'cancelled', 'open']);
});

test('SETUP-7: Stop in the console ends the session at once and once; what was closed stays what it was', async () => {
  const { id, agent } = await started();
  const stopped = await setup.operator('POST', `/sessions/${id}/stop`);
  assert.equal((stopped.json as SessionView).session.status, 'cancelled');
  assertRefused(await agent.send('POST', '/events', { step: 'install', status: 'done' }), 410, 'session_closed');
  const again = (await setup.operator('POST', `/sessions/${id}/stop`)).json as SessionView;
  assert.equal(again.session.closed_at, (stopped.json as SessionView).session.closed_at);
  const { id: other, agent: second } = await started();
  await second.get('POST', '/complete', { summary: 'Done.' });
  assert.equal(((await setup.operator('POST', `/sessions/${other}/stop`)).json as SessionView).session.status, 'completed');
  assertRefused(await setup.operator('POST', '/sessions/ses_none/stop'), 404, 'not_found');
});

test('SETUP-6: going live ends a setup session as cancelled; a sync session goes on and proposes', async () => {
  const { app, id } = await started();
  await app.console('POST', '/go-live');
  assert.equal((await view(id)).session.status, 'cancelled');
  const synced = await setup.app();
  const agent = await synced.agent('sync');
  const writes = async () => (await agent.get<{ session: { writes: string } }>('GET', '/context')).session.writes;
  assert.equal(await writes(), 'apply');
  await synced.console('POST', '/go-live');
  assert.equal(await writes(), 'propose');
});

test('SETUP-51: POST /complete: both racing calls end the session once; its words are kept', async () => {
  const { id, agent } = await started();
  const body = { summary: '# Done', files_changed: ['a.ts'], human_todos: ['Look.'] };
  const answers = await Promise.all([agent.send('POST', '/complete', body), agent.send('POST', '/complete', body)]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 410]);
  assert.deepEqual(answers.find(({ status }) => status === 200)?.json, {
    ...{ ok: true, status: 'completed', token: 'revoked', live: false, version: null },
    note: 'The app goes live by itself as soon as all four go-live checks pass and no setup session is open: as a rule with POST /complete. Going live publishes the drafts of appearance and assistant as version 1, if there are any. "App connected" is not ok: The app has not connected yet. Build it with its test key and start it once, so that the SDK sends its manifest. "Smoke test passed" is not ok: No smoke test was run yet. Run it once the configuration is complete.',
  });
  const { session } = await view(id);
  assert.deepEqual([session.status, session.outcome], ['completed', body]);
  assert.notEqual(session.closed_at, null);
  assert.equal(session.steps.find((step) => step.id === 'done')?.state, 'done');
});

test('STEP-10: POST /fail: the step it names turns red with the reason, else the last one with an event', async () => {
  const named = await started();
  await named.agent.get('PUT', '/appearance', { theme: THEME });
  const answer = await named.agent.get('POST', '/fail', { reason: 'No compiler here.', step: 'install' });
  assert.deepEqual(answer, { ok: true, status: 'failed', token: 'revoked' });
  const unnamed = await started();
  await unnamed.agent.get('POST', '/knowledge', { items: [article('returns')] });
  await unnamed.agent.get('POST', '/fail', { reason: 'Ran out of money.' });
  for (const [id, step, reason] of [
    [named.id, 'install', 'No compiler here.'],
    [unnamed.id, 'knowledge', 'Ran out of money.'],
  ] as const) {
    const { session, events } = await view(id);
    assert.equal(session.status, 'failed');
    assert.deepEqual(stepsIn(session, 'failed'), [step]);
    const { step: at, status, detail, origin } = events.at(-1) ?? {};
    assert.deepEqual({ at, status, detail, origin }, { at: step, status: 'failed', detail: reason, origin: 'server' });
  }
});

const PERSONA = JSON.stringify({ assistantName: 'Late' });

/** A call whose body is half sent; `finish` sends the rest and returns the status. */
async function halfSent(token: string, method: string, path: string, body: string) {
  const call = request(`${setup.service.baseUrl}/setup${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
  });
  await new Promise<void>((resolve) => call.write(body.slice(0, 5), () => resolve()));
  // Answered after what was written before it on this machine: the call has begun.
  await fetch(`${setup.service.baseUrl}/healthz`);
  return async (): Promise<{ status: number; text: string }> => {
    call.end(body.slice(5));
    const [answer] = (await once(call, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of answer) text += chunk;
    return { status: answer.statusCode ?? 0, text };
  };
}

async function tokenOf(code: string): Promise<string> {
  return tokenIn((await fetchFile(setup.service.baseUrl, code)).text);
}

test('SETUP-5: a session that is stopped while a body comes writes nothing', async () => {
  const app = await setup.app();
  const { session, code } = await app.open();
  const token = await tokenOf(code);
  assert.equal((await halfSent(token, 'POST', '/start', JSON.stringify(AGENT)).then((finish) => finish())).status, 200);
  const finish = await halfSent(token, 'PUT', '/experience', PERSONA);
  await setup.operator('POST', `/sessions/${session.id}/stop`);
  const late = await finish();
  assert.equal(late.status, 410, late.text);
  assert.equal((await app.console<{ draft: unknown }>('GET', '/experience')).draft, null);
});

test('SETUP-6: a sync session whose app goes live while a body comes proposes', async () => {
  const app = await setup.app();
  const { code } = await app.open('sync');
  const token = await tokenOf(code);
  assert.equal((await halfSent(token, 'POST', '/start', JSON.stringify(AGENT)).then((finish) => finish())).status, 200);
  const finish = await halfSent(token, 'PUT', '/experience', PERSONA);
  await app.console('POST', '/go-live');
  const late = await finish();
  assert.equal(late.status, 202, late.text);
  assert.equal((await app.console<{ draft: unknown }>('GET', '/experience')).draft, null);
});

test('SETUP-13: a token that a newer file replaces while a body comes claims and writes nothing', async () => {
  const app = await setup.app();
  const { session, code } = await app.open();
  const finish = await halfSent(await tokenOf(code), 'POST', '/start', JSON.stringify({ tool: 'old' }));
  const fetchNewer = async () => {
    const issued = (await setup.operator('POST', `/sessions/${session.id}/code`)).json as { code: string };
    return agentOf(setup.service.baseUrl, issued.code);
  };
  const newer = await fetchNewer();
  assert.equal((await finish()).status, 401);
  await newer.get('POST', '/start', AGENT);
  const finishWrite = await halfSent(newer.token, 'PUT', '/experience', PERSONA);
  await fetchNewer();
  assert.equal((await finishWrite()).status, 401);
  assert.equal((await app.console<{ draft: unknown }>('GET', '/experience')).draft, null);
});

test('SETUP-15: a Host header that is no host does not reach the command', async () => {
  const app = await setup.app();
  const call = request(`${setup.service.baseUrl}/console/api/apps/${app.appId}/sessions`, {
    method: 'POST',
    headers: { host: "x';id;'", authorization: `Bearer ${setup.service.operatorToken}`, 'content-type': 'application/json' },
  });
  call.end('{"kind":"setup"}');
  const [answer] = (await once(call, 'response')) as [IncomingMessage];
  answer.resume();
  assert.equal(answer.statusCode, 400);
});

test('SETUP-9: 100 writes of a session at once are all applied and each leaves its line', async () => {
  const { agent, view } = await setup.started();
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, n) => agent.send('PUT', '/experience', { assistantName: `Name ${n}` })),
  );
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
  const lines = (await view('?limit=1000')).events.filter((line) => line.step === 'experience');
  assert.equal(lines.length, 100);
});
