import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import * as v from 'valibot';
import { appSettingsEntries } from '../../../protocol/console/app-settings.ts';
import { createOrganisationBody } from '../../../protocol/console/organisations.ts';
import { Refusal } from '../../../protocol/errors.ts';
import { chatRequest } from '../../../protocol/runtime/chat.ts';
import { manifestRequest } from '../../../protocol/runtime/manifest.ts';
import { turnContext } from '../../../protocol/runtime/turn-context.ts';
import { explain } from '../../../protocol/schema/issues.ts';
import { clip, fits, fitsBytes } from '../../../protocol/schema/text.ts';
import { actionsBody, judgeHttpAction } from '../../../protocol/setup/actions.ts';
import { completeBody } from '../../../protocol/setup/completion.ts';
import { parseEvents } from '../../../protocol/setup/events.ts';
import { knowledgeBody } from '../../../protocol/setup/knowledge.ts';
import { experiencePatch } from '../../../protocol/setup/persona.ts';
import { screensBody } from '../../../protocol/setup/screens.ts';
import { listOf, mapOf } from '../../../protocol/setup/shapes.ts';
import { startBody } from '../../../protocol/setup/start.ts';
import { READ } from '../setup/judging.ts';

/** More than any list of a body may hold. */
const MANY = 1_000;
const wrongItems = Array<null>(MANY).fill(null);
const wrongEntries = Object.fromEntries(Array.from({ length: MANY }, (_, index) => [`k${index}`, {}]));

/** A schema that counts what it is asked about. */
function counting() {
  const seen: unknown[] = [];
  const schema = v.custom<string>((value) => {
    seen.push(value);
    return typeof value === 'string';
  }, 'must be a string');
  return { schema, seen };
}

test('HTTP-7: a list or map with too many entries is refused by their number, none is looked at', () => {
  const { schema, seen } = counting();
  for (const [bounded, value] of [
    [listOf(schema, 1, 2), ['a', 'b', 'c']],
    [mapOf(schema as v.GenericSchema<string, string>, schema, 2), { a: 'a', b: 'b', c: 'c' }],
  ] as const) {
    const { issues } = v.safeParse(bounded as v.GenericSchema, value);
    assert.deepEqual(
      issues?.map(({ message }) => message.replace(/items|entries/, 'of them')),
      [Array.isArray(value) ? 'must hold at most 2 of them' : 'must have at most 2 of them'],
    );
    assert.deepEqual(seen, []);
    v.parse(bounded as v.GenericSchema, Array.isArray(value) ? ['a', 'b'] : { a: 'a' });
    assert.equal(seen.splice(0).length, 2);
  }
});

const CLIENT = { protocol: 1, sdk: 'web/1.0.0', catalog_version: '2026-11.a', components: [] };
const chat = (change: object) => [chatRequest, { message: { text: 'Hello' }, client: CLIENT, ...change }] as const;
const manifest = (change: object) => [manifestRequest, { sdk: 'web/1.0.0', manifest: { version: '1', actions: [], ...change } }] as const;
const ACTION = { name: 'list_orders', description: 'Lists orders.' };
const SCREEN = { name: 'order', title: 'Order', description: 'One order.' };

/** By the field that holds too much: schema and body. */
const BODIES: Readonly<Record<string, readonly [schema: v.GenericSchema, body: unknown]>> = {
  items: [knowledgeBody, { items: wrongItems }],
  'items ': [actionsBody, { items: wrongItems }],
  languages: [experiencePatch, { languages: wrongItems }],
  topics: [experiencePatch, { topics: wrongItems }],
  suggestions: [experiencePatch, { suggestions: wrongItems }],
  screens: [screensBody, { screens: wrongItems }],
  archive: [screensBody, { archive: wrongItems }],
  'screens[0].params': [screensBody, { screens: [{ ...SCREEN, params: wrongEntries }] }],
  'screens[0].params.a.fromActions': [
    screensBody,
    { screens: [{ ...SCREEN, params: { a: { type: 'string', fromActions: wrongItems } } }] },
  ],
  'detected.locales': [startBody, { tool: 'codex', detected: { locales: wrongItems } }],
  'detected.fonts': [startBody, { tool: 'codex', detected: { fonts: wrongItems } }],
  files_changed: [completeBody, { summary: 's', files_changed: wrongItems }],
  human_todos: [completeBody, { summary: 's', human_todos: wrongItems }],
  tool_results: chat({ message: undefined, conversation_id: 'cnv_1', tool_results: wrongItems }),
  attachments: chat({ attachments: wrongItems }),
  'selection.ids': chat({ selection: { block_id: 'b', ids: wrongItems } }),
  'client.components': chat({ client: { ...CLIENT, components: wrongItems } }),
  'client.capabilities': chat({ client: { ...CLIENT, capabilities: wrongItems } }),
  'client.action_kinds': chat({ client: { ...CLIENT, action_kinds: wrongItems } }),
  open_forms: [turnContext, { open_forms: wrongItems }],
  'open_forms[0].values': [turnContext, { open_forms: [{ form_id: 'f', values: wrongEntries }] }],
  'open_forms[0].values.a': [turnContext, { open_forms: [{ form_id: 'f', values: { a: wrongItems } }] }],
  'current_screen.params': [turnContext, { current_screen: { name: 's', params: wrongEntries } }],
  'manifest.actions': manifest({ actions: wrongItems }),
  'manifest.routes': manifest({ routes: wrongItems }),
  'manifest.routes[0].params': manifest({ routes: [{ ...SCREEN, params: wrongEntries }] }),
  'manifest.actions[0].params': manifest({ actions: [{ ...ACTION, params: wrongEntries }] }),
  'manifest.actions[0].params.a.enum': manifest({ actions: [{ ...ACTION, params: { a: { type: 'string', enum: wrongItems } } }] }),
  'manifest.actions[0].confirm_template': manifest({ actions: [{ ...ACTION, confirm_template: wrongEntries }] }),
  'manifest.actions[0].confirm_labels': manifest({ actions: [{ ...ACTION, confirm_labels: wrongEntries }] }),
  members: [createOrganisationBody, { name: 'Acme', members: wrongItems }],
  allowed_domains: [v.strictObject(appSettingsEntries), { allowed_domains: wrongItems }],
  'intake.links': [v.strictObject(appSettingsEntries), { intake: { links: wrongItems } }],
  min_sdk: [v.strictObject(appSettingsEntries), { min_sdk: wrongEntries }],
};

for (const [field, [schema, body]] of Object.entries(BODIES)) {
  test(`HTTP-7: ${MANY} wrong entries of ${field.trim()} are one fault, which names the field and the bound`, () => {
    const { issues } = v.safeParse(schema, body);
    assert.ok(issues);
    assert.equal(issues.length, 1);
    const [fault] = explain(issues);
    assert.equal(fault?.path, field.trim());
    assert.match(fault?.message ?? '', /at most \d+/);
  });
}

test('HTTP-7: a thousand wrong events are one fault, in a list and in a report', () => {
  for (const [body, path] of [
    [wrongItems, ''],
    [{ events: wrongItems }, 'events'],
  ] as const) {
    assert.throws(
      () => parseEvents(body),
      (error) => error instanceof Refusal && error.details?.length === 1 && error.details[0]?.path === path,
    );
  }
});

test('HTTP-7: lists longer than an action may hold are not looked into; the item alone is refused, by their number', () => {
  for (const [field, change] of [
    ['params', { params: wrongItems }],
    ['result_fields', { result_fields: wrongItems }],
    ['params[0].enum', { params: [{ name: 'id', enum: wrongItems }] }],
    ['params[0].example', { params: [{ name: 'id', type: 'array', example: wrongItems }] }],
  ] as const) {
    const { items } = v.parse(actionsBody, { items: [{ ...READ, ...change }] });
    const [item] = items;
    assert.ok(item);
    const judged = judgeHttpAction(item, 'production');
    assert.match(
      judged.form === 'refused' ? judged.error : '',
      new RegExp(`^${field.replaceAll(/[[\].]/g, '\\$&')} must [^;]*at most \\d+ [^;]*$`),
    );
  }
  const { items } = v.parse(actionsBody, { items: [{ ...READ, params: [], op: 'archive' }] });
  assert.equal(items[0]?.op, 'archive');
  assert.equal(v.is(actionsBody, { items: [{ ...READ, params: [null] }] }), false, 'a list of the right length is checked');
});

test('CHAT-3, SETUP-31: bytes are those of UTF-8 and characters those of Unicode, up to the bound and not beyond', () => {
  const words = fc.oneof(fc.string({ unit: 'binary', maxLength: 30 }), fc.stringMatching(/^[\x7f\x80\u07ff\u0800\ud7ff\ue000😀]{1,30}$/u));
  fc.assert(
    fc.property(words, (text) => {
      const [bytes, characters] = [Buffer.byteLength(text), [...text].length];
      assert.deepEqual([fitsBytes(text, bytes), fitsBytes(text, bytes - 1)], [true, false]);
      assert.deepEqual([fits(text, characters), fits(text, characters - 1)], [true, false]);
      assert.equal(clip(text, characters), text);
      if (characters > 1) assert.equal(clip(text, characters - 1), `${[...text].slice(0, -2).join('')}…`);
    }),
  );
});
