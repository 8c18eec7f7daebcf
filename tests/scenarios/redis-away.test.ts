/** A node without Redis is worth having, and says that it is without. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { startService } from '../support/service.ts';

test('CLUSTER-16, RUN-10: a node whose Redis is away answers readyz with 200, degraded, and says so', async (t) => {
  // Nobody listens on port 1.
  const service = await startService(t, { env: { REDIS_URL: 'redis://127.0.0.1:1', DEMO: 'off' } });
  const ask = async () => {
    const answer = await fetch(`${service.baseUrl}/readyz`);
    return { code: answer.status, ...((await answer.json()) as { status: string; conditions?: { condition: string }[] }) };
  };
  await eventually(
    async () => (await ask()).conditions !== undefined,
    undefined,
    () => service.output().stderr,
  );
  const { code, status, conditions } = await ask();
  assert.deepEqual([code, status, conditions?.map(({ condition }) => condition)], [200, 'degraded', ['redis_away']]);
});
