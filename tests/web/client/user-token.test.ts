/** The person's own token from the app through the client and the service to the app's backend, which has enough of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAssistant } from '../../../web/client/assistant.ts';
import { everywhere } from '../../../web/client/platform/everywhere.ts';
import { startScriptedChat } from '../../gateway/runtime/scripted-chat.ts';
import { sendJson, startBackend } from '../../support/backend.ts';
import { createOperator } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';

const ACTIONS = [
  { external_key: 'me', name: 'my_profile', description: 'Reads the profile.', method: 'GET', path: '/me', auth: 'user' },
  {
    external_key: 'move',
    name: 'move_me',
    description: 'Moves.',
    method: 'POST',
    path: '/move',
    auth: 'user',
    risk: 'write',
    confirm_template: 'Move?',
  },
];

test('ACTION-14, CLIENT-27: a token that the backend refuses with 401 is told at the end of the turn, and the next turn brings another', async (t) => {
  const backend = await startBackend(t);
  const it = await startScriptedChat(t, { env: { ALLOW_PRIVATE_ADDRESSES: 'true' } });
  const operator = createOperator(it.service.baseUrl, it.service.operatorToken);
  const items = ACTIONS.map(({ path, ...item }) => ({ ...item, url_template: `${backend.url}${path}` }));
  assert.equal((await operator('POST', `/apps/${it.app.appId}/actions`, { items })).status, 200);
  let good = '2';
  backend.answer(({ headers }, response) => {
    const isGood = headers.authorization === `Bearer token-${good}`;
    sendJson(response, isGood ? { ok: true } : { error: 'expired' }, isGood ? 200 : 401);
  });
  let given = 0;
  const assistant = createAssistant(
    {
      ...{ address: it.service.baseUrl, key: it.app.liveKey, sdk: 'web/1.0.0', abilities: { components: ['text', 'confirm_card'] } },
      userToken: async () => `token-${++given}`,
    },
    everywhere(),
  );
  t.after(() => assistant.close());
  const { conversation } = assistant;
  const state = () => conversation.store.get().context;
  const say = async (): Promise<void> => {
    const turnId = conversation.say('Go on.');
    const phase = () => state().turns.find((turn) => turn.turnId === turnId)?.phase ?? '';
    await eventually(() => ['completed', 'awaiting_confirmation'].includes(phase()));
  };
  const sent = () => backend.requests.map(({ headers }) => headers.authorization);

  const look = { call: 'my_profile', args: {}, id: 'call_me' } as const;
  it.script([look], [{ text: 'Not now.' }], [look], [{ text: 'You are Ada.' }], [look], [{ text: 'Still.' }]);
  for (let times = 0; times < 3; times++) await say();
  assert.deepEqual(sent(), ['Bearer token-1', 'Bearer token-2', 'Bearer token-2']);
  assert.equal(given, 2);

  // A write is sent by the turn that goes on after its card; the card that follows its failure goes with another token.
  good = '3';
  backend.clear();
  const move = { call: 'move_me', args: {}, id: 'call_move' } as const;
  it.script([move], [{ text: 'Not moved.' }], [move], [{ text: 'Moved.' }]);
  for (const tries of [1, 2]) {
    await say();
    const call = state().calls.find(({ phase }) => phase === 'asking');
    conversation.confirm(call?.invocation_id ?? '');
    await eventually(() => backend.requests.length === tries && state().turns.at(-1)?.phase === 'completed');
  }
  assert.deepEqual([sent(), given], [['Bearer token-2', 'Bearer token-3'], 3]);
});
