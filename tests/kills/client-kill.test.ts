/** What a person sees when the service dies in mid-answer: the answer, once, without touching anything. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAssistant } from '../../web/client/assistant.ts';
import { threadOf } from '../../web/client/conversation/thread.ts';
import { everywhere } from '../../web/client/platform/everywhere.ts';
import { createTestApp } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { pacedAnswer, startPacedModel } from '../support/paced-model.ts';
import { startService } from '../support/service.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

/** A name that stands for the service, wherever it runs at the moment. */
const ADDRESS = 'http://assistant.invalid';
const WORDS = 40;
/** A start beside other tests. */
const BACK_WITHIN_MS = 120_000;

test('CLIENT-6: a service that is killed in mid-answer is waited for, and answers whole and once', async (t) => {
  const model = await startPacedModel(t);
  model.pace({ words: WORDS, delayMs: 25 });
  const dataDir = temporaryDir(t);
  const start = () => startService(t, { dataDir, env: { ...model.env(), DEMO: 'off', LOG_LEVEL: 'silent' } });
  let service = await start();
  const app = await createTestApp(service.baseUrl, service.operatorToken);
  const surroundings = everywhere({ fetch: (address, request) => fetch(address.replace(ADDRESS, service.baseUrl), request) });
  const abilities = { components: ['text'] };
  const assistant = createAssistant({ address: ADDRESS, key: app.liveKey, sdk: 'web/1.0.0', abilities }, surroundings);
  t.after(() => assistant.close());
  const { store } = assistant.conversation;
  const turn = () => store.get().context.turns[0];
  assistant.conversation.say('ask something');
  await eventually(() => (turn()?.blocks.length ?? 0) > 0);
  await service.stop('SIGKILL');
  await eventually(() => turn()?.isReconnecting === true);
  service = await start();
  await eventually(
    () => turn()?.phase === 'completed',
    BACK_WITHIN_MS,
    () => JSON.stringify(store.get().context),
  );
  const thread = threadOf(store.get().context);
  assert.equal(thread.length, 1);
  const [block, ...others] = turn()?.blocks ?? [];
  assert.deepEqual(others, []);
  assert.equal(block?.phase === 'ready' && block.block.body.md, pacedAnswer('something', 1, 2, WORDS));
  await assistant.conversation.readNewest();
  assert.deepEqual(
    store.get().context.history.messages.map(({ role }) => role),
    ['user', 'assistant'],
  );
});
