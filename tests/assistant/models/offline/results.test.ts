/** Proves how the offline model reports what an action returned, or why it returned nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fence } from '../../../../assistant/fence.ts';
import type { ChatMessage, ToolDefinition } from '../../../../assistant/models/model.ts';
import { bodyOf, COMPONENTS, type Heard, hear, LIST, request, TRACK } from './shop.ts';

async function afterResult(name: string, content: string, tools: readonly ToolDefinition[] = [TRACK, ...COMPONENTS]): Promise<Heard> {
  const messages: ChatMessage[] = [
    { role: 'user', content: 'Track order A-1042' },
    { role: 'assistant', content: '', toolCalls: [{ id: 'call_1', name, arguments: '{"order_id":"A-1042"}' }] },
    { role: 'tool', toolCallId: 'call_1', name, content },
  ];
  return hear(request('', { messages, tools }));
}

test('MODEL-24: a flat result becomes sentences and key_value when that is offered', async () => {
  const result = fence(
    'result of track_order',
    JSON.stringify({ order_id: 'A-1042', status: 'shipped', total: { amount: '12.50', currency: 'EUR' }, gift: false, note: null }),
  );
  const heard = await afterResult('track_order', result);
  assert.match(heard.text, /status is shipped/);
  assert.deepEqual(bodyOf(heard, 'key_value'), {
    title: 'Track order',
    rows: [
      { label: 'Order id', value: 'A-1042' },
      { label: 'Status', value: 'shipped' },
      { label: 'Total', value: '12.50 EUR' },
      { label: 'Gift', value: 'no' },
    ],
  });
  const plain = await afterResult('track_order', result, [TRACK]);
  assert.deepEqual([plain.result.reason, plain.result.toolCalls], ['stop', []]);
});

test('MODEL-24: a list becomes item_list when offered, a Markdown list otherwise, and an empty one is said to be empty', async () => {
  const orders = Array.from({ length: 25 }, (_, i) => ({ id: `A-${i}`, name: `Order *${i}*`, status: 'open' }));
  const heard = await afterResult('list_orders', fence('result of list_orders', JSON.stringify({ orders })));
  const body = bodyOf(heard, 'item_list') as { items: unknown[]; total: number };
  assert.deepEqual(body.items[0], { id: 'item_1', title: 'Order *0*', subtitle: 'Id: A-0 · Status: open' });
  assert.deepEqual([body.items.length, body.total], [20, 25]);
  const plain = await afterResult('list_orders', JSON.stringify(orders.slice(0, 2)), [LIST]);
  assert.match(plain.text, /two results|2 results/);
  assert.match(plain.text, /^- \*\*Order \\\*0\\\*\*\*: Id: A-0 · Status: open$/m);
  assert.match((await afterResult('list_orders', '[]')).text, /found nothing/);
});

test('MODEL-24, CONFIRM-17: what a person changed on the card is not taken for what came of the call', async () => {
  const edited = `Before deciding, the person changed values of this call. They are now: ${fence('changed values', '{"reason":"Late"}')}`;
  const steps = [{ label: 'Cancelled', state: 'failed' }];
  const done = await afterResult('track_order', `${edited}\n${fence('result of track_order', JSON.stringify({ order: 'A-1042', steps }))}`);
  assert.doesNotMatch(done.text, /did not work|Late/);
  assert.match(done.text, /A-1042|found one result/);
  const failed = await afterResult('track_order', `${edited}\ntrack_order failed: ${fence('error', 'No such order.')}`);
  assert.match(failed.text, /did not work: No such order\./);
  const declined = await afterResult('track_order', `${edited}\nThe person declined track_order.`);
  assert.match(declined.text, /^You declined/);
});

test('MODEL-24: the JSON is found in whatever stands around it', async () => {
  const pretty = JSON.stringify({ status: 'shipped', note: 'a } in "quotes" [' }, null, 2);
  for (const content of [
    pretty,
    `Result of track_order [ref 7]:\n${pretty}\nend`,
    `data: ${pretty}`,
    `\`\`\`json\n${pretty}\n\`\`\``,
    fence('result', pretty),
  ]) {
    assert.match((await afterResult('track_order', content)).text, /^Status is shipped and note is a \} in "quotes" \\\[\.$/, content);
  }
  assert.match((await afterResult('count_orders', fence('result of count_orders', '42'))).text, /returned: 42$/);
  assert.match((await afterResult('track_order', '{"status":"ok"}')).text, /^Done/);
});

test('MODEL-24: placeholders come through whole', async () => {
  const value = `${'x'.repeat(193)} ⟦email_1⟧ and more`;
  const heard = await afterResult('track_order', JSON.stringify({ short: '⟦email_1⟧', long: value }));
  assert.match(heard.text, /Short is ⟦email_1⟧/);
  for (const { value: shown } of bodyOf(heard, 'key_value').rows as { value: string }[]) {
    assert.equal(shown.replaceAll('⟦email_1⟧', '').match(/[⟦⟧]/), null);
  }
});

test('MODEL-24: a call that ended otherwise is reported as it ended', async () => {
  const cases: [string, RegExp][] = [
    [`track_order failed: ${fence('error', 'No such order.')}`, /did not work: No such order\./],
    [JSON.stringify({ status: 'error', error: 'No such order.' }), /did not work: No such order\./],
    ['The person declined track_order. It was not done.', /^You declined \*\*Track order\*\*/],
    [JSON.stringify({ status: 'declined' }), /^You declined/],
    ['Nobody confirmed track_order in time. It was not done.', /not confirmed in time/],
    ['track_order did not answer in time.', /did not answer in time/],
    [JSON.stringify({ status: 'timeout' }), /did not answer in time/],
    [JSON.stringify({ status: 'unavailable' }), /not available/],
    [
      'It is not known whether track_order was done: the service was interrupted. Say so, and do not call it again.',
      /^It is not known whether/,
    ],
  ];
  for (const [content, expected] of cases) {
    const heard = await afterResult('track_order', content);
    assert.match(heard.text, expected);
    assert.doesNotMatch(heard.text, /do not call it/);
    assert.deepEqual(heard.result.toolCalls, []);
  }
  // The data's own words decide nothing.
  assert.match(
    (await afterResult('track_order', fence('result of track_order', '{"status":"declined","order":"A-1"}'))).text,
    /Status is declined/,
  );
});

test('MODEL-24: a round after results calls no action again', async () => {
  const heard = await afterResult('track_order', '{"status":"shipped"}', [TRACK]);
  assert.deepEqual(heard.result.toolCalls, []);
});

test('MODEL-24: a result that brings the body of a component along is shown as it, with the words beside it', async () => {
  const body = { title: 'Delivery', rows: [{ label: 'Day', value: 'Monday' }] };
  const heard = await afterResult(
    'track_order',
    fence('result of track_order', JSON.stringify({ say: 'It comes on *Monday*.', key_value: body })),
  );
  assert.deepEqual(bodyOf(heard, 'key_value'), body);
  assert.equal(heard.text, 'It comes on \\*Monday\\*.');
  const unknown = await afterResult('track_order', fence('result of track_order', JSON.stringify({ hologram: body, status: 'shipped' })));
  assert.match(unknown.text, /status is shipped/, 'what is not offered is data like any other');
});
