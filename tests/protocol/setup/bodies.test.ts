import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { actionKeyBody, openSessionBody, rejectProposalBody } from '../../../protocol/console/sessions.ts';
import { Refusal } from '../../../protocol/errors.ts';
import { explain } from '../../../protocol/schema/issues.ts';
import { completeBody, failBody } from '../../../protocol/setup/completion.ts';
import { detected, mergeDetected } from '../../../protocol/setup/detected.ts';
import { parseEvents } from '../../../protocol/setup/events.ts';
import { screensBody } from '../../../protocol/setup/screens.ts';
import { startBody } from '../../../protocol/setup/start.ts';

/** Path of the first thing wrong; undefined when nothing is. */
function wrong(schema: v.GenericSchema, body: unknown): string | undefined {
  const result = v.safeParse(schema, body);
  return result.success ? undefined : explain(result.issues)[0]?.path;
}

function wrongEvent(body: unknown): [string, string] | undefined {
  try {
    parseEvents(body);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error));
    assert.equal(error.status, 400);
    return [error.code, error.details?.[0]?.path ?? ''];
  }
}

const EVENT = { step: 'discover', status: 'started' };

test('SETUP-46: tool is required, known or of the caller, model at most 80 and os at most 40 characters', () => {
  for (const tool of ['claude_code', 'cursor', 'codex', 'windsurf', 'copilot', 'gemini', 'My Agent', 'x'.repeat(40)]) {
    assert.equal(wrong(startBody, { tool }), undefined, tool);
  }
  for (const body of [{}, { tool: '' }, { tool: ' ' }, { tool: 'x'.repeat(41) }, { tool: 1 }]) assert.equal(wrong(startBody, body), 'tool');
  assert.equal(wrong(startBody, { tool: 'codex', model: 'x'.repeat(81) }), 'model');
  assert.equal(wrong(startBody, { tool: 'codex', os: 'x'.repeat(41) }), 'os');
  assert.equal(wrong(startBody, { tool: 'codex', version: '1' }), 'version');
  assert.equal(wrong(startBody, { tool: 'codex', detected: { router: 'app', nodes: 1 } }), 'detected.nodes');
  assert.equal(wrong(startBody, []), '');
});

test('SETUP-59, SETUP-49: every field of a discovery report may be left out; bounds of lists and counts', () => {
  assert.equal(wrong(detected, {}), undefined);
  assert.equal(wrong(detected, { locales: Array(40).fill('en'), fonts: Array(10).fill('Inter'), screens: 0, darkTheme: false }), undefined);
  assert.equal(wrong(detected, { locales: Array(41).fill('en') }), 'locales');
  assert.equal(wrong(detected, { fonts: Array(11).fill('Inter') }), 'fonts');
  assert.equal(wrong(detected, { screens: -1 }), 'screens');
  assert.equal(wrong(detected, { apiCalls: 1.5 }), 'apiCalls');
  assert.equal(wrong(detected, { framework: 'x'.repeat(201) }), 'framework');
});

test('SETUP-49: a discovery report is merged field by field, a list replaces the list before it', () => {
  const before = mergeDetected(null, { framework: 'Next', locales: ['en', 'de'], screens: 3 });
  assert.deepEqual(mergeDetected(before, { locales: ['fr'], darkTheme: true }), {
    framework: 'Next',
    locales: ['fr'],
    screens: 3,
    darkTheme: true,
  });
  assert.deepEqual(mergeDetected(before, {}), before);
});

test('SETUP-47: one event, a list, or a list with a discovery report', () => {
  assert.deepEqual(parseEvents(EVENT), { events: [EVENT], detected: undefined });
  assert.deepEqual(parseEvents([EVENT, EVENT]), { events: [EVENT, EVENT], detected: undefined });
  assert.deepEqual(parseEvents({ events: [EVENT], detected: { screens: 2 } }), { events: [EVENT], detected: { screens: 2 } });
});

test('SETUP-26: a refusal names the field as the form has it', () => {
  const long = { ...EVENT, title: 'x'.repeat(121) };
  assert.deepEqual(wrongEvent(long), ['invalid_body', 'title']);
  assert.deepEqual(wrongEvent([EVENT, EVENT, EVENT, long]), ['invalid_body', '[3].title']);
  assert.deepEqual(wrongEvent({ events: [EVENT, long] }), ['invalid_body', 'events[1].title']);
  assert.deepEqual(wrongEvent({ events: [EVENT], step: 'test' }), ['invalid_body', 'step']);
  assert.deepEqual(wrongEvent({ events: [EVENT], detected: { screens: '2' } }), ['invalid_body', 'detected.screens']);
  assert.deepEqual(wrongEvent(null), ['invalid_body', '']);
  assert.deepEqual(wrongEvent('done'), ['invalid_body', '']);
});

test('SETUP-47: 1 to 50 events a request; none beside a discovery report', () => {
  assert.equal(wrongEvent(Array(50).fill(EVENT)), undefined);
  assert.deepEqual(wrongEvent(Array(51).fill(EVENT)), ['invalid_body', '']);
  assert.deepEqual(wrongEvent([]), ['invalid_body', '']);
  assert.equal(wrongEvent({ events: [], detected: { platform: 'web' } }), undefined);
  assert.equal(wrongEvent({ events: [] }), undefined);
  assert.deepEqual(wrongEvent({ events: Array(51).fill(EVENT) }), ['invalid_body', 'events']);
});

test('STEP-6, SETUP-48: any step but waiting and connected; title, detail and data are bounded', () => {
  for (const step of ['waiting', 'connected', 'deploy']) assert.deepEqual(wrongEvent({ ...EVENT, step }), ['invalid_body', 'step']);
  for (const step of ['verify', 'test', 'done']) assert.equal(wrongEvent({ ...EVENT, step, status: 'done' }), undefined);
  assert.deepEqual(wrongEvent({ ...EVENT, status: 'active' }), ['invalid_body', 'status']);
  assert.deepEqual(wrongEvent({ ...EVENT, detail: 'x'.repeat(2_001) }), ['invalid_body', 'detail']);
  // `{"a":"…"}` is eight characters around the text.
  assert.equal(wrongEvent({ ...EVENT, data: { a: '😀'.repeat(7_992) } }), undefined);
  assert.deepEqual(wrongEvent({ ...EVENT, data: { a: 'x'.repeat(7_993) } }), ['invalid_body', 'data']);
  assert.deepEqual(wrongEvent({ ...EVENT, data: [] }), ['invalid_body', 'data']);
  const { events } = parseEvents({ ...EVENT, data: { constructor: 1 } });
  assert.deepEqual(events[0]?.data, { constructor: 1 }, 'names that JavaScript knows are kept');
});

test('SCREEN-3: 50 declared and 50 archived, empty lists are fine', () => {
  const screen = { name: 'order_detail', title: 'Order', description: 'One order.' };
  assert.equal(wrong(screensBody, { screens: Array(50).fill(screen), archive: Array(50).fill({ name: 'old' }) }), undefined);
  assert.equal(wrong(screensBody, { archive: [{ name: 'old', reason: 'gone' }] }), undefined);
  assert.equal(wrong(screensBody, { screens: Array(51).fill(screen) }), 'screens');
  assert.equal(wrong(screensBody, { archive: Array(51).fill({ name: 'old' }) }), 'archive');
  for (const body of [{}, { screens: [] }, { screens: [], archive: [] }]) assert.equal(wrong(screensBody, body), undefined);
});

test("SCREEN-3, SCREEN-6: bounds of a screen's fields, params by name", () => {
  const base = { name: 'order_detail', title: 'Order', description: 'One order.' };
  const of = (change: object) => wrong(screensBody, { screens: [{ ...base, ...change }] });
  const param = { type: 'string', required: true, fromActions: ['list_orders'] };
  assert.equal(of({ params: { orderId: param }, file: 'app/order.tsx', deep_link: 'shop://orders/{orderId}' }), undefined);
  assert.equal(of({ name: 'OrderDetail' }), 'screens[0].name');
  assert.equal(of({ title: 'x'.repeat(61) }), 'screens[0].title');
  assert.equal(of({ description: '' }), 'screens[0].description');
  assert.equal(of({ route: '/' }), 'screens[0].route');
  assert.equal(of({ file: 'x'.repeat(301) }), 'screens[0].file');
  assert.equal(of({ deep_link: 'x'.repeat(501) }), 'screens[0].deep_link');
  assert.equal(of({ params: { 'a-b': param } }), 'screens[0].params.a-b');
  assert.equal(of({ params: { a: { type: 'object' } } }), 'screens[0].params.a.type');
  assert.equal(of({ params: { a: { ...param, fromActions: ['List'] } } }), 'screens[0].params.a.fromActions[0]');
  assert.equal(of({ params: { a: { ...param, fromActions: ['x', 'x'] } } }), 'screens[0].params.a.fromActions');
  const many = (count: number) => ({ params: { a: { ...param, fromActions: Array.from({ length: count }, (_, at) => `action_${at}`) } } });
  assert.deepEqual([of(many(10)), of(many(11))], [undefined, 'screens[0].params.a.fromActions']);
  assert.equal(of({ params: { constructor: param } }), 'screens[0].params');
  assert.equal(of({ params: Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`p${index}`, param])) }), 'screens[0].params');
});

test('SETUP-51, SETUP-53: bounds of summary, lists, reason and step', () => {
  assert.equal(
    wrong(completeBody, { summary: '😀'.repeat(20_000), files_changed: Array(500).fill('a'), human_todos: Array(50).fill('b') }),
    undefined,
  );
  for (const summary of [undefined, '', ' \n', 'x'.repeat(20_001)]) assert.equal(wrong(completeBody, { summary }), 'summary');
  assert.equal(wrong(completeBody, { summary: 's', files_changed: Array(501).fill('a') }), 'files_changed');
  assert.equal(wrong(completeBody, { summary: 's', human_todos: Array(51).fill('a') }), 'human_todos');
  assert.equal(wrong(completeBody, { summary: 's', human_todos: ['x'.repeat(501)] }), 'human_todos[0]');
  assert.equal(wrong(failBody, { reason: 'x'.repeat(2_000), step: 'install' }), undefined);
  assert.equal(wrong(failBody, { reason: 'x'.repeat(2_001) }), 'reason');
  for (const step of ['waiting', 'connected', 'other']) assert.equal(wrong(failBody, { reason: 'r', step }), 'step');
});

test('CONSOLE-6: session kinds, the reason of a rejection, a shared key without control characters', () => {
  assert.equal(wrong(openSessionBody, { kind: 'sync' }), undefined);
  assert.equal(wrong(openSessionBody, { kind: 'demo' }), 'kind');
  assert.equal(wrong(rejectProposalBody, {}), undefined);
  assert.equal(wrong(rejectProposalBody, { reason: 'x'.repeat(1_001) }), 'reason');
  assert.equal(wrong(actionKeyBody, { value: 'x'.repeat(4_000) }), undefined);
  for (const value of ['', ' ', 'x'.repeat(4_001), 'a\nb', 'a\u0000', '\u0085', 'a\tb'])
    assert.equal(wrong(actionKeyBody, { value }), 'value');
});
