/** A model that is down is no outage: the next one in the list answers, in the same turn and at its own price. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, createOperator, createTestApp, spoken } from '../support/client.ts';
import { startService } from '../support/service.ts';
import { startUpstream } from '../support/upstream.ts';

test('MODEL-41: people get the next model’s answer, its price is charged, and operators are told which one failed', async (t) => {
  const one = await startUpstream(t, () => [{ status: 503 }]);
  const two = await startUpstream(t, () => [{ text: 'From two.' }]);
  const service = await startService(t, {
    env: {
      OPENAI_BASE_URL: one.url,
      MODEL: 'one',
      MODEL_CHECK: 'off',
      MODELS: JSON.stringify([{ provider: 'openai', model: 'two', address: two.url, key: 'SPARE_KEY' }]),
      SPARE_KEY: 'sk-spare',
      MODEL_PRICES: '{"one":{"input":1000,"output":1000},"two":{"input":10,"output":0}}',
      DEMO: 'off',
      LOG_LEVEL: 'fatal',
    },
  });
  const app = await createTestApp(service.baseUrl, service.operatorToken);
  const client = createClient(service.baseUrl, app.liveKey);
  const turns = 5;
  for (let nth = 0; nth < turns; nth++) {
    const { events } = await client.say(`Hello ${nth}`);
    assert.deepEqual([spoken(events), events.at(-1)?.status], ['From two.', 'completed']);
  }
  assert.deepEqual([one.requests.length, two.requests.length], [turns, turns]);
  const { json } = await createOperator(service.baseUrl, service.operatorToken)('GET', `/orgs/${app.organisationId}/usage`);
  assert.equal((json as { spent_usd: number }).spent_usd, 0.005, '100 tokens of each turn, at the price of the one that answered');
  const read = async (path: string) =>
    (await fetch(`${service.baseUrl}${path}`, { headers: { authorization: `Bearer ${service.operatorToken}` } })).text();
  assert.match(await read('/readyz'), /"model_failing"/);
  assert.match(await read('/metrics'), /assistant_conditions\{condition="model_failing"\} 1/);
  await client.say('Is it passed over?');
  assert.deepEqual([one.requests.length, two.requests.length], [turns, turns + 1]);
});
