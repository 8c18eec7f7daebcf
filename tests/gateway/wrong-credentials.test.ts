/** Wrong bearers are throttled by the client's address and hold up no right one; a session of the console that was signed out of is over. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { request } from 'undici';
import { type RunningService, startService } from '../support/service.ts';

const start = (t: TestContext): Promise<RunningService> =>
  startService(t, { env: { DEMO: 'off', LOG_LEVEL: 'silent', TRUST_PROXY: '127.0.0.1' } });

async function ask({ baseUrl }: RunningService, path: string, headers: Record<string, string>, method: 'GET' | 'POST' = 'GET', body = '') {
  const answer = await request(baseUrl + path, { method, headers, ...(body === '' ? {} : { body }) });
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
}

for (const path of ['/console/api/orgs', '/setup/context']) {
  test(`decisions §2: wrong bearers of ${path} are 429 after 20 in a minute, for their address; the right one passes all the while`, async (t) => {
    const service = await start(t);
    const knock = (token: string, address: string) => ask(service, path, { Authorization: `Bearer ${token}`, 'X-Forwarded-For': address });
    const wrong = path.startsWith('/setup') ? `rd_st_${'0'.repeat(24)}` : 'x'.repeat(24);
    const first = await knock(wrong, '203.0.113.7');
    assert.equal(first.status, 401);
    const answers = await Promise.all(Array.from({ length: 40 }, () => knock(wrong, '203.0.113.7')));
    const held = answers.filter(({ status }) => status === 429);
    assert.ok(held.length >= 15, `${held.length}`);
    assert.ok(Number(held[0]?.headers['retry-after']) >= 1);
    assert.equal((await knock(wrong, '203.0.113.8')).status, 401, 'another address');
    if (path.startsWith('/console')) assert.equal((await knock(service.operatorToken, '203.0.113.7')).status, 200);
  });
}

test('decisions §2: signing out ends the session on the server, for whoever kept the cookie', async (t) => {
  const service = await start(t);
  const signedIn = async () => {
    const body = JSON.stringify({ token: service.operatorToken });
    const answer = await ask(service, '/console/api/login', { 'Content-Type': 'application/json' }, 'POST', body);
    const cookie = String(answer.headers['set-cookie']).split(';')[0] ?? '';
    return { Cookie: cookie, 'X-CSRF-Token': (JSON.parse(answer.text) as { csrf_token: string }).csrf_token };
  };
  const [one, other] = [await signedIn(), await signedIn()];
  assert.equal((await ask(service, '/console/api/orgs', one)).status, 200);
  assert.equal((await ask(service, '/console/api/logout', one, 'POST')).status, 200);
  assert.equal((await ask(service, '/console/api/orgs', one)).status, 401);
  assert.equal((await ask(service, '/console/api/orgs', other)).status, 200, 'another session goes on');
});
