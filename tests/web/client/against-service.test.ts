/** The headless client and the running program, over a good line and over a hostile one. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { before, describe, type TestContext, test } from 'node:test';
import { type Assistant, type AssistantOptions, createAssistant } from '../../../web/client/assistant.ts';
import type { Conversation } from '../../../web/client/conversation/conversation.ts';
import { threadOf } from '../../../web/client/conversation/thread.ts';
import { everywhere, keptInMemory } from '../../../web/client/platform/everywhere.ts';
import type { KeptValues } from '../../../web/client/surroundings.ts';
import { createOperator, createTestApp, type TestApp } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import { type Mischief, startHostileProxy } from '../../support/hostile-proxy.ts';
import { ASKS_FOR_CARD, CARD_ACTION, type PacedModel, pacedAnswer, startPacedModel } from '../../support/paced-model.ts';
import { type RunningService, startService } from '../../support/service.ts';

/** Answers of a dozen deltas, slow enough to be cut and left in their middle. */
const PACE = { words: 12, delayMs: 15 };

let model: PacedModel;
let service: RunningService;
let app: TestApp;

before(async (t) => {
  model = await startPacedModel(t as TestContext);
  model.pace(PACE);
  service = await startService(t as TestContext, { env: { ...model.env(), DEMO: 'off', LOG_LEVEL: 'silent' } });
  app = await createTestApp(service.baseUrl, service.operatorToken);
});

interface Started {
  readonly address?: string;
  readonly kept?: KeptValues;
  readonly options?: Partial<AssistantOptions>;
}

function startAssistant(t: TestContext, { address = service.baseUrl, kept = keptInMemory(), options = {} }: Started = {}): Assistant {
  const abilities = { components: ['text', 'confirm_card', 'quick_replies', 'choice'] };
  const assistant = createAssistant({ address, key: app.liveKey, sdk: 'web/1.0.0', abilities, ...options }, everywhere({ kept }));
  t.after(() => assistant.close());
  return assistant;
}

const phaseOf = (conversation: Conversation): string | undefined => conversation.store.get().context.turns.at(-1)?.phase;

/** The words of a conversation as they are drawn, a line for each message or turn. */
function linesOf(conversation: Conversation): string[] {
  return threadOf(conversation.store.get().context).map((item) => {
    if (item.kind === 'message') return `${item.message.role}: ${item.message.blocks.map(({ body }) => body.md).join('')}`;
    const { payload, blocks } = item.turn;
    const said = payload.message === undefined ? '' : `user: ${payload.message.text}\n`;
    return `${said}assistant: ${blocks.map((block) => (block.phase === 'ready' ? block.block.body.md : `${block.text}…`)).join('')}`;
  });
}

/** As one text, so that it does not matter which of it is the history's. */
const textOf = (conversation: Conversation): string => linesOf(conversation).join('\n');

/** Names of questions: letters only, and no two alike. */
let asked = 0;
const nextName = (): string => `question${String.fromCharCode(97 + Math.floor(asked / 26), 97 + (asked++ % 26))}`;

describe('CLIENT-5, CLIENT-6: over a hostile line', () => {
  const LINES: readonly (readonly [string, Mischief])[] = [
    ['that cuts streams', { cutEvery: 7 }],
    ['that tells events twice', { doubleEvery: 3 }],
    ['that delays and cuts', { delayEvery: 5, delayMs: 40, cutEvery: 9 }],
  ];
  for (const [name, mischief] of LINES) {
    test(`every answer is there, whole and once, over one ${name}`, async (t) => {
      const proxy = await startHostileProxy(t, service.baseUrl, mischief);
      const assistant = startAssistant(t, { address: proxy.url });
      const { conversation } = assistant;
      const questions = Array.from({ length: 4 }, nextName);
      for (const question of questions) {
        conversation.say(`ask ${question}`);
        await eventually(() => phaseOf(conversation) === 'completed');
      }
      const wanted = questions.map((question, at) => `user: ask ${question}\nassistant: ${pacedAnswer(question, at + 1, 1, PACE.words)}`);
      assert.equal(textOf(conversation), wanted.join('\n'));
      const deeds = Object.values(proxy.done).reduce((sum, count) => sum + count, 0);
      assert.ok(deeds > 0, 'the line was hostile');
      await conversation.readNewest();
      assert.equal(textOf(conversation), wanted.join('\n'), 'and the history says the same');
    });
  }
});

test('CLIENT-13: a page that is closed in mid-answer is the same page when it is opened again', async (t) => {
  const kept = keptInMemory();
  const first = startAssistant(t, { kept });
  const [one, two] = [nextName(), nextName()];
  first.conversation.say(`ask ${one}`);
  await eventually(() => phaseOf(first.conversation) === 'completed');
  first.conversation.say(`ask ${two}`);
  await eventually(() => (first.conversation.store.get().context.turns.at(-1)?.blocks.length ?? 0) > 0);
  await first.close();
  const second = startAssistant(t, { kept });
  await second.ready;
  const wanted = [one, two].map((question, at) => `user: ask ${question}\nassistant: ${pacedAnswer(question, at + 1, 1, PACE.words)}`);
  await eventually(
    () => textOf(second.conversation) === wanted.join('\n'),
    undefined,
    () => textOf(second.conversation),
  );
  assert.equal(model.calls.get(two), 1);
});

test('CLIENT-13, CLIENT-16: another person sees nothing of it, and the same person goes on', async (t) => {
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const { json } = await operator('GET', `/apps/${app.appId}/identity-secret`);
  const { identity_secret: secret } = json as { identity_secret: string };
  const signed = (id: string) => ({ id, hmac: createHmac('sha256', secret).update(id).digest('hex') });
  const kept = keptInMemory();
  const question = nextName();
  const ada = startAssistant(t, { kept, options: { user: signed('ada') } });
  assert.equal((await ada.identify(signed('ada'))).verified, true);
  ada.conversation.say(`ask ${question}`);
  await eventually(() => phaseOf(ada.conversation) === 'completed');
  await ada.close();
  const bob = startAssistant(t, { kept: copyOf(kept), options: { user: signed('bob') } });
  await bob.ready;
  assert.equal(textOf(bob.conversation), '');
  const again = startAssistant(t, { kept, options: { user: signed('ada') } });
  await eventually(() => textOf(again.conversation).includes(question));
  assert.equal((await again.list()).conversations.length, 1);
});

test('CLIENT-25: whoever comes after a person, by a sign-out, by a page of nobody or of another person, is on another device and is shown nothing of theirs', async (t) => {
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const { json } = await operator('GET', `/apps/${app.appId}/identity-secret`);
  const { identity_secret: secret } = json as { identity_secret: string };
  const signed = (id: string) => ({ id, hmac: createHmac('sha256', secret).update(id).digest('hex') });
  const kept = keptInMemory();
  const page = async (user?: AssistantOptions['user']) => {
    const assistant = startAssistant(t, { kept, options: user === undefined ? {} : { user } });
    await assistant.ready;
    return assistant;
  };
  const listed = async (assistant: Assistant) => (await assistant.list()).conversations.length;

  const nobody = await page();
  nobody.conversation.say(`ask ${nextName()}`);
  await eventually(() => phaseOf(nobody.conversation) === 'completed');
  await nobody.identify(signed('cy'));
  assert.equal(await listed(nobody), 1, 'a sign-in takes along what nobody in particular said on the device');
  assert.equal(await listed(await page()), 1, 'a page that does not say who it is goes on with the device');
  await nobody.signOut();
  assert.equal(await listed(nobody), 0);
  nobody.conversation.say(`ask ${nextName()}`);
  await eventually(() => phaseOf(nobody.conversation) === 'completed');
  assert.equal(await listed(await page(null)), 1, 'nobody in particular stays on one device');

  const dee = await page(signed('dee'));
  dee.conversation.say(`ask ${nextName()}`);
  await eventually(() => phaseOf(dee.conversation) === 'completed');
  assert.equal(await listed(await page(signed('dee'))), 2, 'hers, and what nobody in particular said on her device');
  assert.equal(await listed(await page(signed('eve'))), 0);
  assert.equal(await listed(await page(null)), 0);
});

/** Reads what the other keeps, and writes elsewhere: a person who looks does not change what another one kept. */
function copyOf(kept: KeptValues): KeptValues {
  const own = keptInMemory();
  return { ...own, read: async (name) => (await own.read(name)) ?? kept.read(name) };
}

test('CLIENT-10, CLIENT-11: a card is answered, its action runs once, and the answer goes on', async (t) => {
  const assistant = startAssistant(t);
  const moved: unknown[] = [];
  assistant.registerAction(
    { name: CARD_ACTION, description: 'Moves a delivery.', risk: 'write', confirm_template: 'Move the delivery?' },
    (params, { receipt }) => {
      moved.push([params, typeof receipt]);
      return { moved: true };
    },
  );
  const { conversation } = assistant;
  const state = () => conversation.store.get().context;
  conversation.say(`ask ${nextName()} ${ASKS_FOR_CARD}`);
  await eventually(() => state().calls[0]?.phase === 'asking');
  const id = state().calls[0]?.invocation_id ?? '';
  conversation.confirm(id);
  conversation.confirm(id);
  await eventually(
    () => state().turns.length === 2 && phaseOf(conversation) === 'completed',
    undefined,
    () => JSON.stringify(state()),
  );
  assert.deepEqual(moved, [[{}, 'string']]);
  assert.equal(state().turns[0]?.phase, 'continued');
  assert.equal(state().calls[0]?.phase, 'settled');
});

test('CLIENT-20: a turn that runs is stopped, and what was said stays', async (t) => {
  model.pace({ words: 2_000, delayMs: 15 });
  t.after(() => model.pace(PACE));
  const { conversation } = startAssistant(t);
  const turnId = conversation.say(`ask ${nextName()}`);
  await eventually(() => conversation.store.get().context.turns[0]?.blocks.length === 1);
  conversation.stop(turnId);
  await eventually(() => phaseOf(conversation) === 'completed');
  const [turn] = conversation.store.get().context.turns;
  assert.equal(turn?.ending?.stopped, true);
  assert.match(textOf(conversation), /Answer 1 to/);
});

test('CLIENT-17: an uploaded file goes with a message, and a thumb under its answer is noted', async (t) => {
  const assistant = startAssistant(t);
  const { upload_id: id } = await assistant.upload(new Blob(['One lamp, 20 EUR']), 'receipt.txt');
  const { conversation } = assistant;
  conversation.say(`ask ${nextName()}`, { uploadIds: [id] });
  await eventually(() => phaseOf(conversation) === 'completed');
  const messageId = conversation.store.get().context.turns[0]?.messageId ?? '';
  await conversation.opinions.thumb(messageId, 1);
  assert.equal(conversation.store.get().context.feedback[messageId], 1);
  await conversation.readNewest();
  const [message] = conversation.store.get().context.history.messages;
  assert.deepEqual(
    message?.attachments?.map(({ name }) => name),
    ['receipt.txt'],
  );
  await assert.rejects(conversation.opinions.thumb('msg_000000000000000000000000', -1), { name: 'ClientError' });
});
