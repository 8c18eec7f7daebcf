/** Console: what an appearance would look like, and the drafts beside what was published. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOperator, createTestApp } from '../../support/client.ts';
import { startService } from '../../support/service.ts';

const THEME = { surface: '#ffffff', onSurface: '#1c2230', accent: '#ffb300', onAccent: '#ffffff' };

test('LOOK-1, LOOK-4: a preview completes and judges a theme and saves nothing; what was published stands beside the draft', async (t) => {
  const { baseUrl, operatorToken } = await startService(t);
  const operator = createOperator(baseUrl, operatorToken);
  const { appId } = await createTestApp(baseUrl, operatorToken, { publish_on_go_live: false });
  const path = `/apps/${appId}/appearance`;
  const previewed = await operator('POST', `${path}/preview`, { theme: THEME });
  const { served, warnings } = previewed.json as { served: Record<string, Record<string, string>>; warnings: { check: string }[] };
  assert.deepEqual([served.theme?.accent, warnings.some(({ check }) => check === 'text_on_accent')], ['#ffb300', true]);
  assert.match(served.themeDark?.surface ?? '', /^#[0-9a-f]{6}$/);
  assert.deepEqual((await operator('GET', path)).json, { draft: null, served: null, published: null, published_version: null });
  const refused = await operator('POST', `${path}/preview`, { theme: { ...THEME, accent: 'red' } });
  assert.deepEqual([refused.status, (refused.json as { error: { code: string } }).error.code], [422, 'invalid_appearance']);
  assert.equal((await operator('POST', '/apps/app_none/appearance/preview', { theme: THEME })).status, 404);

  await operator('PUT', path, { theme: THEME });
  await operator('PUT', `/apps/${appId}/experience`, { assistantName: 'Ada' });
  await operator('POST', `/apps/${appId}/publish`);
  await operator('PUT', path, { theme: { ...THEME, accent: '#0b57d0' } });
  const after = (await operator('GET', path)).json as Record<string, { theme: Record<string, string> }>;
  assert.deepEqual([after.draft?.theme.accent, after.published?.theme.accent, after.published_version], ['#0b57d0', '#ffb300', 1]);
  await operator('PUT', `/apps/${appId}/experience`, { tone: 'Short.' });
  const persona = (await operator('GET', `/apps/${appId}/experience`)).json as {
    published: object;
    instructions: { sandbox: string; live: string };
  };
  assert.deepEqual(persona.published, { assistantName: 'Ada' });
  assert.match(persona.instructions.live, /^You are Ada, the assistant inside the app /);
  assert.deepEqual([/Short\./.test(persona.instructions.sandbox), /Short\./.test(persona.instructions.live)], [true, false]);
});
