/** Filling in a form. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createClient } from '../../support/client.ts';
import { FILE } from '../../support/whole-file.ts';
import { ANSWERING, assertRefused, assertTaken, show } from './asked-blocks.ts';
import { startScriptedChat } from './scripted-chat.ts';

const it = await startScriptedChat(FILE);

type Field = Readonly<Record<string, unknown>> & { readonly type: string };

const formOf = (...fields: readonly Field[]) => ({
  title: 'Your order',
  submit_label: 'Send',
  fields: fields.map((field, n) => ({ name: `f${n}`, label: `Field ${n}`, ...field })),
});

/** A field, values that it does not take with what is said of them, and values that it does. */
const FIELDS: readonly (readonly [Field, refused: readonly (readonly [unknown, RegExp])[], taken: readonly unknown[]])[] = [
  [
    { type: 'text', min: 2, max: 5 },
    [
      [7, /string/],
      [true, /string/],
      [['ab'], /string/],
      ['a', /at least 2/],
      ['abcdef', /at most 5/],
    ],
    ['ab', '😀😀😀😀😀'],
  ],
  [{ type: 'text' }, [['x'.repeat(501), /at most 500/]], ['x'.repeat(500)]],
  [{ type: 'long_text' }, [[1, /string/]], ['x'.repeat(4_000)]],
  [
    { type: 'number', min: -1, max: 9.5 },
    [
      ['7', /number/],
      [-2, /at least -1/],
      [10, /at most 9.5/],
      [['1'], /number/],
    ],
    [-1, 9.5],
  ],
  [
    { type: 'boolean', required: true },
    [
      ['yes', /true or false/],
      [1, /true or false/],
    ],
    [false, true],
  ],
  [
    { type: 'date', min: '2026-01-01', max: '2026-12-31' },
    [
      ['tomorrow', /date/],
      ['2026-02-30', /date/],
      ['2025-12-31', /at least 2026-01-01/],
      ['2027-01-01', /at most 2026-12-31/],
    ],
    ['2026-01-01', '2026-12-31'],
  ],
  [
    { type: 'email' },
    [
      ['ada', /e-mail/],
      ['a b@example.com', /e-mail/],
      [1, /string/],
    ],
    ['ada@example.com'],
  ],
  [
    { type: 'phone' },
    [
      ['call me', /phone/],
      [112, /string/],
    ],
    ['+34 91 123 45 67'],
  ],
  [
    { type: 'select', options: ['Red', 'Blue'] },
    [
      ['Green', /option/],
      [['Red'], /string/],
    ],
    ['Blue'],
  ],
  [
    { type: 'multi_select', options: ['Red', 'Blue', 'Green'], min: 2, max: 2 },
    [
      ['Red', /list/],
      [['Red', 'Red'], /list options/],
      [['Red', 'Pink'], /options of this field/],
      [['Red'], /at least 2/],
      [['Red', 'Blue', 'Green'], /at most 2/],
    ],
    [['Green', 'Red']],
  ],
];

for (const [field, refused, taken] of FIELDS) {
  test(`BLOCK-20: a bad value of ${JSON.stringify(field)} is invalid_request naming the field`, async () => {
    const shown = await show(it, 'form', formOf(field));
    for (const [value, says] of refused) assertRefused(await shown.submit({ f0: value }), 'form_submission.values.f0 ', says);
    assert.equal((await shown.stored()).body.status, 'open');
  });

  test(`BLOCK-20: a good value of ${JSON.stringify(field)} is taken and told to the model`, async () => {
    for (const value of taken) {
      const shown = await show(it, 'form', formOf(field));
      assertTaken(await shown.submit({ f0: value }));
      const told = it.lastRequest().messages.at(-1)?.content ?? '';
      assert.ok(told.startsWith('- f0: '), told.slice(0, 100));
      // Addresses and numbers of a person's reach the model as placeholders.
      if (field.type !== 'email' && field.type !== 'phone')
        assert.ok(told.includes(Array.isArray(value) ? value.join(', ') : String(value)));
    }
  });
}

test('BLOCK-20: every wrong field is named, required ones, unknown ones, twelve at most', async () => {
  const fields = Array.from({ length: 12 }, () => ({ type: 'number', required: true }));
  const shown = await show(it, 'form', formOf(...fields));
  const { events } = await shown.submit({ f0: 'seven', later: 1 });
  assert.equal(events[0]?.code, 'invalid_request');
  const details = events[0]?.details as readonly { path: string; message: string }[];
  assert.equal(details.length, 12);
  const said = Object.fromEntries(details.map(({ path, message }) => [path.replace('form_submission.values.', ''), message]));
  assert.match(said.f0 ?? '', /number/);
  assert.match(said.f1 ?? '', /required/);
  assert.match(said.later ?? '', /not a field of this form/);
});

test('BLOCK-21: what is not required may be left out, empty or blank; what is may not', async () => {
  const optional = { type: 'text', min: 3 };
  const required = { type: 'multi_select', options: ['Red'], required: true };
  const shown = await show(it, 'form', formOf(optional, required));
  for (const nothing of [{}, { f1: [] }]) assertRefused(await shown.submit(nothing), 'form_submission.values.f1 ', /required/);
  assertTaken(await shown.submit({ f0: ' ', f1: ['Red'] }));
});

test('BLOCK-21: a form that asks for nothing may be sent empty, and says so in the thread', async () => {
  const shown = await show(it, 'form', formOf({ type: 'text' }));
  assertTaken(await shown.submit({}));
  const said = (await it.stored(shown.conversationId)).filter(({ role }) => role === 'user').at(-1);
  assert.notEqual(String(said?.blocks[0]?.body.md).trim(), '');
});

test('BLOCK-22: a submission answers the form once; it stays answered in history and the retry shows the same turn', async () => {
  const shown = await show(it, 'form', formOf({ type: 'text' }));
  const turn = { turn_id: randomUUID() };
  const first = await shown.submit({ f0: 'Bonn' }, turn);
  assertTaken(first);
  assertRefused(await shown.submit({ f0: 'Köln' }), 'form_submission ', /not open/);
  assert.deepEqual((await shown.submit({ f0: 'Bonn' }, turn)).events, first.events);
  const kept = await shown.stored();
  assert.deepEqual([kept.body.status, kept.body.form_id], ['answered', shown.block.id]);
});

test('BLOCK-16: of several submissions at once one is taken, the others are invalid_request', async () => {
  const shown = await show(it, 'form', formOf({ type: 'text' }));
  const answers = await Promise.all(['Bonn', 'Köln', 'Aachen'].map((city) => shown.submit({ f0: city })));
  assert.equal(answers.filter(({ events }) => events[0]?.type === 'turn.start').length, 1);
  for (const answer of answers.filter(({ events }) => events[0]?.type !== 'turn.start'))
    assertRefused(answer, 'form_submission ', /not open/);
});

test('BLOCK-16: a block that is no form, of another conversation, or of nobody is refused', async () => {
  const other = await show(it, 'form', formOf({ type: 'text' }));
  const shown = await show(it, 'quick_replies', { replies: [{ id: 'yes', label: 'Yes' }] });
  assertRefused(await shown.submit({}), 'form_submission.form_id ', /no form/);
  const to = (form_id: string) => shown.submit({}, { form_submission: { form_id, values: {} } });
  for (const id of [other.block.id, 'blk_0']) assertRefused(await to(id), 'form_submission.form_id ', /no block of this conversation/);
  const stranger = createClient(it.service.baseUrl, it.app.liveKey, 'e'.repeat(32));
  const values = { f0: 'Bonn' };
  const foreign = { ...ANSWERING, conversation_id: other.conversationId, form_submission: { form_id: other.block.id, values } };
  assertRefused(await stranger.chat(foreign), 'conversation_id ');
  assertTaken(await other.submit(values));
});

test('BLOCK-23, CHAT-3: three open forms in context reach the model, four are left out', async () => {
  const forms = (count: number) => ({
    context: { open_forms: Array.from({ length: count }, (_, n) => ({ form_id: `form_${n}`, values: { city: `City ${n}` } })) },
  });
  it.script([{ text: 'Go on.' }], [{ text: 'Go on.' }]);
  assertTaken(await it.say('Is this right?', { ...ANSWERING, ...forms(4) }));
  assert.doesNotMatch(JSON.stringify(it.lastRequest().messages), /City 0/);
  assertTaken(await it.say('Is this right?', { ...ANSWERING, ...forms(3) }));
  const told = JSON.stringify(it.lastRequest().messages);
  for (const n of [0, 1, 2]) assert.ok(told.includes(`City ${n}`), told);
});
