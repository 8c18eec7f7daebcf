/** Deleting an app while its clients, its setup agent and the console write to it: whoever comes too late is told so. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { type Answer, createClient, createOperator, createTestApp, HANDSHAKE } from '../../support/client.ts';
import { type RunningService, startService } from '../../support/service.ts';
import { AGENT, agentOf, openSession } from '../../support/setup-agent.ts';
import { MANIFEST } from '../runtime/asked-write.ts';
import { article, screen } from '../setup/setup-app.ts';

/** No such key, app or answer any more, or a setup session that ended with its app. */
const GONE: readonly number[] = [401, 404, 410];

/** In nearly every one some of the writes get between the look at the app and its deletion. */
const ROUNDS = 6;

interface Sent {
  readonly what: string;
  readonly answer: Answer;
}

/** Sends a DELETE of a new app together with writes to it, some just before and most just after. */
async function raceDeletion({ baseUrl, operatorToken }: RunningService): Promise<readonly Sent[]> {
  const operator = createOperator(baseUrl, operatorToken);
  const { appId, liveKey, testKey } = await createTestApp(baseUrl, operatorToken, { auto_go_live: false });
  const { code } = await openSession(operator, appId, 'sync');
  const agent = await agentOf(baseUrl, code);
  assert.equal((await agent.send('POST', '/start', AGENT)).status, 200);
  const said = await createClient(baseUrl, liveKey).say('hello');
  const { conversation_id, message_id } = said.events[0] as unknown as { conversation_id: string; message_id: string };

  const live = createClient(baseUrl, liveKey);
  const test = createClient(baseUrl, testKey);
  const writes: readonly [what: string, send: () => Promise<Answer>][] = [
    ['identify', () => live.send('POST', '/v1/identify', { external_user_id: randomUUID(), traits: { plan: 'pro' } })],
    ['chat', () => live.say('hello again')],
    ['chat goes on', () => live.chat({ message: { text: 'and again' }, conversation_id })],
    ['feedback', () => live.send('POST', '/v1/feedback', { message_id, rating: 1 })],
    ['manifest', () => test.send('POST', '/v1/apps/manifest', { manifest: MANIFEST, sdk: HANDSHAKE.sdk })],
    ['events', () => agent.send('POST', '/events', { step: 'install', status: 'started' })],
    ['knowledge', () => agent.send('POST', '/knowledge', { items: [article('hours')] })],
    ['screens', () => agent.send('POST', '/screens', { screens: [screen('home')] })],
    ['session', () => operator('POST', `/apps/${appId}/sessions`, { kind: 'sync' })],
    ['experience', () => operator('PUT', `/apps/${appId}/experience`, { assistantName: 'Leaf' })],
    ['settings', () => operator('PATCH', `/apps/${appId}`, { messages_per_minute: 60 })],
    ['secret', () => operator('POST', `/apps/${appId}/identity-secret/rotate`)],
  ];
  const sendAll = () => writes.map(async ([what, send]): Promise<Sent> => ({ what, answer: await send() }));
  const before = sendAll();
  const deleted = operator('DELETE', `/apps/${appId}`);
  const after = sendAll();
  assert.equal((await deleted).status, 200);
  return Promise.all([...before, ...after]);
}

test('CONSOLE-12: a write that comes while its app is deleted is done, or is told that the app is gone, and is no bug', async (t: TestContext) => {
  const service = await startService(t, { env: { DEMO: 'off', LOG_LEVEL: 'warn' } });
  const tooLate = new Set<string>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const { what, answer } of await raceDeletion(service)) {
      const { status, text } = answer;
      assert.ok(status < 300 || GONE.includes(status), `${what}: ${status} ${text}`);
      if (status >= 300) tooLate.add(what);
    }
  }
  for (const what of ['identify', 'session', 'knowledge']) assert.ok(tooLate.has(what), `some ${what} came too late`);
});
