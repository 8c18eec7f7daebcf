/** Choosing in a block that was shown. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createClient, spoken } from '../../support/client.ts';
import { FILE } from '../../support/whole-file.ts';
import { ANSWERING, assertRefused, assertTaken, show } from './asked-blocks.ts';
import { startScriptedChat } from './scripted-chat.ts';

const it = await startScriptedChat(FILE);

const SIZES = [
  { id: 's', label: 'Small' },
  { id: 'm', label: 'Medium', disabled: true },
  { id: 'l', label: 'Large' },
  { id: 'xl', label: 'Huge' },
];
const SINGLE = { prompt: 'Which size?', mode: 'single', options: SIZES };
const MULTI = { prompt: 'Which ones?', mode: 'multi', options: SIZES, min: 2, max: 3, other: { label: 'Another' } };
const REPLIES = {
  replies: [
    { id: 'yes', label: 'Yes' },
    { id: 'no', label: 'No' },
  ],
};
const RATING = { prompt: 'How was it?', scale: 5, style: 'stars', comment: true };
const VARIANTS = {
  product_id: 'shirt',
  title: 'Shirt',
  axes: [
    {
      id: 'size',
      label: 'Size',
      display: 'chip',
      options: [
        { id: 's', label: 'S' },
        { id: 'l', label: 'L' },
      ],
    },
    {
      id: 'colour',
      label: 'Colour',
      display: 'swatch',
      options: [
        { id: 'red', label: 'Red' },
        { id: 'blue', label: 'Blue' },
        { id: 'green', label: 'Green', disabled: true },
      ],
    },
  ],
  variants: [
    { id: 'v1', option_ids: ['s', 'red'], available: true },
    { id: 'v2', option_ids: ['s', 'blue'], available: false },
    { id: 'v3', option_ids: ['l', 'blue'], available: true },
    { id: 'v4', option_ids: ['l', 'green'], available: true },
  ],
};
const SLOTS = {
  prompt: 'When?',
  timezone: 'Europe/Madrid',
  days: [
    {
      date: '2026-12-01',
      slots: [
        { id: 'nine', start: '2026-12-01T09:00:00+01:00', available: true },
        { id: 'ten', start: '2026-12-01T10:00:00+01:00', available: false },
      ],
    },
  ],
};

/** What is wrong with a choice, by block: its component, its body, the selection, and what the refusal says. */
const REFUSED: readonly (readonly [what: string, component: string, args: unknown, selection: Record<string, unknown>, says: RegExp])[] = [
  ['an id the choice did not show', 'choice', SINGLE, { ids: ['xxl'] }, /"xxl".*did not show/],
  ['a disabled option', 'choice', SINGLE, { ids: ['m'] }, /"m".*not available/],
  ['two options of a single choice', 'choice', SINGLE, { ids: ['s', 'l'] }, /at most 1/],
  ['nothing', 'choice', SINGLE, { ids: [] }, /at least 1/],
  ['own words where none are asked for', 'choice', SINGLE, { ids: [], other_text: 'Tiny' }, /other_text/],
  ['an option twice', 'choice', MULTI, { ids: ['s', 's'] }, /twice/],
  ['fewer than min', 'choice', MULTI, { ids: ['s'] }, /at least 2/],
  ['more than max, own words counted', 'choice', MULTI, { ids: ['s', 'l', 'xl'], other_text: 'And a tiny one' }, /at most 3/],
  ['blank own words as one of min', 'choice', MULTI, { ids: ['s'], other_text: ' ' }, /at least 2/],
  ['a reply that was not shown', 'quick_replies', REPLIES, { ids: ['maybe'] }, /did not show/],
  ['two replies', 'quick_replies', REPLIES, { ids: ['yes', 'no'] }, /exactly one/],
  ['a score beyond the scale', 'rating', RATING, { ids: ['6'] }, /did not show/],
  ['no score', 'rating', RATING, { ids: [], other_text: 'Nice' }, /exactly one/],
  ['a comment nobody asked for', 'rating', { ...RATING, comment: false }, { ids: ['5'], other_text: 'Nice' }, /other_text/],
  ['one axis of two', 'variant_picker', VARIANTS, { ids: ['s'] }, /one option of each/],
  ['two options of one axis', 'variant_picker', VARIANTS, { ids: ['s', 'l'] }, /one option of each/],
  ['a combination that is sold out', 'variant_picker', VARIANTS, { ids: ['s', 'blue'] }, /not available/],
  ['a combination that does not exist', 'variant_picker', VARIANTS, { ids: ['l', 'red'] }, /not available/],
  ['a disabled option of an available variant', 'variant_picker', VARIANTS, { ids: ['l', 'green'] }, /"green".*not available/],
  ['a slot that is taken', 'datetime_slots', SLOTS, { ids: ['ten'] }, /"ten".*not available/],
  ['a slot that was not shown', 'datetime_slots', SLOTS, { ids: ['noon'] }, /did not show/],
  ['something in tags, which only show', 'tags', { items: [{ id: 'new', label: 'New' }] }, { ids: ['new'] }, /nothing to choose/],
  [
    'something in a form',
    'form',
    { submit_label: 'Send', fields: [{ name: 'a', label: 'A', type: 'text' }] },
    { ids: ['a'] },
    /nothing to choose/,
  ],
];

for (const [what, component, args, selection, says] of REFUSED) {
  test(`BLOCK-14: ${component}: choosing ${what} is invalid_request`, async () => {
    const shown = await show(it, component, args);
    assertRefused(await shown.select(selection), 'selection ', says);
    assert.deepEqual((await shown.stored()).body, shown.block.body, 'the block is as open as before');
  });
}

/** Good choices, and the words that the block's fallback then says of them. */
const TAKEN: readonly (readonly [component: string, args: unknown, selection: Record<string, unknown>, says: RegExp])[] = [
  ['choice', SINGLE, { ids: ['l'] }, /Large/],
  ['choice', MULTI, { ids: ['s'], other_text: 'A tiny one' }, /Small/],
  ['quick_replies', REPLIES, { ids: ['no'] }, /No/],
  ['rating', RATING, { ids: ['4'], other_text: 'Nice' }, /4 of 5/],
  ['variant_picker', VARIANTS, { ids: ['blue', 'l'] }, /Blue, L/],
  ['datetime_slots', SLOTS, { ids: ['nine'] }, /2026-12-01 09:00/],
];

for (const [component, args, selection, says] of TAKEN) {
  test(`BLOCK-13, BLOCK-15: ${component}: a good choice ${JSON.stringify(selection.ids)} is kept with the block and reaches the model`, async () => {
    const shown = await show(it, component, args);
    const { selected_ids: before, ...open } = shown.block.body;
    assert.deepEqual([open.status, before], ['open', undefined]);
    assertTaken(await shown.select(selection));
    const kept = await shown.stored();
    assert.deepEqual(kept.body, { ...open, status: 'answered', selected_ids: selection.ids });
    assert.match(String(kept.fallback_text), says);
    const told = JSON.stringify(it.lastRequest().messages);
    assert.match(told, says, 'the model reads what was chosen');
    if (selection.other_text !== undefined) assert.ok(told.includes(String(selection.other_text)), told);
    assertRefused(await shown.select(selection), 'selection ', /already answered/);
  });
}

test('BLOCK-18: own words that are blank add no block to the message', async () => {
  const shown = await show(it, 'rating', RATING);
  assertTaken(await shown.select({ ids: ['5'], other_text: '' }));
  const said = (await it.stored(shown.conversationId)).filter(({ role }) => role === 'user').at(-1);
  assert.deepEqual(
    said?.blocks.map(({ body }) => body.md),
    ['This one'],
  );
});

test('BLOCK-15: a block stays open while the person says other things, and is answered once', async () => {
  const shown = await show(it, 'choice', SINGLE);
  await it.say('First something else', { ...ANSWERING, conversation_id: shown.conversationId });
  assert.equal((await shown.stored()).body.status, 'open');
  assertTaken(await shown.select({ ids: ['s'] }));
  assertRefused(await shown.select({ ids: ['l'] }), 'selection ', /already answered/);
  assert.deepEqual((await shown.stored()).body.selected_ids, ['s'], 'and the first answer stays');
});

test('BLOCK-16: of several choices at once one is taken, the others are invalid_request', async () => {
  const shown = await show(it, 'choice', SINGLE);
  const answers = await Promise.all(['s', 'l', 'xl', 's'].map((id) => shown.select({ ids: [id] })));
  const taken = answers.filter(({ events }) => events[0]?.type === 'turn.start');
  assert.equal(taken.length, 1);
  for (const answer of answers) if (answer !== taken[0]) assertRefused(answer, 'selection ', /already answered/);
  const messages = await it.stored(shown.conversationId);
  assert.equal(messages.filter(({ role }) => role === 'user').length, 2, 'what was refused is not in the thread');
});

test('BLOCK-17: the retry of a choice shows the same turn again, though its block is answered', async () => {
  const shown = await show(it, 'choice', SINGLE);
  const turn = { turn_id: randomUUID() };
  const first = await shown.select({ ids: ['s'] }, turn);
  assertTaken(first);
  assert.deepEqual((await shown.select({ ids: ['s'] }, turn)).events, first.events);
  assertRefused(await shown.select({ ids: ['l'] }, turn), '', /turn_id/);
});

test('BLOCK-17: a choice whose turn failed is answered by the retry, and by nobody else', async () => {
  const shown = await show(it, 'choice', SINGLE);
  it.script([{ status: 503 }], [{ text: 'Small it is.' }]);
  const turn = { turn_id: randomUUID() };
  assert.equal((await shown.select({ ids: ['s'] }, turn)).events.at(-2)?.code, 'model_busy');
  assertRefused(await shown.select({ ids: ['l'] }), 'selection ', /already answered/);
  assert.equal(spoken((await shown.select({ ids: ['s'] }, turn)).events), 'Small it is.');
});

test('BLOCK-16: a block of another conversation or person is not there to be answered', async () => {
  const shown = await show(it, 'choice', SINGLE);
  const other = await show(it, 'choice', SINGLE);
  assertRefused(await shown.select({ ids: ['s'], block_id: other.block.id }), 'selection.block_id ', /no block of this conversation/);
  assertRefused(await shown.select({ ids: ['s'], block_id: 'blk_0' }), 'selection.block_id ', /no block of this conversation/);
  const stranger = createClient(it.service.baseUrl, it.app.liveKey, 'e'.repeat(32));
  const body = { message: { text: 'Small' }, conversation_id: shown.conversationId };
  const foreign = await stranger.chat({ ...ANSWERING, ...body, selection: { block_id: shown.block.id, ids: ['s'] } });
  assertRefused(foreign, 'selection.block_id ', /no block of this conversation/);
  assert.equal((await shown.stored()).body.status, 'open');
  assertTaken(await shown.select({ ids: ['s'] }));
});

test('BLOCK-19: a picker that is shown again is superseded by the newer one; others, and answered ones, stay as they are', async () => {
  const first = await show(it, 'variant_picker', VARIANTS);
  const { conversationId } = first;
  const more = { ...ANSWERING, conversation_id: conversationId };
  const statuses = async () => {
    const blocks = (await it.stored(conversationId)).flatMap((message) => message.blocks);
    return blocks.filter(({ body }) => body.status !== undefined).map(({ block_type, body }) => [block_type, body.product_id, body.status]);
  };
  it.script([
    { call: 'variant_picker', args: { ...VARIANTS, product_id: 'trousers' } },
    { call: 'datetime_slots', args: SLOTS },
  ]);
  await it.say('And trousers?', more);
  assertTaken(await first.select({ ids: ['s', 'red'] }));
  it.script([
    { call: 'variant_picker', args: VARIANTS },
    { call: 'datetime_slots', args: SLOTS },
  ]);
  await it.say('Show me the shirt again', more);
  const shirt = [
    ['variant_picker', 'shirt', 'answered'],
    ['variant_picker', 'trousers', 'open'],
    ['datetime_slots', undefined, 'superseded'],
    ['variant_picker', 'shirt', 'open'],
    ['datetime_slots', undefined, 'open'],
  ];
  assert.deepEqual(await statuses(), shirt);
  it.script([{ call: 'variant_picker', args: { ...VARIANTS, title: 'The shirt' } }]);
  const again = await it.say('Once more', more);
  assert.deepEqual(
    (await statuses()).map(([, , status]) => status),
    ['answered', 'open', 'superseded', 'superseded', 'open', 'open'],
  );
  const shown = (await it.stored(conversationId)).flatMap(({ blocks }) => blocks).filter(({ body }) => body.product_id === 'shirt');
  const [, replaced, newest] = shown.map(({ id }) => id);
  assertRefused(await first.select({ ids: ['l', 'blue'], block_id: replaced }), 'selection ', /replaced by a newer one/);
  it.script([{ text: 'Thank you.' }]);
  assert.equal(again.events.at(-1)?.status, 'completed');
  assertTaken(await first.select({ ids: ['l', 'blue'], block_id: newest }));
});
