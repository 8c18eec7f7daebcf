/** Wrong bearers are throttled by the client's address and interface; a session of the console that was signed out of is over. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import { type Dispatcher, request } from 'undici';
import { consoleRoutes } from '../../gateway/console/routes.ts';
import type { Services } from '../../gateway/services.ts';
import { prepareDataDir } from '../../storage/data-layout.ts';
import { Conditions } from '../../storage/health/conditions.ts';
import { openVault } from '../../storage/secrets/vault.ts';
import { startService } from '../support/service.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { FILE } from '../support/whole-file.ts';
import { serve } from './test-server.ts';

const service = await startService(FILE, { env: { DEMO: 'off', LOG_LEVEL: 'silent', TRUST_PROXY: '127.0.0.1' } });

async function ask(path: string, headers: Record<string, string>, method: Dispatcher.HttpMethod = 'GET', body = '') {
  const answer = await request(service.baseUrl + path, { method, headers, ...(body === '' ? {} : { body }) });
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
}

/** The statuses of so many requests at once, each counted. */
async function statuses(n: number, knock: () => Promise<{ status: number }>): Promise<Record<number, number>> {
  const counted: Record<number, number> = {};
  for (const { status } of await Promise.all(Array.from({ length: n }, knock))) counted[status] = (counted[status] ?? 0) + 1;
  return counted;
}

test('SAFE-5: after 60 wrong bearers of the console in a minute none from that address is compared any more, right or wrong', async () => {
  const knock = (token: string, address: string) =>
    ask('/console/api/orgs', { Authorization: `Bearer ${token}`, 'X-Forwarded-For': address });
  const wrong = 'x'.repeat(24);
  assert.deepEqual(await statuses(60, () => knock(wrong, '203.0.113.7')), { 401: 60 });
  assert.ok(((await statuses(20, () => knock(wrong, '203.0.113.7')))[429] ?? 0) >= 10);
  // A bucket leaks one a second, and whoever guesses fills it again at once: so these come together.
  const both = await Promise.all([wrong, wrong, wrong, service.operatorToken].map((token) => knock(token, '203.0.113.7')));
  assert.equal(both[3]?.status, 429, 'the answer must not tell the right one from a wrong one');
  assert.ok(Number(both[3]?.headers['retry-after']) >= 1);
  assert.equal((await knock(wrong, '203.0.113.8')).status, 401, 'another address');
  assert.equal((await knock(service.operatorToken, '203.0.113.8')).status, 200);
  const setup = await ask('/setup/context', { Authorization: `Bearer rd_st_${'0'.repeat(24)}`, 'X-Forwarded-For': '203.0.113.7' });
  assert.equal(setup.status, 401, 'each interface counts by itself');
});

test('SAFE-5: wrong tokens of the setup interface are 429 after 120 in a minute', async () => {
  const knock = () => ask('/setup/context', { Authorization: `Bearer rd_st_${'0'.repeat(24)}` });
  assert.deepEqual(await statuses(120, knock), { 401: 120 });
  assert.ok(((await statuses(20, knock))[429] ?? 0) >= 10);
});

test('SAFE-5: /readyz counts wrong bearers, too, and names nobody to whoever sent too many', async (t) => {
  const log = pino({ level: 'silent' });
  const conditions = new Conditions(log, () => Date.now());
  conditions.open('organisation_unavailable', 'its file is gone', 'org_1');
  const layout = prepareDataDir(temporaryDir(t));
  const vault = openVault(layout.masterKey, undefined);
  const storage = { conditions, layout, vault } as unknown as Services['storage'];
  const config = { operatorToken: 'operator-token-of-this-test', trustProxy: undefined } as unknown as Services['config'];
  const { base } = await serve(t, [], { storage, config, nowMs: () => 1_000 });
  const look = async (token: string) => {
    const answer = await request(`${base}/readyz`, { headers: { Authorization: `Bearer ${token}` } });
    assert.equal(answer.statusCode, 200, 'a checker with another credential takes no node out');
    return (await answer.body.text()).includes('org_1');
  };
  assert.equal(await look('operator-token-of-this-test'), true);
  for (let n = 0; n < 60; n++) assert.equal(await look('wrong'), false);
  assert.equal(await look('operator-token-of-this-test'), false);
});

test('CONSOLE-1: each call of the console’s interface but the sign-in is the operator’s alone', async () => {
  const open = ['/console/api/login', '/console/api/*'];
  const calls = consoleRoutes.filter(({ path }) => path.startsWith('/console/api/') && !open.includes(path));
  assert.ok(calls.length > 60);
  for (const [at, { method, path }] of calls.entries()) {
    const url = path.replaceAll(/:\w+/g, 'none_0');
    for (const [bearer, code] of [
      [{}, 'missing_token'],
      [{ Authorization: 'Bearer not-the-token-of-these-tests' }, 'invalid_token'],
    ] as const) {
      const answer = await ask(url, { ...bearer, 'X-Forwarded-For': `198.51.100.${at}` }, method);
      assert.deepEqual(
        [answer.status, (JSON.parse(answer.text) as { error: { code: string } }).error.code],
        [401, code],
        `${method} ${path}`,
      );
    }
  }
});

test('CONSOLE-3: signing out ends the session on the server, for whoever kept the cookie', async () => {
  const signedIn = async () => {
    const body = JSON.stringify({ token: service.operatorToken });
    const answer = await ask('/console/api/login', { 'Content-Type': 'application/json' }, 'POST', body);
    const cookie = String(answer.headers['set-cookie']).split(';')[0] ?? '';
    return { Cookie: cookie, 'X-CSRF-Token': (JSON.parse(answer.text) as { csrf_token: string }).csrf_token };
  };
  const [one, other] = [await signedIn(), await signedIn()];
  assert.equal((await ask('/console/api/orgs', one)).status, 200);
  assert.equal((await ask('/console/api/logout', one, 'POST')).status, 200);
  assert.equal((await ask('/console/api/orgs', one)).status, 401);
  assert.equal((await ask('/console/api/orgs', other)).status, 200, 'another session goes on');
  const over = await statuses(80, () => ask('/console/api/orgs', one));
  assert.deepEqual(over, { 401: 80 }, 'a page that polls with a session that is over guesses nothing');
});
