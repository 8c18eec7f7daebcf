/** A small shop's tools and passages, and an ear for what the offline model says of them. */
import assert from 'node:assert/strict';
import type { ModelRequest, Passage, RoundResult, ToolDefinition } from '../../../../assistant/models/model.ts';
import { createOfflineModel } from '../../../../assistant/models/offline/offline.ts';
import { CATALOG, toolDefinition } from '../../../../protocol/catalog/catalog.ts';
import { validate } from '../../../../protocol/catalog/component.ts';

function component(name: string): ToolDefinition {
  const found = CATALOG.get(name);
  assert.ok(found);
  return { kind: 'component', ...toolDefinition(found).function };
}

export function action(
  name: string,
  description: string,
  properties: Record<string, unknown> = {},
  required: string[] = [],
): ToolDefinition {
  return { kind: 'action', name, description, parameters: { type: 'object', properties, required, additionalProperties: false } };
}

export const COMPONENTS = ['key_points', 'quick_replies', 'key_value', 'item_list'].map(component);
export const TRACK = action(
  'track_order',
  'Tells where an order is and when it arrives.',
  { order_id: { type: 'string', description: 'The order' } },
  ['order_id'],
);
export const CANCEL = action('cancel_order', 'Cancels an order that has not been shipped.', { order_id: { type: 'string' } }, ['order_id']);
export const LIST = action('list_orders', 'Lists the orders of the signed-in person.', {
  status: { type: 'string', enum: ['open', 'out_for_delivery', 'delivered'] },
});
export const RETURNS: Passage = {
  sourceId: 'kno_1',
  externalKey: 'policy/returns',
  title: 'Returns *policy*',
  headings: ['Refunds'],
  text: 'Every article may be returned within 30 days. Refunds are paid within five working days after the parcel arrives. You find the [form](https://example.com/form) in your account.\n\n- Refunds go to the original payment method.\n- Vouchers are refunded as vouchers.',
  score: 5,
};
export const DELIVERY: Passage = {
  sourceId: 'kno_2',
  externalKey: 'delivery',
  title: 'Delivery times and everything around them',
  headings: ['Delivery'],
  text: 'A parcel takes two days.',
  score: 1,
};

export function request(content: string, parts: Partial<ModelRequest> = {}): ModelRequest {
  const sender = { app: 'app_1', device: 'd' };
  return {
    system: 'You are Ada.',
    messages: [{ role: 'user', content }],
    now: '',
    passages: [],
    tools: [],
    requestId: 'req-1',
    sender,
    ...parts,
  };
}

export interface Heard {
  readonly events: readonly (readonly [string, unknown])[];
  readonly text: string;
  readonly result: RoundResult;
}

export function hear(asked: ModelRequest): Promise<Heard> {
  return new Promise((resolve, reject) => {
    const events: [string, unknown][] = [];
    let text = '';
    createOfflineModel().stream(asked, {
      text(delta) {
        events.push(['text', delta]);
        text += delta;
      },
      toolCallStarted: (call) => events.push(['started', call]),
      finished(result) {
        events.push(['finished', result]);
        resolve({ events, text, result });
      },
      failed: (failure) => reject(new Error(failure.detail)),
    });
  });
}

const called = ({ result }: Heard) => result.toolCalls.map(({ name, arguments: args }) => [name, JSON.parse(args)] as const);

export async function calledFor(content: string, tools: readonly ToolDefinition[], passages: readonly Passage[] = []) {
  return called(await hear(request(content, { tools, passages })));
}

/** The body of the component called `name`, after the catalog has accepted it. */
export function bodyOf(heard: Heard, name: string): Record<string, unknown> {
  const found = called(heard).find(([each]) => each === name);
  const schema = CATALOG.get(name)?.modelArgs;
  assert.ok(found !== undefined && schema !== undefined, `${name} was not called`);
  assert.deepEqual(validate(schema, found[1]).ok, true);
  return found[1] as Record<string, unknown>;
}
