/** Proves what the offline model says of itself, what it shows to whoever asks, and how it quotes what is no plain text. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CATALOG, toolDefinition } from '../../../../protocol/catalog/catalog.ts';
import { bodyOf, COMPONENTS, calledFor, DELIVERY, hear, RETURNS, request, TRACK } from './shop.ts';

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
  const route = {
    name: 'screens',
    kind: 'component' as const,
    description: '',
    parameters: { properties: { items: { items: { properties: { route: { enum: ['orders'] } } } } } },
  };
  assert.deepEqual(await calledFor('show me the screens', [route]), [
    ['screens', { items: [{ route: 'orders', title: 'A screen of this app' }] }],
  ]);
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
