/** The request id is on every log line of a turn; what people say, and secrets, are on none. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createClient, createTestApp } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { startService } from '../support/service.ts';
import { startUpstream, upstreamEnv } from '../support/upstream.ts';

const QUESTION = 'my-private-question';
const ANSWER = 'my-private-answer';
/** What the watch says of a machine on which other tests run, too. */
const BUSY_MACHINE = 'the event loop was delayed by the machine';
const SOON_MS = 60_000;
const API_KEY = 'sk-upstream-secret';

test('RUN-12, PRIVACY-14: a turn that fails is logged as JSON lines with its request id, without words or secrets', async (t) => {
  // Servers are known to repeat in their errors what they were sent.
  const message = `Invalid parts ${QUESTION}, ${ANSWER} with key ${API_KEY}. Shorten them.`;
  const upstream = await startUpstream(t, (_, n) =>
    n === 0 ? [{ text: ANSWER }] : [{ status: 400, body: { error: { message, type: 'odd' } } }],
  );
  const env = { ...upstreamEnv(upstream), OPENAI_API_KEY: API_KEY, DEMO: 'off', LOG_LEVEL: 'trace' };
  const service = await startService(t, { env });
  const app = await createTestApp(service.baseUrl, service.operatorToken);
  const requestId = randomUUID();
  const client = createClient(service.baseUrl, app.liveKey);
  const first = await client.chat({ message: { text: 'Good morning' } });
  const { conversation_id } = first.events[0] as { conversation_id?: string };
  const answer = await client.chat({ message: { text: QUESTION }, conversation_id }, { 'X-Request-Id': requestId });
  assert.equal(answer.events.at(-1)?.status, 'error');
  await eventually(
    () => service.output().stderr.includes(`"request_id":"${requestId}"`),
    SOON_MS,
    () => service.output().stderr,
  );
  const { stderr } = service.output();
  const lines = stderr.trim().split('\n');
  const logged = lines.map((line) => JSON.parse(line) as { request_id?: string; msg: string });
  const ofTurn = logged.filter((line) => line.request_id === requestId);
  assert.ok(ofTurn.length >= 1, stderr);
  // The rest of its sentence is for whoever runs the service.
  assert.match(stderr, /status 400 odd: Invalid parts \[\.\.\.\],? ?\[\.\.\.\] with key \[key\]\. Shorten them\./);
  // Nothing else happened: what is no line of the turn is about the start.
  assert.deepEqual(
    logged.flatMap(({ request_id, msg }) => (request_id === undefined && msg !== BUSY_MACHINE ? [msg] : [])),
    ['listening'],
  );
  for (const secret of [QUESTION, ANSWER, API_KEY, service.operatorToken]) assert.ok(!stderr.includes(secret), secret);
});
