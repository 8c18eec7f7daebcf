/** Plans, as the console tells of them and as clients notice them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, createOperator, createTestApp } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import { startService } from '../../support/service.ts';

interface Usage {
  readonly credit: { readonly plan_left_usd: number };
  readonly users: { readonly count: number; readonly allowance: number };
}

const device = (n: number) => n.toString(16).padStart(32, '0');

test('LIMIT-21, LIMIT-33: each plan has its credit and its users, and users beyond them shut nothing off', async (t) => {
  const service = await startService(t, { env: { DEMO: 'off', LOG_LEVEL: 'silent' } });
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const app = await createTestApp(service.baseUrl, service.operatorToken);
  const usage = async () => (await operator('GET', `/orgs/${app.organisationId}/usage`)).json as Usage;
  for (const [plan, usd, allowance] of [
    ['scale', 500, 200_000],
    ['growth', 50, 10_000],
    ['free', 5, 500],
  ] as const) {
    await operator('PATCH', `/orgs/${app.organisationId}`, { plan });
    const { credit, users } = await usage();
    assert.deepEqual([credit.plan_left_usd, users.allowance], [usd, allowance], plan);
  }
  for (let n = 0; n < 501; n++) {
    const opened = await createClient(service.baseUrl, app.liveKey, device(n)).send('GET', '/v1/apps/config');
    assert.equal((opened.json as { available: boolean }).available, true, opened.text);
  }
  await eventually(async () => (await usage()).users.count === 501);
  const { events, text } = await createClient(service.baseUrl, app.liveKey, device(502)).say('Hello');
  assert.equal(events.at(-1)?.status, 'completed', text);
});
