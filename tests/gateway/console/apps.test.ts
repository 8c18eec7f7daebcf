/** An app in the console: its settings, and the publication of its drafts, over HTTP. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../../support/client.ts';
import { startConsoleApp } from './console-app.ts';

interface Shown {
  readonly app: Readonly<Record<string, unknown>> & { readonly intake: { readonly description: string } };
}

test('CONSOLE-9: what GET answers of an app’s settings can be sent back, and a patch changes only what it names', async (t) => {
  const { console } = await startConsoleApp(t);
  const shown = async () => ((await console('GET', '')).json as Shown).app;
  const before = await shown();
  const settings = ['allowed_domains', 'messages_per_minute', 'hard_cap', 'min_sdk', 'intake', 'confirmation_ttl_s', 'slug'];
  const sentBack = await console('PATCH', '', Object.fromEntries(settings.map((name) => [name, before[name]])));
  assert.equal(sentBack.status, 200, sentBack.text);
  const { updated_at: _, ...same } = await shown();
  assert.deepEqual({ ...before, ...same }, before);
  assert.equal((await console('PATCH', '', { intake: { description: 'Sells bikes.' }, messages_per_minute: 30 })).status, 200);
  const { updated_at: __, ...after } = await shown();
  const expected = { ...before, ...after, messages_per_minute: 30, intake: { ...before.intake, description: 'Sells bikes.' } };
  assert.deepEqual({ ...before, ...after }, expected);
});

test('CONSOLE-10: a changed setting counts for the next request', async (t) => {
  const { console, service, app } = await startConsoleApp(t);
  const read = async () => (await createClient(service.baseUrl, app.testKey).send('GET', '/v1/apps/config')).status;
  assert.equal(await read(), 200);
  for (const suspended of [true, false]) {
    assert.equal((await console('PATCH', '', { suspended })).status, 200);
    assert.equal(await read(), suspended ? 403 : 200);
  }
});

test('LIVE-1: both drafts are published together; the same again keeps its version, and nothing written is 409 conflict', async (t) => {
  const { console, service, app } = await startConsoleApp(t);
  const published = async () => {
    const { json } = await createClient(service.baseUrl, app.liveKey).send('GET', '/v1/apps/config');
    return json as { version: number | null; config: { theme?: { accent: string }; copilot?: { assistantName: string } } };
  };
  const refused = await console('POST', '/publish');
  assert.deepEqual([refused.status, (refused.json as { error: { code: string } }).error.code], [409, 'conflict']);
  const theme = { surface: '#ffffff', onSurface: '#1c2230', accent: '#0b57d0', onAccent: '#ffffff' };
  assert.equal((await console('PUT', '/appearance', { theme })).status, 200);
  assert.equal((await console('PUT', '/experience', { assistantName: 'Ada' })).status, 200);
  assert.equal((await published()).version, null);
  for (const _ of ['first', 'again']) assert.deepEqual((await console('POST', '/publish')).json, { version: 1 });
  const { version, config } = await published();
  assert.deepEqual([version, config.theme?.accent, config.copilot?.assistantName], [1, '#0b57d0', 'Ada']);
  assert.equal((await console('PUT', '/experience', { assistantName: 'Grace' })).status, 200);
  assert.deepEqual((await console('POST', '/publish')).json, { version: 2 });
  assert.equal((await published()).config.copilot?.assistantName, 'Grace');
});
