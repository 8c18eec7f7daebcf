/** The demo shop against the running service with its built-in model: what a newcomer asks, and what comes of it. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { CATALOG } from '../../../protocol/catalog/catalog.ts';
import { Shop } from '../../../web/demo/shop/shop.ts';
import { SUGGESTIONS } from '../../../web/demo/shop/suggestions.ts';
import { ROUTES, tasksOf } from '../../../web/demo/shop/tasks.ts';
import { createClient, HANDSHAKE, type StreamedEvent } from '../../support/client.ts';
import { startService } from '../../support/service.ts';

const NOW_MS = Date.parse('2026-11-23T09:30:00Z');

interface Pending {
  readonly invocation_id: string;
  readonly name: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly risk: string;
}

interface Shown {
  readonly id: string;
  readonly block_type: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const blocksOf = (events: readonly StreamedEvent[]) =>
  events.flatMap(({ type, block }) => (type === 'block.ready' ? [block as Shown] : []));
const typesOf = (events: readonly StreamedEvent[]) => blocksOf(events).map(({ block_type: type }) => type);

/** A shop whose assistant is asked as the widget asks, without a browser. */
async function openShop(t: Parameters<typeof startService>[0]) {
  const service = await startService(t);
  const shop = new Shop(NOW_MS);
  const tasks = tasksOf(shop);
  const client = createClient(service.baseUrl, service.liveKey);
  const manifest = { version: '1', actions: tasks.map(({ definition }) => definition), routes: ROUTES };
  const { status, json } = await client.send('POST', '/v1/apps/manifest', { manifest, sdk: 'web/1.0.0' });
  assert.equal(status, 200, JSON.stringify(json));
  const handshake = { ...HANDSHAKE, components: [...CATALOG.keys()], manifest_hash: (json as { manifest_hash: string }).manifest_hash };
  let conversation: string | undefined;
  const send = async (body: object): Promise<readonly StreamedEvent[]> => {
    const id = conversation === undefined ? {} : { conversation_id: conversation };
    const { events } = await client.chat({ turn_id: randomUUID(), ...id, ...body, client: handshake });
    conversation = (events[0]?.conversation_id as string | undefined) ?? conversation;
    return events;
  };
  /** Runs what the turn left open, agreed to where a person has to, and returns what follows. */
  const goOn = async (events: readonly StreamedEvent[], typed?: string): Promise<readonly StreamedEvent[]> => {
    const pending = (events.at(-1)?.pending ?? []) as readonly Pending[];
    const [call] = pending;
    assert.ok(call, `nothing was called: ${JSON.stringify(typesOf(events))}`);
    const agreed = call.risk === 'read' ? {} : { confirmed: true };
    if (call.risk !== 'read') {
      const answer = await client.send('POST', `/v1/invocations/${call.invocation_id}/confirm`, {
        decision: 'confirm',
        ...(typed === undefined ? {} : { typed }),
      });
      assert.equal(answer.status, 200, JSON.stringify(answer.json));
    }
    const task = tasks.find(({ definition }) => definition.name === call.name);
    assert.ok(task, call.name);
    const result = task.run(call.params, NOW_MS);
    return send({ tool_results: [{ invocation_id: call.invocation_id, status: 'ok', result, ...agreed }] });
  };
  return {
    shop,
    say: (text: string) => send({ message: { text } }),
    goOn,
    submit: (form_id: string, values: object) => send({ form_submission: { form_id, values } }),
  };
}

test('DEMO-4: every suggestion of the shop leads to what it promises', async (t) => {
  const { say, goOn, shop } = await openShop(t);
  const shown = new Map<string, readonly string[]>();
  for (const suggestion of SUGGESTIONS) {
    const events = await say(suggestion);
    const typed = suggestion.startsWith('Cancel') ? 'cancel' : undefined;
    const isOver = events.at(-1)?.status === 'completed';
    shown.set(suggestion, isOver ? typesOf(events) : [...typesOf(events), ...typesOf(await goOn(events, typed))]);
  }
  assert.deepEqual(Object.fromEntries(shown), {
    'Compare the kettles': ['text', 'comparison'],
    'Where is my order?': ['text', 'order_tracker'],
    'How long does delivery take?': ['text', 'key_points', 'quick_replies'],
    'Put the Large kettle in my cart': ['confirm_card', 'text', 'quick_replies'],
    'Cancel order A-1042': ['confirm_card', 'text', 'order_tracker'],
    'I want to return something': ['text', 'form'],
    'Show the parcel on a map': ['text', 'map'],
    'Open my cart': ['text', 'screens'],
  });
  assert.deepEqual(shop.state.cart, [{ productId: 'large', quantity: 1 }]);
  assert.equal(shop.order('A-1042')?.status, 'cancelled');
});

test('DEMO-4: a form that was filled in becomes a call that the person confirms', async (t) => {
  const { say, goOn, submit, shop } = await openShop(t);
  const form = blocksOf(await goOn(await say('I want to return something'))).find(({ block_type: type }) => type === 'form');
  assert.ok(form);
  const asked = await submit(form.id, { order_id: 'A-1007', reason: 'It arrived broken' });
  assert.deepEqual(typesOf(asked), ['confirm_card'], JSON.stringify(asked).slice(0, 900));
  assert.deepEqual(typesOf(await goOn(asked)), ['text', 'order_tracker']);
  assert.equal(shop.order('A-1007')?.status, 'returned');
});

test('DEMO-4: an order is cancelled by its words alone', async (t) => {
  const { say, goOn, shop } = await openShop(t);
  const events = await say('Cancel order A-1042');
  const [card] = blocksOf(events);
  assert.equal(card?.body.type_to_confirm, 'cancel');
  await assert.rejects(goOn(events, 'yes'), /must be \\"cancel\\"/);
  assert.equal(shop.order('A-1042')?.status, 'confirmed');
});

test('DEMO-4: what cannot be done is said, and changes nothing', () => {
  const shop = new Shop(NOW_MS);
  assert.throws(() => shop.cancel('A-1038'), /cannot be cancelled: it is shipped/);
  assert.throws(() => shop.giveBack('A-1042'), /cannot be returned: it is confirmed/);
  assert.throws(() => shop.cancel('<b>'), /There is no order/);
  shop.put('mug', 99);
  assert.deepEqual(shop.state.cart, [{ productId: 'mug', quantity: 20 }]);
  shop.put('mug', -99);
  assert.deepEqual(shop.state.cart, []);
});
