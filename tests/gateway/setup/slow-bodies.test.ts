/** A call is judged by what its token may do when its body has come, not when it began. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { test } from 'node:test';
import { AGENT, agentOf, fetchFile, tokenIn } from '../../support/setup-agent.ts';
import { startSetup } from './setup-app.ts';

const setup = await startSetup();

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

test('SETUP-13: a token that a newer file replaces while a body comes claims nothing', async () => {
  const app = await setup.app();
  const { session, code } = await app.open();
  const finish = await halfSent(await tokenOf(code), 'POST', '/start', JSON.stringify({ tool: 'old' }));
  const issued = (await setup.operator('POST', `/sessions/${session.id}/code`)).json as { code: string };
  const newer = await agentOf(setup.service.baseUrl, issued.code);
  assert.equal((await finish()).status, 401);
  await newer.get('POST', '/start', AGENT);
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
