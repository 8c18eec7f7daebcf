import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { type ActionCall, type ActionOutcome, createActionRunner } from '../../../actors/calls/action-runner.ts';
import { createHttpActionCaller } from '../../../assistant/http-action/call.ts';
import type { HttpActionShape } from '../../../protocol/setup/actions.ts';
import { hostOf } from '../../../storage/apps/http-actions.ts';
import { sealSharedKey } from '../../../storage/apps/shared-keys.ts';
import { definitionOf, WRITE } from '../../assistant/http-action/action-definition.ts';
import { OPEN_GUARD, startSite } from '../../assistant/knowledge/link-site.ts';
import { storeApp } from '../setup/app-in-storage.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');
const TOKEN = 'token-of-the-person';
const KEY = 'key-of-the-endpoint';

/** An app, an endpoint of its own, and a runner; `save` puts an action in service, `enterKey` its host's key. */
async function startFixture(t: TestContext, answer: (req: IncomingMessage, res: ServerResponse) => void) {
  const { storage, organisationId, appId } = await storeApp(t, NOW);
  const site = await startSite(t, answer);
  const caller = createHttpActionCaller({ guard: OPEN_GUARD });
  const runner = createActionRunner({ storage, caller });
  const define = (more: Partial<HttpActionShape> = {}) => definitionOf({ url_template: `${site.url}/orders`, ...more });
  return {
    site,
    storage,
    target: { organisationId, appId },
    define,
    async save(more: Partial<HttpActionShape> = {}) {
      const action = define(more);
      const actionId = `act_${randomBytes(12).toString('hex')}`;
      await storage.write(organisationId, 'upsertAction', { actionId, appId, action, origin: 'console', nowMs: NOW });
      return action;
    },
    async enterKey(host: string, sealed = sealSharedKey(storage.vault, appId, host, KEY)) {
      await storage.write(organisationId, 'setSharedKey', { appId, name: 'find_orders', host, sealed, nowMs: NOW });
    },
    run(definition: ActionCall['definition'], more: Partial<ActionCall> = {}): Promise<ActionOutcome> {
      const call = { organisationId, appId, definition, invocationId: 'inv_1', params: {}, userToken: undefined, receipt: undefined };
      return runner.run({ ...call, ...more });
    },
  };
}

const unused = () => assert.fail('nothing is called');

test('CALL-3, CALL-8: a call carries token, key, receipt and invocation, and the model sees what it asked for', async (t) => {
  const fixture = await startFixture(t, (_req, res) => res.end('{"data":[{"id":1,"x":2},{"id":2}]}'));
  const params = [{ name: 'q' }];
  const action = await fixture.save({
    ...WRITE,
    params,
    url_template: `${fixture.site.url}/orders?q={{param.q}}`,
    result_path: 'data',
    result_fields: ['id'],
    result_limit: 1,
    needs_key: { kind: 'header', name: 'X-Api-Key' },
  });
  await fixture.enterKey(hostOf(action));
  const outcome = await fixture.run(action, { params: { q: 'a b' }, userToken: TOKEN, receipt: 'h.c.s' });
  assert.deepEqual(outcome, { outcome: 'succeeded', result: '{"total":2,"shown":1,"items":[{"id":1}]}' });
  const [request] = fixture.site.requests;
  assert.deepEqual([request?.method, request?.url], ['POST', '/orders?q=a%20b']);
  const { authorization, 'x-api-key': key, 'x-service-confirmation': receipt, 'idempotency-key': invocation } = request?.headers ?? {};
  assert.deepEqual([authorization, key, receipt, invocation], [`Bearer ${TOKEN}`, KEY, 'h.c.s', 'inv_1']);
});

test('CALL-9: token and key that the endpoint sends back are in no outcome', async (t) => {
  const fixture = await startFixture(t, (req, res) => {
    res.writeHead(req.headers['x-fail'] === undefined ? 200 : 401).end(JSON.stringify(req.headers));
  });
  const action = await fixture.save({ auth: 'user', needs_key: { kind: 'header', name: 'X-Api-Key' } });
  await fixture.enterKey(hostOf(action));
  const failing = await fixture.save({ auth: 'user', auth_name: 'header:X-Fail', needs_key: { kind: 'bearer' } });
  for (const definition of [action, failing]) {
    const text = JSON.stringify(await fixture.run(definition, { userToken: TOKEN }));
    assert.match(text, /\[hidden\]/);
    assert.ok(!text.includes(TOKEN) && !text.includes(KEY), text);
  }
});

test('CALL-6: each end of a call has its outcome', async (t) => {
  const fixture = await startFixture(t, (req, res) => {
    if (req.method === 'DELETE') req.socket.destroy();
    else if (req.method === 'PUT') res.writeHead(204).end();
    else if (req.method === 'PATCH') res.writeHead(302, { Location: '/x?secret=1' }).end();
    else if (req.method === 'GET') return;
    else res.writeHead(422).end('{"error":"already cancelled"}');
  });
  const outcomes: Record<string, ActionOutcome> = {
    PUT: { outcome: 'succeeded', result: '{"status":204}' },
    POST: { outcome: 'failed', error: 'The endpoint answered with status 422. It said: {"error":"already cancelled"}' },
    PATCH: {
      outcome: 'unknown',
      error:
        'The endpoint answered with a redirect (status 302); redirects are not followed. Whether the action was carried out is not known.',
    },
    DELETE: {
      outcome: 'unknown',
      error: 'The connection to the endpoint failed. Whether the action was carried out is not known.',
      outage: 'The connection to the endpoint failed. Whether the action was carried out is not known.',
    },
    GET: {
      outcome: 'unknown',
      error: 'The endpoint did not answer completely within 1 seconds. Whether the action was carried out is not known.',
      outage: 'The endpoint did not answer completely within 1 seconds. Whether the action was carried out is not known.',
    },
  };
  for (const [method, expected] of Object.entries(outcomes)) {
    const action = await fixture.save({ ...WRITE, method, timeout_ms: 1_000 });
    assert.deepEqual(await fixture.run(action, { userToken: TOKEN }), expected);
  }
  assert.equal(fixture.site.requests.length, 5);
});

test('CALL-2: without a token, a key or the values of its path a call fails before anything is sent', async (t) => {
  const fixture = await startFixture(t, unused);
  const error = async (definition: ActionCall['definition'], more: Partial<ActionCall> = {}) => {
    const outcome = await fixture.run(definition, more);
    assert.ok(outcome.outcome === 'failed', outcome.outcome);
    return outcome.error;
  };
  assert.match(await error(await fixture.save({ auth: 'user' })), /signed in: the app sent no X-Service-User-Token/);
  const path = await fixture.save({ params: [{ name: 'id' }], url_template: `${fixture.site.url}/{{param.id}}` });
  assert.match(await error(path, { params: { id: '..' } }), /value of id must not be a path/);
  assert.match(await error(await fixture.save({ needs_key: { kind: 'bearer' } })), /find_orders is not available any more/);
});

test('ACTION-11: one that was archived, or moved to another host since, is not called', async (t) => {
  const fixture = await startFixture(t, unused);
  const gone = { outcome: 'failed', error: 'The action find_orders is not available any more.' };
  assert.deepEqual(await fixture.run(fixture.define()), gone, 'never saved');
  const action = await fixture.save();
  await fixture.save({ url_template: 'https://elsewhere.example/orders' });
  assert.deepEqual(await fixture.run(action), gone, 'moved');
  await fixture.save();
  await fixture.storage.write(fixture.target.organisationId, 'archiveAction', {
    appId: fixture.target.appId,
    externalKey: action.external_key,
    reason: undefined,
    nowMs: NOW,
  });
  assert.deepEqual(await fixture.run(action), gone, 'archived');
});

test('ACTION-11: one that changed at its host since the person was asked runs as it was shown to them', async (t) => {
  const fixture = await startFixture(t, (_req, res) => res.end('1'));
  const action = await fixture.save();
  await fixture.save({ url_template: `${fixture.site.url}/other`, name: 'find_all_orders' });
  assert.deepEqual(await fixture.run(action), { outcome: 'succeeded', result: '1' });
  assert.equal(fixture.site.requests[0]?.url, '/orders');
});

test('CALL-2: a key that does not open fails the call, with no word of why', async (t) => {
  const fixture = await startFixture(t, unused);
  const action = await fixture.save({ needs_key: { kind: 'bearer' } });
  await fixture.enterKey(hostOf(action), sealSharedKey(fixture.storage.vault, fixture.target.appId, 'another.example', KEY));
  const outcome = await fixture.run(action);
  assert.deepEqual(outcome, {
    outcome: 'failed',
    error: 'The shared key of the action find_orders cannot be read: a person has to enter it again.',
  });
});
