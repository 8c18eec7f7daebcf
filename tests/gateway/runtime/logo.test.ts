/** GET /v1/apps/logo: which logo a live key and a test key get, and with which headers. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { logoRoute } from '../../../gateway/runtime/logo.ts';
import { mintId } from '../../../protocol/ids.ts';
import { openWriter } from '../../../storage/sqlite/database.ts';
import { png, svg } from '../../assistant/images/image-bytes.ts';
import { DEVICE } from '../../support/client.ts';
import { serveApp } from './runtime-app.ts';

const THEME = { surface: '#ffffff', onSurface: '#111111', accent: '#0044cc', onAccent: '#ffffff' };

async function openFixture(t: TestContext) {
  let now = Date.UTC(2026, 10, 20);
  const app = await serveApp(t, [logoRoute], () => now);
  const { storage, organisationId, appId } = app;
  await storage.write(organisationId, 'goLive', { appId, organisationId, nowMs: now });
  return {
    ...app,
    async ask(key: string, headers: Record<string, string> = {}) {
      // A minute later, so that no request meets the rate limit.
      now += 60_000;
      const answer = await fetch(`${app.base}/v1/apps/logo`, { headers: { 'X-Service-Key': key, ...headers } });
      return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
    },
    draft: () => storage.write(organisationId, 'saveAppearanceDraft', { appId, body: { theme: THEME }, nowMs: now }),
    publish: () => storage.write(organisationId, 'publishDrafts', { appId, nowMs: now }),
    saveLogo: (content: Uint8Array, mediaType: string) =>
      storage.write(organisationId, 'saveLogo', {
        assetId: mintId('ast', now),
        appId,
        mediaType,
        width: 3,
        height: 2,
        content,
        nowMs: now,
      }),
  };
}

const codeOf = (bytes: Buffer) => (JSON.parse(bytes.toString()) as { error: { code: string } }).error.code;

test('GET /v1/apps/logo', async (t) => {
  const fixture = await openFixture(t);
  const { live, test: key } = fixture;

  await t.test('CONFIG-4: an app without a logo is 404 no_logo, with an appearance and without', async () => {
    for (const prepare of [async () => {}, fixture.draft]) {
      await prepare();
      const { status, bytes } = await fixture.ask(key);
      assert.deepEqual([status, codeOf(bytes)], [404, 'no_logo']);
    }
  });

  await t.test('CONFIG-4: a test key gets the draft at once, a live key what was published', async () => {
    await fixture.saveLogo(png(), 'image/png');
    const draft = await fixture.ask(key);
    assert.equal(draft.status, 200);
    assert.deepEqual(draft.bytes, png());
    assert.equal((await fixture.ask(live)).status, 404);
    await fixture.publish();
    assert.deepEqual((await fixture.ask(live)).bytes, png());
    await fixture.saveLogo(Buffer.from(svg('<rect/>')), 'image/svg+xml');
    const vector = await fixture.ask(key);
    assert.equal(vector.headers.get('content-type'), 'image/svg+xml');
    assert.equal(vector.bytes.toString(), svg('<rect/>'));
    assert.deepEqual((await fixture.ask(live)).bytes, png());
  });

  await t.test('CONFIG-4: it is served as an image that can do nothing, with an ETag of its own', async () => {
    const [published, draft] = [await fixture.ask(live), await fixture.ask(key)];
    assert.equal(published.headers.get('content-type'), 'image/png');
    assert.equal(published.headers.get('content-length'), String(png().length));
    for (const { headers } of [published, draft]) {
      assert.equal(headers.get('content-security-policy'), 'sandbox');
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      assert.equal(headers.get('cache-control'), 'private, no-cache');
      assert.match(headers.get('vary') ?? '', /X-Service-Key/);
      assert.match(headers.get('etag') ?? '', /^"[\w-]{22}"$/);
    }
    assert.notEqual(published.headers.get('etag'), draft.headers.get('etag'));
    assert.equal((await fixture.ask(live)).headers.get('etag'), published.headers.get('etag'));
  });

  await t.test('CONFIG-4: 304 is for the configuration only: a logo is sent again', async () => {
    const { headers } = await fixture.ask(live);
    const again = await fixture.ask(live, { 'If-None-Match': headers.get('etag') ?? '' });
    assert.deepEqual([again.status, again.bytes], [200, png()]);
  });

  await t.test('KEY-4: a suspended app is 403 app_suspended', async () => {
    await fixture.patch({ suspended: true });
    const { status, bytes } = await fixture.ask(live);
    await fixture.patch({ suspended: false });
    assert.deepEqual([status, codeOf(bytes)], [403, 'app_suspended']);
  });

  await t.test('CONFIG-4: an image that is gone is 503 logo_unavailable', async () => {
    const writer = openWriter(fixture.storage.layout.organisation(fixture.organisationId));
    writer.exec('DELETE FROM assets');
    writer.close();
    const { status, bytes, headers } = await fixture.ask(live);
    assert.deepEqual([status, codeOf(bytes), headers.get('retry-after')], [503, 'logo_unavailable', '30']);
  });
});

test('LIMIT-4: logos have buckets of their own, 12 a minute per device and 600 per app', async (t) => {
  const { base, test: key } = await serveApp(t, [logoRoute]);
  const ask = async (device: string) => {
    const answer = await fetch(`${base}/v1/apps/logo`, { headers: { 'X-Service-Key': key, 'X-Service-Device': device } });
    await answer.arrayBuffer();
    return answer.status;
  };
  for (let i = 0; i < 12; i++) assert.equal(await ask(DEVICE), 404);
  assert.equal(await ask(DEVICE), 429);
  for (let i = 0; i < 588; i++) assert.equal(await ask((100 + i).toString(16).padStart(32, '0')), 404);
  assert.equal(await ask('f'.repeat(32)), 429);
});
