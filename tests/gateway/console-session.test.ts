import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ownCounts } from '../../actors/cluster/bus/shared-counts.ts';
import { authenticateOperator, logIn, openConsole, readSession, sessionCookie } from '../../gateway/console/operator-session.ts';
import type { Services } from '../../gateway/services.ts';
import { Refusal } from '../../protocol/errors.ts';
import { prepareDataDir } from '../../storage/data-layout.ts';
import { digestOfToken, operatorKey, operatorPass } from '../../storage/secrets/operator-token.ts';
import { openVault } from '../../storage/secrets/vault.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const TOKEN = 'operator-token-of-this-test';

/** What the console session needs of the services: configuration, the data directory and a clock that the test turns. */
function service(t: TestContext, operatorToken: string | undefined = TOKEN, publicUrl?: string) {
  const clock = { nowMs: Date.parse('2026-11-21T10:00:00.000Z') };
  const layout = prepareDataDir(temporaryDir(t));
  // Nobody has signed out.
  const control = { tuples: () => ({ get: () => undefined }) };
  const services = {
    config: { operatorToken, publicUrl },
    storage: { layout, control, vault: openVault(layout.masterKey, undefined) },
    counts: ownCounts,
    nowMs: () => clock.nowMs,
  } as unknown as Services;
  return { services, clock, layout };
}

function headers(values: Record<string, string>): (name: string) => string {
  return (name) => values[name] ?? '';
}

function cookieHeader(setCookie: string): string {
  return setCookie.slice(0, setCookie.indexOf(';'));
}

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof Refusal);
    return error.code;
  }
  return 'passed';
}

test('CONSOLE-1: the operator token passes as a bearer for reads and writes, nothing else does', (t) => {
  const { services } = service(t);
  const knock = (authorization: string) => codeOf(() => authenticateOperator(headers({ authorization }), 'POST', services));
  assert.equal(knock(`Bearer ${TOKEN}`), 'passed');
  assert.equal(knock(`bearer ${TOKEN}`), 'passed');
  for (const wrong of [`Bearer ${TOKEN}x`, 'Bearer', `Basic ${TOKEN}`, TOKEN, `Bearer ${TOKEN} ${TOKEN}`])
    assert.equal(knock(wrong), 'invalid_token', wrong);
  assert.equal(
    codeOf(() => authenticateOperator(headers({}), 'GET', services)),
    'missing_token',
  );
});

/** The same data directory at another start. */
function startAgain(services: Services, operatorToken?: string): Services {
  return { ...services, config: { ...services.config, operatorToken } } as Services;
}

function knockWith(services: Services, token: string): string {
  return codeOf(() => authenticateOperator(headers({ authorization: `Bearer ${token}` }), 'POST', services));
}

test('CONSOLE-1: without OPERATOR_TOKEN one is minted and told once; the data directory keeps its digest, for its owner only', (t) => {
  const { services, layout } = service(t);
  const token = openConsole(startAgain(services)) ?? '';
  assert.match(token, /^rd_op_[0-9a-f]{48}$/);
  assert.equal(statSync(layout.operatorToken).mode & 0o777, 0o600);
  assert.equal(readFileSync(layout.operatorToken, 'utf8'), `${digestOfToken(token)}\n`);
  const next = startAgain(services);
  assert.equal(openConsole(next), undefined, 'the next start has nothing to tell');
  assert.equal(knockWith(next, token), 'passed');
  for (const wrong of [digestOfToken(token), `${token}x`]) assert.equal(knockWith(next, wrong), 'invalid_token');
});

test('CONSOLE-1: a token that lies in clear goes on to be valid, and its digest takes its place, also where OPERATOR_TOKEN is set', (t) => {
  for (const given of [undefined, TOKEN]) {
    const { services, layout } = service(t);
    writeFileSync(layout.operatorToken, 'rd_op_in_clear_before\n', { mode: 0o600 });
    assert.equal(openConsole(startAgain(services, given)), undefined);
    assert.equal(knockWith(startAgain(services, given), given ?? 'rd_op_in_clear_before'), 'passed');
    for (const name of readdirSync(layout.dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()))
      assert.ok(!readFileSync(join(name.parentPath, name.name)).includes('in_clear'), name.name);
  }
});

test('CONSOLE-3, RUN-27: the digest opens nothing without the master key; with it a pass does, for a minute', (t) => {
  const { services, layout, clock } = service(t);
  const digest = digestOfToken(TOKEN);
  const passOf = (vault: ReturnType<typeof openVault>) => operatorPass(operatorKey(vault, digest), clock.nowMs);
  const pass = passOf(openVault(layout.masterKey, undefined));
  assert.equal(knockWith(services, pass), 'passed');
  for (const wrong of [passOf(openVault('', Buffer.alloc(32).toString('base64'))), `${pass}0`, pass.replace(/_(\d+)_/, '_9999999999999_')])
    assert.equal(knockWith(services, wrong), 'invalid_token');
  clock.nowMs += 60_000;
  assert.equal(knockWith(services, pass), 'invalid_token');
});

test('CONSOLE-2: the cookie reads alone and writes only with its CSRF token', (t) => {
  const { services } = service(t);
  const session = logIn(TOKEN, '10.0.0.1', services);
  const other = logIn(TOKEN, '10.0.0.1', services);
  const cookie = cookieHeader(sessionCookie(session, services));
  const knock = (method: string, csrf: string) =>
    codeOf(() => authenticateOperator(headers({ cookie: `theme=dark; ${cookie}`, 'x-csrf-token': csrf }), method, services));
  assert.equal(knock('GET', ''), 'passed');
  assert.equal(knock('POST', ''), 'invalid_csrf');
  assert.equal(knock('DELETE', other.csrfToken), 'invalid_csrf');
  assert.equal(knock('PATCH', session.csrfToken), 'passed');
  assert.equal(readSession(headers({ cookie }), services)?.csrfToken, session.csrfToken);
});

test('CONSOLE-2: the cookie is HttpOnly and SameSite=Strict, Secure behind https, and is taken away by logout', (t) => {
  const { services } = service(t);
  const session = logIn(TOKEN, '10.0.0.1', services);
  assert.match(sessionCookie(session, services), /; Path=\/console; .*HttpOnly; SameSite=Strict$/);
  assert.match(sessionCookie(null, services), /^console_session=; .*Max-Age=0/);
  const secure = service(t, TOKEN, 'https://assistant.example').services;
  assert.match(sessionCookie(session, secure), /^__Host-console_session=[^;]+; Path=\/; [^,]*; Secure$/);
});

test('CONSOLE-2: a cookie of the same name that another host or path set signs nobody out', (t) => {
  const { services } = service(t);
  const session = logIn(TOKEN, '10.0.0.1', services);
  const tossed = [...Array<string>(40).fill('console_session=x'), `console_session=${session.value}x`].join('; ');
  const read = (cookie: string, at: Services = services) => readSession(headers({ cookie }), at)?.csrfToken;
  assert.equal(read(`${tossed}; console_session=${session.value}`), session.csrfToken);
  const secure = service(t, TOKEN, 'https://assistant.example').services;
  const theirs = logIn(TOKEN, '10.0.0.1', secure);
  assert.equal(read(`console_session=${theirs.value}`, secure), undefined, 'under https only a cookie that no other host can set');
  assert.equal(read(`console_session=x; __Host-console_session=${theirs.value}`, secure), theirs.csrfToken);
});

test('CONSOLE-3: a session that was tampered with, ran out or was signed under another token is over', (t) => {
  const { services, clock } = service(t);
  const session = logIn(TOKEN, '10.0.0.1', services);
  const knock = (value: string, at: Services = services) =>
    codeOf(() => authenticateOperator(headers({ cookie: `console_session=${value}` }), 'GET', at));
  const [expiry, ...rest] = session.value.split('.');
  assert.equal(knock([String(Number(expiry) + 1), ...rest].join('.')), 'invalid_token');
  assert.equal(knock('x'), 'invalid_token');
  assert.equal(knock('.'), 'invalid_token');
  assert.equal(knock(session.value, service(t, 'another-operator-token-here').services), 'invalid_token');
  clock.nowMs = session.expiresAtMs - 1;
  assert.equal(knock(session.value), 'passed');
  clock.nowMs = session.expiresAtMs;
  assert.equal(knock(session.value), 'invalid_token');
});

test('CONSOLE-4: five failures within a minute lock the address for a minute, and no other', (t) => {
  const { services, clock } = service(t);
  const attempt = (token: string, address: string) => codeOf(() => logIn(token, address, services));
  for (let i = 0; i < 5; i++) assert.equal(attempt('wrong', '10.0.0.1'), 'invalid_token');
  assert.equal(attempt(TOKEN, '10.0.0.1'), 'rate_limited', 'also the right token has to wait');
  assert.equal(attempt(TOKEN, '10.0.0.2'), 'passed');
  try {
    logIn(TOKEN, '10.0.0.1', services);
    assert.fail('it was locked');
  } catch (error) {
    assert.ok(error instanceof Refusal);
    assert.deepEqual([error.status, error.retryAfterS], [429, 60]);
  }
  clock.nowMs += 60_000;
  assert.equal(attempt(TOKEN, '10.0.0.1'), 'passed');
});

test('CONSOLE-4: failures that are spread over more than a minute, or followed by a success, do not lock', (t) => {
  const { services, clock } = service(t);
  const attempt = (token: string) => codeOf(() => logIn(token, '10.0.0.1', services));
  for (let i = 0; i < 12; i++) {
    assert.equal(attempt('wrong'), 'invalid_token');
    clock.nowMs += 20_000;
  }
  for (let i = 0; i < 4; i++) attempt('wrong');
  assert.equal(attempt(TOKEN), 'passed');
  for (let i = 0; i < 4; i++) attempt('wrong');
  assert.equal(attempt(TOKEN), 'passed');
});
