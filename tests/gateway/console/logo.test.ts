import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FormData, request } from 'undici';
import { LOGO_MAX_BYTES } from '../../../protocol/limits.ts';
import { exif, gif, jpeg, png, svg, webp } from '../../assistant/images/image-bytes.ts';
import { createOperator, createTestApp } from '../../support/client.ts';
import { startService } from '../../support/service.ts';

const THEME = { surface: '#ffffff', onSurface: '#111111', accent: '#0044cc', onAccent: '#ffffff' };

test('A logo in the console', async (t) => {
  const service = await startService(t, { env: { DEMO: 'off' } });
  const operate = createOperator(service.baseUrl, service.operatorToken);

  async function app({ drafted = true } = {}): Promise<string> {
    const { appId } = await createTestApp(service.baseUrl, service.operatorToken);
    const answer = drafted ? await operate('PUT', `/apps/${appId}/appearance`, { theme: THEME }) : undefined;
    assert.ok(answer === undefined || answer.status === 200);
    return appId;
  }

  async function send(appId: string, content: Buffer | string) {
    const body = new FormData();
    // Named and typed wrongly on purpose: neither is believed.
    body.append('file', new Blob([content as string], { type: 'text/plain' }), 'logo.txt');
    const answer = await request(`${service.baseUrl}/console/api/apps/${appId}/logo`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${service.operatorToken}` },
      body,
    });
    const json = (await answer.body.json()) as { saved?: boolean; draft?: { theme: Record<string, string> }; logoAssetId?: string };
    const { code } = ((json as Record<string, unknown>).error ?? {}) as { code?: string };
    return { status: answer.statusCode, json, code };
  }

  await t.test('LOGO-2, LOGO-9: each type is saved, named in the draft and answered', async () => {
    const appId = await app();
    const ids = new Set<string>();
    for (const content of [png(), jpeg(3, 2, [exif(1)]), webp(), svg('<rect width="9" height="9"/>')]) {
      const { status, json } = await send(appId, content);
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(json).sort(), ['draft', 'logoAssetId', 'saved']);
      assert.equal(json.saved, true);
      assert.match(json.logoAssetId ?? '', /^ast_[0-9a-z]{24}$/);
      assert.deepEqual(json.draft, { theme: { ...THEME, logoAssetId: json.logoAssetId } });
      const read = await operate('GET', `/apps/${appId}/appearance`);
      assert.deepEqual((read.json as { draft: unknown }).draft, json.draft);
      ids.add(json.logoAssetId ?? '');
    }
    assert.equal(ids.size, 4);
  });

  await t.test('LOGO-10: the same image again is the same asset, also when both come at once', async () => {
    const appId = await app();
    const answers = await Promise.all([send(appId, png()), send(appId, png())]);
    const again = await send(appId, png());
    assert.equal(new Set([...answers, again].map(({ json }) => json.logoAssetId)).size, 1);
  });

  await t.test('LOGO-9: without an appearance draft it is 409 draft_invalid', async () => {
    const { status, code } = await send(await app({ drafted: false }), png());
    assert.deepEqual([status, code], [409, 'draft_invalid']);
  });

  await t.test(
    'LOGO-1, LOGO-2, LOGO-3: another type is 415, an empty file 400, a large one 413; the draft stays without a logo',
    async () => {
      const appId = await app();
      const large = Buffer.concat([png(), Buffer.alloc(LOGO_MAX_BYTES)]);
      for (const [content, status, code] of [
        [gif(), 415, 'unsupported_type'],
        [svg('<script>alert(1)</script>'), 415, 'unsupported_type'],
        ['', 400, 'empty_file'],
        [large, 413, 'too_large'],
        [png(5_000, 5_000), 413, 'too_large'],
      ] as const) {
        const answer = await send(appId, content);
        assert.deepEqual([answer.status, answer.code], [status, code]);
      }
      const read = await operate('GET', `/apps/${appId}/appearance`);
      assert.deepEqual((read.json as { draft: unknown }).draft, { theme: THEME });
    },
  );

  await t.test('LOGO-1: JSON instead of a form is 400 invalid_body naming the field', async () => {
    const answer = await operate('POST', `/apps/${await app()}/logo`, { file: 'x' });
    assert.equal(answer.status, 400);
    assert.match(answer.text, /"invalid_body","message":"file must be sent as multipart\/form-data/);
  });

  await t.test('CONSOLE-7: a logo takes an app that exists', async () => {
    assert.deepEqual((await send('app_000000000000000000000000', png())).code, 'not_found');
  });
});
