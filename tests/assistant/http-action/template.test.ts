import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type RenderedRequest, renderRequest } from '../../../assistant/http-action/request.ts';
import { PARAM_MARKER } from '../../../protocol/setup/addresses.ts';
import { climbs, type FuzzedAction, fuzzedAction, hasNoPath, meaning, meantBody, meantQuery } from './fuzzed-actions.ts';

const TOKEN = 'user-token';
const KEY = 'shared-key';
const CREDENTIALS = { invocationId: 'inv_1', userToken: TOKEN, sharedKey: KEY, receipt: 'a.b.c' };

const render = ({ definition, params }: FuzzedAction): RenderedRequest => renderRequest(definition, params, CREDENTIALS);

const credentialNames = ({ definition }: FuzzedAction) =>
  [definition.auth_name === 'query:t_' ? ['t_', TOKEN] : [], definition.needs_key?.kind === 'query' ? ['k_', KEY] : []].filter(
    (one) => one.length > 0,
  );

function meantHeaders({ definition: { auth_name: place, needs_key: key, body_template: body } }: FuzzedAction): Record<string, string> {
  return {
    accept: 'application/json',
    'accept-encoding': 'gzip, deflate, br',
    'user-agent': 'assistant-service',
    'idempotency-key': 'inv_1',
    'x-service-confirmation': 'a.b.c',
    ...(place === undefined ? { authorization: `Bearer ${TOKEN}` } : {}),
    ...(place === 'header:X-Token' ? { 'x-token': TOKEN } : {}),
    ...(place === 'cookie:sid' ? { cookie: `sid=${TOKEN}` } : {}),
    ...(key?.kind === 'bearer' ? { authorization: `Bearer ${KEY}` } : {}),
    ...(key?.kind === 'header' ? { 'x-key': KEY } : {}),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
}

test('CALL-1: in 10,000 templates no value leaves its place in address, headers or body', () => {
  const seen = { sent: 0, refused: 0, path: 0, query: 0, body: 0 };
  fc.assert(
    fc.property(fuzzedAction('https://api.shop.example:8443'), (action) => {
      const rendered = render(action);
      const clash = meantQuery(action).some(([name]) => credentialNames(action).some(([credential]) => credential === name));
      assert.equal(rendered.ok, !hasNoPath(action) && !clash);
      if (!rendered.ok) {
        seen.refused++;
        return;
      }
      seen.sent++;
      const { url, headers, body, method } = rendered.request;
      assert.equal(url.href, new URL(url.href).href);
      assert.deepEqual([url.origin, url.username, url.password, url.hash], ['https://api.shop.example:8443', '', '', '']);
      // What a template's own `..` comes to, parsers do not agree on.
      if (!climbs(action)) {
        const neutral = new URL(action.definition.url_template.replaceAll(new RegExp(PARAM_MARKER, 'g'), 'x'));
        assert.equal(url.pathname.split('/').length, neutral.pathname.split('/').length);
        const segments = url.pathname.split('/').slice(1).map(decodeURIComponent);
        const meant = action.plan.path.map((parts) => meaning(parts, action.params));
        assert.deepEqual(segments, meant.length === 0 ? [''] : meant);
        seen.path++;
      }
      assert.deepEqual([...url.searchParams], [...meantQuery(action), ...credentialNames(action)]);
      if (url.search !== '') seen.query++;
      assert.equal(method, action.definition.method);
      assert.deepEqual(headers, meantHeaders(action));
      assert.deepEqual(body === undefined ? null : JSON.parse(body), meantBody(action));
      if (body !== undefined) seen.body++;
    }),
    { numRuns: 10_000 },
  );
  for (const [what, count] of Object.entries(seen)) assert.ok(count > 1_000, `${what}: ${count}`);
});
