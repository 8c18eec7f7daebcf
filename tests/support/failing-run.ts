/** A test that fails after a turn, started by the test of what is kept then. It is named so that nothing else runs it. */
import { test } from 'node:test';
import { createClient, createTestApp } from './client.ts';
import { startService } from './service.ts';

test('TRACE-16: fails, so that something is kept', async (t) => {
  const service = await startService(t, { env: { DEMO: 'off' } });
  const app = await createTestApp(service.baseUrl, service.operatorToken);
  await createClient(service.baseUrl, app.testKey).say('Hello');
  throw new Error('as it was meant to');
});
