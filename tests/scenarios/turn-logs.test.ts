/** service.md "Client handling rules" 8: the request id is on every log line of a turn; what people say, and secrets, are on none. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createClient, createTestApp } from '../support/client.ts';
import { startService } from '../support/service.ts';
import { startUpstream, upstreamEnv } from '../support/upstream.ts';

const QUESTION = 'my-private-question';
const ANSWER = 'my-private-answer';
const API_KEY = 'sk-upstream-secret';

test('Client handling rule 8: a turn that fails is logged as JSON lines with its request id, without words or secrets', async (t) => {
  // Servers are known to repeat in their errors what they were sent.
  const echo = { status: 400, body: { error: { message: `${QUESTION} ${ANSWER} ${API_KEY}`, type: 'odd' } } };
  const upstream = await startUpstream(t, () => [echo]);
  const env = { ...upstreamEnv(upstream), OPENAI_API_KEY: API_KEY, DEMO: 'off', LOG_LEVEL: 'trace' };
  const service = await startService(t, { env });
  const app = await createTestApp(service.baseUrl, service.operatorToken);
  const requestId = randomUUID();
  const client = createClient(service.baseUrl, app.liveKey);
  const answer = await client.chat({ message: { text: QUESTION } }, { 'X-Request-Id': requestId });
  assert.equal(answer.events.at(-1)?.status, 'error');
  const { stderr } = service.output();
  const lines = stderr.trim().split('\n');
  const logged = lines.map((line) => JSON.parse(line) as { request_id?: string; msg: string });
  const ofTurn = logged.filter((line) => line.request_id === requestId);
  assert.ok(ofTurn.length >= 1, stderr);
  // Nothing else happened: what is no line of the turn is about the start.
  assert.deepEqual(
    logged.filter((line) => line.request_id === undefined).map((line) => line.msg),
    ['listening'],
  );
  for (const secret of [QUESTION, ANSWER, API_KEY, service.operatorToken]) assert.ok(!stderr.includes(secret), secret);
});
