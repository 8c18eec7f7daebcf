/** The model is asked while a turn is being opened: another connection holds the lock of the organisation's file, so that the commit has to wait. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { dataLayout } from '../../../storage/data-layout.ts';
import { createClient, createTestApp, spoken } from '../../support/client.ts';
import { completionChunk, DONE, requestBody, STREAM_HEAD, usageChunk } from '../../support/completions.ts';
import { eventually } from '../../support/eventually.ts';
import { serveFake } from '../../support/fake-server.ts';
import { startService } from '../../support/service.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { said, upstreamEnv } from '../../support/upstream.ts';
import { FILE } from '../../support/whole-file.ts';

/** A model that answers once it is let, and sees who hangs up before. */
async function startModel(t: TestContext) {
  const requests: { messages: readonly { role: string; content: string }[] }[] = [];
  const seen = { aborted: 0 };
  let answersAtOnce = true;
  const { url, close } = await serveFake(async (req, res) => {
    requests.push(await requestBody(req));
    res.once('close', () => {
      if (!res.writableFinished) seen.aborted++;
    });
    res.writeHead(200, STREAM_HEAD);
    res.write(completionChunk('scripted', { content: 'Hello.' }));
    if (!answersAtOnce) return;
    res.write(completionChunk('scripted', {}, 'stop'));
    res.write(usageChunk('scripted', { prompt_tokens: 10, completion_tokens: 2 }));
    res.end(DONE);
  });
  t.after(close);
  return {
    env: { ...upstreamEnv({ url: `${url()}/v1`, requests: [], close }), DEMO: 'off', LOG_LEVEL: 'silent' },
    requests,
    seen,
    forget() {
      requests.length = 0;
      seen.aborted = 0;
      answersAtOnce = true;
    },
    finishes(answers: boolean) {
      answersAtOnce = answers;
    },
    asked: (times: number) => eventually(() => requests.length === times),
    hungUpOn: () => eventually(() => seen.aborted === 1),
  };
}

async function startWorld(t: TestContext) {
  const model = await startModel(t);
  const dataDir = temporaryDir(t);
  return { model, dataDir, service: await startService(t, { dataDir, env: model.env }) };
}
const shared = await startWorld(FILE);

/** A new app, and its organisation's rows through a connection of the test's own. */
async function setUp(t: TestContext, { model, dataDir, service } = shared) {
  const app = await createTestApp(service.baseUrl, service.operatorToken);
  const rows = new Database(dataLayout(dataDir).organisation(app.organisationId));
  t.after(() => rows.close());
  model.forget();
  const count = (table: string) => rows.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  return { model, rows, count, key: app.liveKey, client: createClient(service.baseUrl, app.liveKey) };
}

test('CHAT-22: the model is asked while the opening is committed, with all that was said, and its words leave after the commit', async (t) => {
  const { model, rows, count, client } = await setUp(t);
  const first = await client.say('One.');
  rows.exec('BEGIN IMMEDIATE');
  let told = false;
  const answering = client.say('Two.', { conversation_id: first.events[0]?.conversation_id });
  void answering.then(() => {
    told = true;
  });
  await model.asked(2);
  assert.deepEqual([told, count('turns')], [false, 1]);
  rows.exec('COMMIT');
  const answer = await answering;
  assert.deepEqual([answer.events[0]?.type, spoken(answer.events), answer.events.at(-1)?.status], ['turn.start', 'Hello.', 'completed']);
  assert.deepEqual(model.requests[1] && said(model.requests[1]).map(({ role, content }) => [role, content]), [
    ['user', 'One.'],
    ['assistant', 'Hello.'],
    ['user', 'Two.'],
  ]);
  assert.deepEqual([model.requests.length, model.seen.aborted, count('turns'), count('charges')], [2, 0, 2, 2]);
});

test('CHAT-22, CLUSTER-4: the call of an opening that the fence refuses is aborted, and the turn runs once', async (t) => {
  const { model, rows, count, client } = await setUp(t);
  const first = await client.say('One.');
  model.finishes(false);
  rows.exec('BEGIN IMMEDIATE; UPDATE conversations SET epoch = epoch + 1');
  const answering = client.say('Two.', { conversation_id: first.events[0]?.conversation_id });
  await model.asked(2);
  model.finishes(true);
  rows.exec('COMMIT');
  const answer = await answering;
  await model.hungUpOn();
  assert.deepEqual([spoken(answer.events), answer.events.at(-1)?.status], ['Hello.', 'completed']);
  const asked = model.requests[2] && said(model.requests[2]).filter(({ role }) => role === 'user');
  assert.deepEqual(
    asked?.map(({ content }) => content),
    ['One.', 'Two.'],
  );
  assert.deepEqual([model.requests.length, count('turns'), count('charges'), count('messages')], [3, 2, 2, 4]);
});

test('CHAT-22, CHAT-16: the call of an opening that cannot be stored is aborted: nothing is said, stored or charged', async (t) => {
  const { model, rows, count, client } = await setUp(t);
  model.finishes(false);
  const turn = { turn_id: randomUUID() };
  rows.exec('BEGIN IMMEDIATE');
  const refused = await client.say('One.', turn);
  await model.hungUpOn();
  const again = await client.say('One.', turn);
  rows.exec('COMMIT');
  assert.doesNotMatch(refused.text + again.text, /turn\.start|Hello/);
  assert.deepEqual([model.requests.length, count('turns'), count('charges'), count('messages')], [1, 0, 0, 0]);
  model.finishes(true);
  const answer = await client.say('One.', turn);
  assert.deepEqual([spoken(answer.events), count('turns'), count('charges')], ['Hello.', 1, 1]);
});

test('CHAT-22, CHAT-9: copies of a turn that open at once ask the model once', async (t) => {
  const { model, count, client } = await setUp(t);
  const turn = { turn_id: randomUUID() };
  const answers = await Promise.all(Array.from({ length: 8 }, () => client.say('One.', turn)));
  for (const { events } of answers) assert.deepEqual([spoken(events), events.at(-1)?.status], ['Hello.', 'completed']);
  assert.deepEqual([model.requests.length, model.seen.aborted, count('turns'), count('charges'), count('messages')], [1, 0, 1, 1, 2]);
});

test('CHAT-22, CHAT-9: a process that is killed between the call and the commit has begun nothing, and the same turn_id runs once', async (t) => {
  const world = await startWorld(t);
  const { dataDir, service } = world;
  const { model, rows, count, key, client } = await setUp(t, world);
  const turn = { turn_id: randomUUID() };
  rows.exec('BEGIN IMMEDIATE');
  const lost = client.say('One.', turn).catch(() => undefined);
  await model.asked(1);
  await service.stop('SIGKILL');
  await lost;
  rows.exec('COMMIT');
  assert.equal(count('turns'), 0);
  const next = await startService(t, { dataDir, env: model.env });
  const answer = await createClient(next.baseUrl, key).say('One.', turn);
  assert.deepEqual([spoken(answer.events), answer.events.at(-1)?.status], ['Hello.', 'completed']);
  assert.deepEqual([model.requests.length, count('turns'), count('charges'), count('messages')], [2, 1, 1, 2]);
});
