import assert from 'node:assert/strict';
import { test } from 'node:test';
import { telemetryRoute } from '../../../gateway/runtime/routes.ts';
import { RUNTIME_BODY_MAX_BYTES } from '../../../protocol/limits.ts';
import { FILE } from '../../support/whole-file.ts';
import { serveApp } from './runtime-app.ts';

const app = await serveApp(FILE, [telemetryRoute]);

function post(body: string | null, headers: Record<string, string> = {}): Promise<Response> {
  const all = { 'X-Service-Key': app.test, 'X-Service-Device': 'e'.repeat(32), 'Content-Type': 'application/json', ...headers };
  return fetch(`${app.base}/v1/events`, { method: 'POST', headers: all, body });
}

async function codeOf(response: Response): Promise<unknown> {
  return ((await response.json()) as { error: { code: string } }).error.code;
}

test('HTTP-24: accepted and discarded: 204 without a body for any JSON', async () => {
  for (const body of ['{}', '[]', 'null', '0', '"x"', '{"events":[{"name":"opened","at":1}],"sdk":"web/1.0.0"}']) {
    const answer = await post(body);
    assert.equal(answer.status, 204, body);
    assert.equal(await answer.text(), '');
    assert.ok(answer.headers.get('x-request-id'));
  }
});

test('HTTP-24: a batch may be as large as any runtime body, and not larger', async () => {
  const batch = (bytes: number) => {
    const events = JSON.stringify([...Array(1_000).keys()].map((n) => ({ n, name: 'tap' })));
    return `{"events":${events},"rest":"${'x'.repeat(bytes - events.length - 21)}"}`;
  };
  const largest = batch(RUNTIME_BODY_MAX_BYTES);
  assert.equal(Buffer.byteLength(largest), RUNTIME_BODY_MAX_BYTES);
  assert.equal((await post(largest)).status, 204);
  const larger = await post(`${largest} `);
  assert.deepEqual([larger.status, await codeOf(larger)], [413, 'payload_too_large']);
});

test('HTTP-24: what is no JSON is 400', async () => {
  for (const body of ['', '{', 'x']) {
    const answer = await post(body === '' ? null : body);
    assert.deepEqual([answer.status, await codeOf(answer)], [400, 'invalid_request'], body);
  }
  const typed = await post('{}', { 'Content-Type': 'text/plain' });
  assert.deepEqual([typed.status, await codeOf(typed)], [400, 'invalid_request']);
});

test('HTTP-24: suspended apps and devices without a header are taken too: nothing is kept of them', async () => {
  assert.equal((await post('[]', { 'X-Service-Device': '' })).status, 204);
  await app.patch({ suspended: true });
  assert.equal((await post('[]')).status, 204);
});

test('LIMIT-9: 429 over 600 batches a minute of a device', async () => {
  const device = { 'X-Service-Device': 'f'.repeat(32) };
  const statuses: number[] = [];
  for (let n = 0; n < 6; n++) {
    const hundred = await Promise.all([...Array(100)].map(() => post('[]', device)));
    statuses.push(...hundred.map((answer) => answer.status));
  }
  assert.deepEqual(new Set(statuses), new Set([204]));
  const over = await post('[]', device);
  assert.deepEqual([over.status, await codeOf(over), over.headers.get('retry-after')], [429, 'rate_limited', '1']);
});
