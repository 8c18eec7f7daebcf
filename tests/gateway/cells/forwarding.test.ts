import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import http from 'node:http';
import { after, type TestContext, test } from 'node:test';
import * as v from 'valibot';
import { CELL_HEADERS, statementHeaders } from '../../../actors/cells/cell-proof.ts';
import type { Name } from '../../../actors/cells/directory.ts';
import { openName } from '../../../actors/cells/directory.ts';
import { requireApp } from '../../../gateway/console/app-read.ts';
import { listCellsRoute } from '../../../gateway/console/cells.ts';
import { defineRoute, json, runtimeRoute } from '../../../gateway/route.ts';
import { setupSession } from '../../../machines/setup-session.ts';
import { stepper } from '../../../machines/step.ts';
import { mintId } from '../../../protocol/ids.ts';
import { readPlacement } from '../../../storage/moving/placements.ts';
import { mintKeyToken } from '../../../storage/organisations/organisations.ts';
import { hashSecret, mintFileCode, mintSetupToken } from '../../../storage/setup/setup-access.ts';
import { eventually } from '../../support/eventually.ts';
import { assertRefused, type Cell, createWorld, OPERATOR_TOKEN, type Placed, START, send, standIn } from './cells-world.ts';

const echoRoute = runtimeRoute('POST', '/v1/echo', {
  limits: [],
  body: v.object({ text: v.string() }),
  bodyMaxBytes: 1024 * 1024,
  handle: ({ body, caller }) => json({ length: body.text.length, org: caller.organisationId }),
});

/** Says where it was served, whatever the path names. */
function consoleRoute(path: string) {
  return defineRoute({
    method: 'GET',
    path,
    caller: 'operator',
    handle: (_, { cells }) => json({ cell: cells?.self.id }),
  });
}

const codeRoute = defineRoute({
  method: 'GET',
  path: '/setup/file',
  caller: 'anyone',
  handle: (_, { cells }) => json({ cell: cells?.self.id }),
});

const tokenRoute = defineRoute({
  method: 'POST',
  path: '/setup/start',
  caller: 'setup_claimant',
  handle: ({ caller }, { cells }) => json({ cell: cells?.self.id, session: caller.sessionId }),
});

const noteRoute = defineRoute({
  method: 'POST',
  path: '/setup/note',
  caller: 'setup',
  body: v.object({ text: v.string() }),
  handle: ({ body, caller }, { cells }) => json({ cell: cells?.self.id, session: caller.ref.sessionId, text: body.text }),
});

const renameRoute = defineRoute({
  method: 'POST',
  path: '/console/api/apps/:app/rename',
  caller: 'operator',
  body: v.object({ name: v.string() }),
  bodyMaxBytes: 1024 * 1024,
  handle: ({ params }, services) => json({ app: requireApp(services, params.app).app.id }),
});

const CONSOLE_PATHS = [
  'orgs/:org',
  'apps/:app',
  'sessions/:session',
  'pairings/:pairing',
  'proposals/:proposal',
  'conversations/:conversation',
];
const routes = [
  echoRoute,
  ...CONSOLE_PATHS.map((path) => consoleRoute(`/console/api/${path}`)),
  { ...consoleRoute('/console/api/orgs/:org/here'), anyCell: true as const },
  codeRoute,
  tokenRoute,
  noteRoute,
  renameRoute,
  listCellsRoute,
];
const OPERATOR = { Authorization: `Bearer ${OPERATOR_TOKEN}` };

// As far as cells ask, a file of tests has what a test has.
const world = createWorld({ after } as unknown as TestContext);
const [a, b, c] = await Promise.all([world.cell('a', routes), world.cell('b', routes), world.cell('c', routes)]);

/** All three, well and known to each other, later than before. */
async function wellAgain(urls: Readonly<Record<string, string>> = {}): Promise<void> {
  world.clock.nowMs += 60_000;
  await world.introduce([a, b, c], urls);
}

const echo = (cell: Cell, { headers }: Pick<Placed, 'headers'>, text = 'hi') => send(cell.base, 'POST', '/v1/echo', headers, { text });
const stranger = () => ({ headers: { 'X-Service-Key': mintKeyToken('live') } });

/** What the cell asked since then, once each. */
function asked(cell: Cell, since = 0): string[] {
  return cell.questions.slice(since).map((question) => question.slice(0, 1));
}

test('CELL-1: a name that nobody knows is asked of each cell once, also by many at once, and not again for 10 s', async () => {
  await wellAgain();
  const since = a.questions.length;
  const unknown = stranger();
  const answers = await Promise.all(Array.from({ length: 8 }, () => echo(a, unknown)));
  for (const told of answers) assertRefused(told, 401, 'invalid_key', /unknown or was revoked/);
  assert.deepEqual(asked(a, since).sort(), ['b', 'c']);
  world.clock.nowMs += 9_999;
  assert.equal((await echo(a, unknown)).status, 401);
  assert.equal(asked(a, since).length, 2);
  world.clock.nowMs += 1;
  assert.equal((await echo(a, unknown)).status, 401);
  assert.equal(asked(a, since).length, 4);
});

test('CELL-19: an address that presented 120 names that nobody knows sets off no further look-up for a minute; known names are served', async () => {
  await wellAgain();
  const app = await world.place(b);
  let refused = 0;
  for (let n = 0; n < 125; n++) refused += (await echo(a, stranger())).status === 429 ? 1 : 0;
  assert.ok(refused >= 4, `${refused} refused`);
  const since = a.questions.length;
  assertRefused(await echo(a, stranger()), 429, 'rate_limited', /wrong credentials/);
  assert.deepEqual(asked(a, since), []);
  // A place that is known here needs no look-up.
  await a.storage.writeControl('placeOrganisation', {
    organisationId: app.organisationId,
    cell: 'b',
    version: 1,
    nowMs: world.clock.nowMs,
  });
  world.clock.nowMs += 61_000;
  assert.equal((await echo(a, app)).status, 200);
});

test('SAFE-5: wrong bearers count before a request goes to another cell: after 60 the right one is refused there, too', async () => {
  await wellAgain();
  const { appId } = await world.place(b);
  const look = (bearer: string) => send(a.base, 'GET', `/console/api/apps/${appId}`, { Authorization: `Bearer ${bearer}` });
  for (let n = 0; n < 60; n++) await look(`wrong-${n}`);
  assert.equal((await look(OPERATOR_TOKEN)).status, 429);
  world.clock.nowMs += 61_000;
  assert.equal((await look(OPERATOR_TOKEN)).status, 200);
});

test('CELL-5: names travel sealed; what cannot be a name is not asked for, nor what an unproven operator names', async () => {
  await wellAgain();
  const unknown = stranger();
  await echo(a, unknown);
  const question = a.questions.at(-1) ?? '';
  assert.ok(!question.includes(unknown.headers['X-Service-Key'].slice(-10)), question);
  const sealed = question.slice(question.lastIndexOf('/') + 1);
  const name: Name | undefined = openName(b.storage.vault, sealed);
  assert.deepEqual(name, { kind: 'key', name: unknown.headers['X-Service-Key'] });
  const since = a.questions.length;
  for (const key of ['', 'rd_pk_live_short', 'x'.repeat(40)])
    await send(a.base, 'POST', '/v1/echo', { 'X-Service-Key': key }, { text: '' });
  await send(a.base, 'GET', '/setup/file?code=none');
  await send(a.base, 'GET', '/console/api/apps/app_short', OPERATOR);
  const app = mintId('app', START);
  for (const headers of [{}, { Authorization: 'Bearer of-somebody-else-entirely' }]) {
    assert.equal((await send(a.base, 'GET', `/console/api/apps/${app}`, headers)).status, 401);
  }
  assert.equal(a.questions.length, since);
});

test('CELL-1: a request finds its cell by whatever it names, and by the second time nobody is asked', async () => {
  await wellAgain();
  const app = await world.place(b);
  const { organisationId, appId } = app;
  const [sessionId, pairingId, proposalId] = [mintId('ses', START), mintId('pai', START), mintId('pro', START)];
  const [code, token] = [mintFileCode(), mintSetupToken()];
  const nowMs = world.clock.nowMs;
  const issued = { sessionId, organisationId, appId, codeHash: hashSecret(code), nowMs };
  await b.storage.writeControl('issueFileCode', issued);
  await b.storage.writeControl('redeemFileCode', { codeHash: hashSecret(code), tokenHash: hashSecret(token), nowMs });
  await b.storage.writeControl('registerPairing', { id: pairingId, organisationId, nowMs });
  await b.storage.writeControl('registerProposal', { id: proposalId, organisationId, nowMs });
  const paths = [`orgs/${organisationId}`, `apps/${appId}`, `sessions/${sessionId}`, `pairings/${pairingId}`, `proposals/${proposalId}`];
  const unknownConversation = `conversations/${mintId('cnv', START)}`;
  const requests = [
    ...[...paths, `${unknownConversation}?app=${appId}`].map((path) => ['GET', `/console/api/${path}`, OPERATOR] as const),
    ['GET', `/setup/file?code=${code}`, {}] as const,
    ['POST', '/setup/start', { Authorization: `Bearer ${token}` }] as const,
  ];
  for (const [method, path, headers] of requests) assert.equal((await send(a.base, method, path, headers)).json.cell, 'b', path);
  const earlier = { 'X-RD-Key': app.key.replace('rd_pk_', 'rdui_pk_') };
  assert.equal((await echo(a, { headers: earlier })).json.org, organisationId);
  const since = a.questions.length;
  for (const [method, path, headers] of requests) assert.equal((await send(a.base, method, path, headers)).json.cell, 'b', path);
  assert.equal((await echo(a, app)).status, 200);
  assert.equal(a.questions.length, since);
  // What is answered by any cell, and what names nothing that any cell knows.
  assert.equal((await send(a.base, 'GET', `/console/api/orgs/${organisationId}/here`, OPERATOR)).json.cell, 'a');
  assert.equal((await send(a.base, 'GET', `/console/api/${unknownConversation}`, OPERATOR)).json.cell, 'a');
});

test('CELL-1: an agent’s request with a body is served by the cell that has its session', async () => {
  await wellAgain();
  const { organisationId, appId } = await world.place(b);
  const [code, token, sessionId] = [mintFileCode(), mintSetupToken(), mintId('ses', START)];
  const { nowMs } = world.clock;
  const expiresAtMs = nowMs + 3_600_000;
  await b.storage.writeControl('issueFileCode', { sessionId, organisationId, appId, codeHash: hashSecret(code), nowMs });
  await b.storage.writeControl('redeemFileCode', { codeHash: hashSecret(code), tokenHash: hashSecret(token), nowMs });
  const { context } = stepper(setupSession, { input: { kind: 'sync', expiresAtMs } }).snapshot;
  const session = { id: sessionId, appId, kind: 'sync', state: 'running', panel: '{}', openedAtMs: nowMs, expiresAtMs } as const;
  await b.storage.write(organisationId, 'openSetupSession', { ...session, snapshot: JSON.stringify(context) });
  for (const { base } of [b, a]) {
    const { status, json: told } = await send(base, 'POST', '/setup/note', { Authorization: `Bearer ${token}` }, { text: 'hi' });
    assert.deepEqual([status, told], [200, { cell: 'b', session: sessionId, text: 'hi' }]);
  }
});

test('CELL-1: a body that came while cells were asked is read here when none of them knows the name', async () => {
  await wellAgain();
  const rename = (body: Buffer | string, headers: Record<string, string> = { 'Content-Type': 'application/json' }) =>
    send(a.base, 'POST', `/console/api/apps/${mintId('app', world.clock.nowMs)}/rename`, { ...OPERATOR, ...headers }, body);
  assertRefused(await rename('{"name":"x"}'), 404, 'not_found', /no app/);
  assertRefused(await rename(JSON.stringify({ name: 'x'.repeat(900_000) })), 404, 'not_found', /no app/);
  assertRefused(await rename('{"name":1}'), 400, 'invalid_body', /name/);
  assertRefused(await rename(''), 400, 'invalid_json', /JSON body/);
  assertRefused(await rename(JSON.stringify({ name: 'x'.repeat(1_100_000) })), 413, 'too_large', /1048576/);
});

test('CELL-4: while a cell is silent an unknown name is 503; one that was taken away a day ago is not waited for', async (t) => {
  const mute = await standIn(t, () => {});
  await wellAgain({ c: mute });
  assertRefused(await echo(a, stranger()), 503, 'internal', /cell c cannot be reached/);
  // A name that another cell knows does not wait for it.
  const app = await world.place(b);
  assert.equal((await echo(a, app)).status, 200);
  world.clock.nowMs += 25 * 3_600_000;
  await world.introduce([a, b], { c: mute });
  const old = { cell: 'c', url: 'http://127.0.0.1:1', seenAtMs: world.clock.nowMs + 1, term: 1 };
  await a.storage.writeControl('seeCells', { cells: [old] });
  world.clock.nowMs += 25 * 3_600_000;
  assert.equal((await echo(a, stranger())).status, 401);
});

test('CELL-15: an organisation that moved on is found where it went, with the body that was sent', async () => {
  await wellAgain();
  const app = await world.place(b);
  const { organisationId } = app;
  assert.equal((await echo(a, app)).status, 200);
  // As a move leaves it: the file and the rows at c, a signpost at b. Only a has not heard of it.
  const moved = { organisationId, cell: 'c', version: 1, nowMs: world.clock.nowMs };
  for (const { storage } of [b, c]) await storage.writeControl('placeOrganisation', moved);
  const autoTopUp = { enabled: false, amount_usd: 10 };
  const { nowMs } = world.clock;
  await c.storage.writeControl('createOrganisation', { id: organisationId, name: 'Acme', plan: 'free', members: [], autoTopUp, nowMs });
  const refused = async () => /code="internal"\} (\d+)/.exec(await (await fetch(`${b.base}/metrics`)).text())?.[1];
  const [since, before] = [a.questions.length, await refused()];
  assert.notEqual(before, undefined);
  // Its key was not brought along, so c itself says so.
  assertRefused(await echo(a, app, 'x'.repeat(30_000)), 401, 'invalid_key', /unknown/);
  assert.deepEqual(readPlacement(a.storage.control, organisationId)?.cell, 'c');
  assert.equal(a.questions.length, since, 'b told where it went');
  assert.equal(await refused(), before, 'which is no refusal that anybody got');
  assertRefused(await echo(b, app), 401, 'invalid_key', /unknown/);
});

test('CELL-1: a wrong note is forgotten and asked again, once; a body that was dropped meanwhile is to be sent again', async () => {
  await wellAgain();
  const app = await world.place(b);
  assert.equal((await echo(a, app)).status, 200);
  const { organisationId } = app;
  // Somebody told a that it is on c.
  const wrong = { organisationId, cell: 'c', version: 7, nowMs: world.clock.nowMs };
  await a.storage.writeControl('placeOrganisation', wrong);
  const since = a.questions.length;
  assert.equal((await echo(a, app)).status, 200);
  assert.deepEqual(asked(a, since).sort(), ['b', 'c']);
  assertRefused(await echo(a, app, 'x'.repeat(700_000)), 503, 'internal', /Send the request again/);
});

test('CELL-5: only a cell speaks for a cell: a forged bearer is 401, and so is a forged relay', async () => {
  await wellAgain();
  const forged = randomBytes(32).toString('base64url');
  const question = { method: 'GET', target: '/cell/v1/about', from: 'b', to: 'a' };
  const ofItself = { organisationId: '', clientAddress: '', clientHost: '', vouchedFor: '' };
  const proof = statementHeaders({ ...question, ...ofItself }, b.cells.client.proofs);
  for (const token of [forged, proof[CELL_HEADERS.token]?.slice(0, -1) ?? '', ''])
    assert.equal((await send(a.base, 'GET', '/cell/v1/about', { ...proof, [CELL_HEADERS.token]: token })).status, 401);
  // Seen on the way it is of no use: not on another path, not at another cell, not twice.
  assertRefused(await send(a.base, 'GET', '/cell/v1/about?x=1', proof), 401, 'invalid_token', /no cell of this installation/);
  assertRefused(await send(c.base, 'GET', '/cell/v1/about', proof), 508, 'internal', /check CELL_URL/);
  assert.equal((await send(a.base, 'GET', '/cell/v1/about', proof)).status, 200);
  assertRefused(await send(a.base, 'GET', '/cell/v1/about', proof), 401, 'invalid_token', /came before/);
  const app = await world.place(a);
  const relay = { 'X-Service-Cell-Token': forged, 'X-Service-Cell-Relay': 'b a', 'X-Service-Cell-Organisation': app.organisationId };
  assertRefused(await echo(a, { headers: { ...app.headers, ...relay } }), 401, 'invalid_token', /no cell of this installation/);
  const about = await a.cells.client.call('b', 'GET', '/cell/v1/about', undefined, { timeoutMs: 60_000 });
  assert.deepEqual(about, { status: 200, json: { cell: 'b' } });
  const nonsense = await a.cells.client.call('b', 'GET', '/cell/v1/names/AAAA', undefined, { timeoutMs: 60_000 });
  assert.equal(nonsense.status, 400);
});

test('CELL-5: the operator’s token stays at the cell that checked it: what is passed on says so, signed', async (t) => {
  await wellAgain();
  const { appId, organisationId } = await world.place(b);
  let passed: http.IncomingHttpHeaders = {};
  const at = await standIn(
    t,
    (request, answer) => {
      passed = request.headers;
      answer.end('{}');
    },
    world.masterKey,
  );
  const look = () => send(a.base, 'GET', `/console/api/apps/${appId}`, { ...OPERATOR, Cookie: 'console_session=x' });
  assert.deepEqual((await look()).json, { cell: 'b' });
  await wellAgain({ b: at });
  assert.equal((await look()).status, 200);
  assert.ok(!JSON.stringify(passed).includes(OPERATOR_TOKEN));
  assert.deepEqual([passed.authorization, passed.cookie], [undefined, undefined]);
  // Who only says that it was checked is nobody.
  const forged = { ...passed, [CELL_HEADERS.token]: 'x', host: 'x' } as unknown as Record<string, string>;
  assert.equal((await send(b.base, 'GET', `/console/api/apps/${appId}`, forged)).status, 401);
  assert.equal((await send(b.base, 'GET', `/console/api/apps/${appId}`, { [CELL_HEADERS.vouchedFor]: 'operator' })).status, 401);
  assert.equal(passed[CELL_HEADERS.organisation], organisationId);
});

test('CELL-5: a cell whose address leads to another one is said so, and nothing goes round in a circle', async () => {
  await wellAgain();
  const app = await world.place(b);
  assert.equal((await echo(a, app)).status, 200);
  for (const to of [a, c]) {
    await wellAgain({ b: to.base });
    assertRefused(await echo(a, app), 508, 'internal', new RegExp(`to cell b, and it came to cell ${to.id}: check CELL_URL`));
  }
});

test('CELL-4: the console lists the cells, and says why one does not answer', async () => {
  await wellAgain({ b: a.base, c: 'http://127.0.0.1:1' });
  const told = await send(a.base, 'GET', '/console/api/cells', OPERATOR);
  const shown = (told.json.cells as { cell: string; is_this: boolean; reachable: boolean; fault: string | null }[]).map(
    ({ cell, is_this, reachable, fault }) => [cell, is_this, reachable, fault === null ? null : fault.slice(0, 6)],
  );
  assert.deepEqual(shown, [
    ['a', true, true, null],
    ['b', false, false, 'Cell a'],
    ['c', false, false, 'cell c'],
  ]);
});

test('CELL-3: a client that leaves while cells are asked is let go', async (t) => {
  let questions = 0;
  const mute = await standIn(t, () => {
    questions += 1;
  });
  await wellAgain({ b: mute, c: mute });
  const request = http.request(`${a.base}/v1/echo`, { method: 'POST', headers: stranger().headers, agent: false });
  request.on('error', () => {});
  request.write('{');
  await eventually(() => questions === 2);
  request.destroy();
  // The cell goes on.
  await wellAgain();
  const app = await world.place(b);
  assert.equal((await echo(a, app)).status, 200);
  assert.deepEqual(
    [a, b, c].flatMap(({ lines }) => lines.filter(({ level }) => Number(level) >= 50)),
    [],
    'nothing of all this was a bug',
  );
});
