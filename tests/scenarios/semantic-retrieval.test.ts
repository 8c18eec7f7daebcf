/** The program finds by meaning what it finds by words, asked as clients ask it. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { dataLayout } from '../../storage/data-layout.ts';
import { openReader } from '../../storage/sqlite/database.ts';
import { createClient, createOperator, createTestApp, outline, spoken, type TestApp } from '../support/client.ts';
import { type EmbeddingsServer, startEmbeddingsServer } from '../support/embeddings-server.ts';
import { eventually } from '../support/eventually.ts';
import { readMetrics } from '../support/process.ts';
import { type RunningService, startAndFail, startService } from '../support/service.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const PASSAGE = 'You get your money back within a fortnight.';
const OTHER = 'The courier rings twice before a parcel returns here.';
/** Shares no word with the passage that answers it. */
const QUESTION = 'reimbursement deadline?';

function start(t: TestContext, server: EmbeddingsServer, dataDir: string, env: Record<string, string>): Promise<RunningService> {
  const usual = {
    OPENAI_BASE_URL: server.url,
    MODEL: 'played',
    MODEL_CHECK: 'off',
    DEMO: 'off',
    LOG_LEVEL: 'warn',
    OPERATOR_TOKEN: 'o'.repeat(32),
  };
  return startService(t, { dataDir, env: { ...usual, ...env } });
}

async function addKnowledge(service: RunningService, app: TestApp): Promise<void> {
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const items = [
    { external_key: 'returns', kind: 'text', title: 'Changed minds', content: PASSAGE },
    { external_key: 'shipping', kind: 'text', title: 'At the door', content: OTHER },
  ];
  const added = await operator('POST', `/apps/${app.appId}/knowledge`, { items });
  assert.equal(added.status, 200, added.text);
}

/** Waits until this many passages have vectors. */
async function embedded(service: RunningService, app: TestApp, count: number): Promise<void> {
  const db = openReader(dataLayout(service.dataDir).organisation(app.organisationId));
  try {
    await eventually(() => db.statement('SELECT count(*) AS n FROM knowledge_vectors').get()?.n === count);
  } finally {
    db.close();
  }
}

/** All that the model was told in its last round. */
const told = (server: EmbeddingsServer) => JSON.stringify(server.chats.at(-1)?.messages);

test('MODEL-26: a question without a common word finds its passage when EMBEDDING_MODEL is set, and not when it is unset', async (t) => {
  const server = await startEmbeddingsServer(t);
  const dataDir = temporaryDir(t);
  const without = await start(t, server, dataDir, {});
  const app = await createTestApp(without.baseUrl, without.operatorToken);
  await addKnowledge(without, app);
  const before = await createClient(without.baseUrl, app.liveKey).say(QUESTION);
  assert.equal(before.events.at(-1)?.status, 'completed', before.text);
  assert.ok(!told(server).includes(PASSAGE));
  assert.deepEqual(server.asked, [], 'unset, nothing is embedded');
  assert.equal(await without.stop(), 0);

  const service = await start(t, server, dataDir, { EMBEDDING_MODEL: 'small' });
  await embedded(service, app, 2);
  const client = createClient(service.baseUrl, app.liveKey);

  await t.test('the passage reaches the model', async () => {
    const { events } = await client.say(QUESTION);
    assert.equal(spoken(events), 'Hello.');
    assert.ok(told(server).includes(PASSAGE), told(server));
    assert.ok(server.texts().includes(QUESTION));
  });

  await t.test('RUN-43: how long its meaning was waited for is measured, and how long the search took', async () => {
    const metrics = await readMetrics(service.baseUrl);
    const counted = ['meaning', 'search'].map((step) => metrics.get(`assistant_retrieval_seconds_count{step="${step}"}`));
    assert.deepEqual(counted, [1, 1]);
  });

  await t.test('words still count: both passages come, the one with the words among them', async () => {
    await client.say('courier reimbursement');
    assert.ok(told(server).includes(PASSAGE) && told(server).includes(OTHER));
  });

  await t.test('what the model itself looks for is found by its meaning, too', async () => {
    const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'search_knowledge', arguments: '{"query":"driver"}' } };
    server.chat = ({ messages }) => (messages.at(-1)?.role === 'tool' ? { content: 'Twice.' } : { tool_calls: [call] });
    const { events, text } = await client.say('xyzzy');
    server.chat = undefined;
    assert.equal(spoken(events), 'Twice.', text);
    const answer = server.chats.at(-1)?.messages.at(-1);
    assert.ok(answer?.content.includes(OTHER), answer?.content);
    assert.ok(server.texts().includes('driver'));
  });

  await t.test('a question is embedded once, however often it is asked', async () => {
    const asked = server.asked.length;
    await client.say(QUESTION);
    assert.ok(told(server).includes(PASSAGE));
    assert.equal(server.asked.length, asked);
  });

  await t.test('a server that hangs costs a question its meaning and not its answer', async () => {
    const waiting: string[] = [];
    server.answer = ({ input }) => void waiting.push(...input);
    const chats = server.chats.length;
    const turnId = randomUUID();
    const stopped = client.say('Never mind, reimbursement?', { turn_id: turnId });
    const answered = client.say('When does the courier ring? reimbursement');
    await eventually(() => waiting.length >= 2);
    // The question may be embedded before the turn is stored, and a turn can be stopped from then on (CHAT-22).
    await eventually(async () => (await client.send('POST', `/v1/chat/${turnId}/stop`)).status === 200);
    assert.deepEqual(outline((await stopped).events), ['turn.start', 'turn.end'], 'a turn that waits can be stopped');
    const { events } = await answered;
    assert.deepEqual([spoken(events), server.chats.length], ['Hello.', chats + 1]);
    assert.ok(told(server).includes(OTHER) && !told(server).includes(PASSAGE), 'found by words alone');
  });
  assert.equal(await service.stop(), 0);
});

test('RUN-3: EMBEDDING_MODEL without a server to ask: the start is refused in one line', async (t) => {
  const { code, stderr } = await startAndFail(t, { env: { EMBEDDING_MODEL: 'small', MODEL_PROVIDER: 'offline' } });
  assert.equal(code, 1);
  assert.match(stderr, /^EMBEDDING_MODEL is "small", but then OPENAI_BASE_URL .*\n$/);
});
