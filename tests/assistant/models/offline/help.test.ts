/** Proves what the offline model says of itself, what it shows to whoever asks, and how it quotes what is no plain text. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withinReach } from '../../../../assistant/screen-tools.ts';
import { CATALOG, toolDefinition } from '../../../../protocol/catalog/catalog.ts';
import { shownSchema } from '../../../../protocol/catalog/shown-schema.ts';
import { action, bodyOf, COMPONENTS, calledFor, DELIVERY, hear, RETURNS, request, TRACK } from './shop.ts';

test('MODEL-23: help and "what can you do" are answered with all that there is', async () => {
  const tools = [TRACK, ...COMPONENTS];
  for (const question of ['help', 'Help!', 'What can you do?', 'what can you do for me', 'How can you help me?', 'What can I ask here?']) {
    const { text, result } = await hear(request(question, { tools, passages: [RETURNS] }));
    assert.match(text, /documents.*track order.*`key_points`/s, question);
    assert.deepEqual(result.toolCalls, []);
  }
  for (const question of ['help me cancel my order A-1', 'What can you do about a broken zip that I returned?']) {
    const { text } = await hear(request(question, { tools, passages: [RETURNS] }));
    assert.doesNotMatch(text, /one of my components/, question);
  }
});

test('MODEL-25: each component is shown to whoever asks for it, in a body that the catalog accepts, and no other', async () => {
  const all = [...CATALOG.keys()].filter((name) => !['text', 'confirm_card', 'screens'].includes(name));
  const tools = all.map((name) => ({ kind: 'component' as const, ...toolDefinition(CATALOG.get(name) as never).function }));
  for (const name of all) {
    const heard = await hear(request(`Show me a ${name.replaceAll('_', ' ')}, please.`, { tools, passages: [RETURNS] }));
    bodyOf(heard, name);
    assert.match(heard.text, /sample of .* with made-up data/);
    assert.equal(heard.result.toolCalls.length, 1, name);
  }
  for (const question of ['show me a timeline of my order', 'show the weather', 'What is a timeline?']) {
    assert.deepEqual((await hear(request(question, { tools }))).result.toolCalls, [], question);
  }
  const routes = [{ name: 'orders', title: 'Your orders', description: '', params: {} }];
  const screens = CATALOG.get('screens');
  assert.ok(screens);
  const parameters = shownSchema(withinReach(screens, { routes, kinds: ['send'], teller: 'screens', hasButtons: true }) ?? {});
  const route = { name: 'screens', kind: 'component' as const, description: '', parameters };
  assert.deepEqual(await calledFor('show me the screens', [route]), [['screens', { items: [{ route: 'orders', title: 'Your orders' }] }]]);
  assert.deepEqual((await hear(request('show me a timeline', { tools: COMPONENTS }))).result.toolCalls, []);
});

test('MODEL-25: places to fill in are quoted as they stand, in code and beside it; tags are not', async () => {
  const text =
    'Refunds: send `Authorization: Bearer <TOKEN>` to refunds. Run refunds <dir> <b>now</b>. See refunds at <https://example.com/x>.';
  const heard = await hear(request('refunds', { tools: COMPONENTS, passages: [{ ...RETURNS, text }] }));
  assert.match(heard.text, /`Authorization: Bearer <TOKEN>`/);
  assert.match(heard.text, /`<dir>`/);
  assert.doesNotMatch(heard.text, /<b>/);
  const { points } = bodyOf(heard, 'key_points') as { points: { text: string }[] };
  assert.match(points.map((point) => point.text).join(' '), /Bearer <TOKEN>.*<dir> now/);
});

test('MODEL-25: the heading that the answer names is not repeated over its key points', async () => {
  const heard = await hear(request('How are refunds paid?', { tools: COMPONENTS, passages: [RETURNS, DELIVERY] }));
  assert.match(heard.text, /Returns policy/);
  assert.doesNotMatch(JSON.stringify(bodyOf(heard, 'key_points')), /Returns policy/);
});

test('MODEL-24: a screen of the app is offered to whoever wants to go there, by its name or its title, and no other', async () => {
  const routes = [
    { name: 'orders', title: 'Your orders', description: '', params: {} },
    { name: 'gift_cards', title: 'Gift cards', description: '', params: {} },
  ];
  const screens = CATALOG.get('screens');
  assert.ok(screens);
  const parameters = shownSchema(withinReach(screens, { routes, kinds: ['send'], teller: 'screens', hasButtons: true }) ?? {});
  const tool = { name: 'screens', kind: 'component' as const, description: '', parameters };
  const orders = [['screens', { items: [{ route: 'orders', title: 'Your orders' }] }]];
  for (const question of ['Open my orders', 'go to the orders page', 'Take me to your orders, please.']) {
    assert.deepEqual(await calledFor(question, [tool]), orders, question);
  }
  assert.deepEqual(await calledFor('open gift cards', [tool]), [['screens', { items: [{ route: 'gift_cards', title: 'Gift cards' }] }]]);
  for (const question of ['open the window', 'When do you open?', 'open orders']) {
    const expected = question === 'open orders' ? orders : [];
    assert.deepEqual(await calledFor(question, [tool]), expected, question);
  }
});

test('MODEL-24: a form that was filled in calls the action that takes most of its fields, and never one that needs more', async () => {
  const send = action(
    'send_back',
    'Sends an order back.',
    {
      order_id: { type: 'string' },
      reason: { type: 'string', enum: ['broken', 'late'] },
      parts: { type: 'array' },
      count: { type: 'number' },
    },
    ['order_id', 'reason'],
  );
  const filled = '- order_id: A-7\n- reason: late\n- parts: lid, cord\n- count: 2\n- note: one\nmore lines';
  assert.deepEqual(await calledFor(filled, [TRACK, send]), [
    ['send_back', { order_id: 'A-7', reason: 'late', parts: ['lid', 'cord'], count: 2 }],
  ]);
  assert.deepEqual(await calledFor('- order_id: A-7\n- reason: odd', [send]), [], 'a value that the action does not take');
  assert.deepEqual(await calledFor('- order_id: A-7\n- reason: odd', [TRACK, send]), [['track_order', { order_id: 'A-7' }]]);
  const change = action('change_email', 'Changes the email address of the account.', { email: { type: 'string' } }, ['email']);
  const report = '- order: A-1038\n- what: The lid does not close.\n- email: ⟦email_1⟧';
  assert.deepEqual(await calledFor(report, [change]), [], 'a form about something else');
});
