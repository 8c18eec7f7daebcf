/** Over HTTP, what the model is told of an app's screens and what becomes of its calls. */
import assert from 'node:assert/strict';
import { before, type TestContext, test } from 'node:test';
import { HANDSHAKE } from '../../support/client.ts';
import { readies, type ScriptedChat, startScriptedChat, toolNames } from './scripted-chat.ts';

let it: ScriptedChat;

before(async (t) => {
  it = await startScriptedChat(t as TestContext);
});

const ROUTES = [
  { name: 'orders', title: 'Your orders', description: 'All orders, newest first.' },
  { name: 'order_detail', title: 'One order', params: { order_id: { type: 'string', required: true } } },
];

async function handshake(routes?: readonly object[]): Promise<Record<string, unknown>> {
  const client = { ...HANDSHAKE, components: [...HANDSHAKE.components, 'screens', 'actions'] };
  if (routes === undefined) return { client };
  const { json } = await it.client.send('POST', '/v1/apps/manifest', {
    manifest: { version: '1', actions: [], routes },
    sdk: 'web/0.50.0',
  });
  return { client: { ...client, manifest_hash: (json as { manifest_hash: string }).manifest_hash } };
}

test('MODEL-3: name, title, description and parameters of each route stand in the request', async () => {
  it.script([{ text: 'Hello.' }]);
  await it.say('Where do I see my orders?', await handshake(ROUTES));
  const tools = it.lastRequest().tools ?? [];
  const textOf = (name: string) => JSON.stringify(tools.find((tool) => tool.function.name === name));
  for (const words of ['orders', 'order_detail', 'Your orders', 'All orders, newest first.', 'One order', 'order_id']) {
    assert.ok(textOf('screens').includes(words), words);
  }
  assert.match(textOf('actions'), /open_screen: orders\|order_detail\./);
});

test('MODEL-3: without routes the model is offered neither screens nor open_screen', async () => {
  for (const routes of [undefined, []]) {
    it.script([{ text: 'Hello.' }]);
    await it.say('Where do I see my orders?', await handshake(routes));
    assert.equal(toolNames(it.lastRequest()).includes('screens'), false);
    assert.doesNotMatch(JSON.stringify(it.lastRequest().tools), /open_screen/);
  }
});

test("BLOCK-10: an item whose parameters are not the route's goes back to the model once", async () => {
  const items = (params: object) => ({ items: [{ route: 'order_detail', title: 'Order A-1', params }] });
  it.script([{ call: 'screens', args: items({ id: 'A-1' }), id: 'wrong' }], [{ call: 'screens', args: items({ order_id: 'A-1' }) }]);
  const { events } = await it.say('Show me order A-1.', await handshake(ROUTES));
  assert.match(it.toldOf('wrong'), /items\[0\]\.params\.id is not a parameter of this screen.*order_id.*is required/s);
  assert.deepEqual(
    readies(events).map(({ block_type, body }) => [block_type, body]),
    [['screens', items({ order_id: 'A-1' })]],
  );
});
