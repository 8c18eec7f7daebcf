/** Payload caps: each at its exact edge, n is taken and n + 1 refused, over HTTP. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, createClient, HANDSHAKE } from '../../support/client.ts';
import { FILE } from '../../support/whole-file.ts';
import { startScriptedChat } from './scripted-chat.ts';

const it = await startScriptedChat(FILE);
it.script(...Array.from({ length: 200 }, () => [{ text: 'Fine.' }]));

const times = <T>(count: number, item: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => item(n));
const chars = (count: number) => 'x'.repeat(count);
/** JSON of exactly so many bytes. */
const bytes = (count: number) => chars(count - 2);

let devices = 0;
const post = (path: string, body: unknown): Promise<Answer> =>
  createClient(it.service.baseUrl, it.app.liveKey, (++devices).toString(16).padStart(32, '0')).send('POST', path, body);
const chat = (body: Record<string, unknown>) => post('/v1/chat', { client: HANDSHAKE, ...body });
const said = (more: Record<string, unknown>) => chat({ message: { text: 'Hi' }, ...more });
const result = (more: Record<string, unknown> = {}) => ({ invocation_id: 'inv_0', status: 'ok', ...more });
const results = (list: unknown[]) => chat({ conversation_id: 'cnv_0', tool_results: list });
const register = (document: Record<string, unknown>) =>
  post('/v1/apps/manifest', { manifest: { version: '1', actions: [], ...document }, sdk: 'web/0.50.0' });
const action = (more: Record<string, unknown>) => register({ actions: [{ name: 'act', description: 'Acts.', ...more }] });
const named = (count: number, item: object) => times(count, (n) => ({ ...item, name: `name_${n}` }));
const map = (count: number, value: unknown) => Object.fromEntries(times(count, (n) => [`n${n}`, value]));

/** What is capped, its limit, a request of that size, and the field that a refusal names. */
const CAPS: readonly (readonly [item: string, limit: number, send: (size: number) => Promise<Answer>, field: string])[] = [
  ['action result payload, bytes', 16 * 1024, (n) => results([result({ result: bytes(n) })]), 'tool_results[0].result'],
  ['manifest actions', 100, (n) => register({ actions: named(n, { description: 'Acts.' }) }), 'manifest.actions'],
  ['action timeoutMs', 120_000, (n) => action({ timeoutMs: n }), 'manifest.actions[0].timeoutMs'],
  ['tool_results per continuation', 10, (n) => results(times(n, () => result())), 'tool_results'],
  ['feedback reason', 500, (n) => post('/v1/feedback', { message_id: 'msg_0', rating: 1, reason: chars(n) }), 'reason'],
  ['rating comment', 500, (n) => post('/v1/ratings', { message_id: 'msg_0', block_id: 'b', value: 1, comment: chars(n) }), 'comment'],
  ['message text', 4_000, (n) => chat({ message: { text: chars(n) } }), 'message.text'],
  ['attachments per turn', 4, (n) => said({ attachments: times(n, (at) => ({ upload_id: `upl_${at}` })) }), 'attachments'],
  ['selection ids', 24, (n) => said({ selection: { block_id: 'b', ids: times(n, String) } }), 'selection.ids'],
  ['selection other_text', 300, (n) => said({ selection: { block_id: 'b', ids: [], other_text: chars(n) } }), 'selection.other_text'],
  [
    'form list value, strings',
    100,
    (n) => chat({ conversation_id: 'cnv_0', form_submission: { form_id: 'b', values: { list: times(n, () => 'a') } } }),
    'form_submission.values.list',
  ],
  [
    'form list value, characters of a string',
    500,
    (n) => chat({ conversation_id: 'cnv_0', form_submission: { form_id: 'b', values: { list: [chars(n)] } } }),
    'form_submission.values.list[0]',
  ],
  ['manifest routes', 50, (n) => register({ routes: named(n, { title: 'Screen' }) }), 'manifest.routes'],
  [
    'parameters of a manifest route',
    8,
    (n) => register({ routes: [{ name: 'home', title: 'Home', params: map(n, { type: 'string' }) }] }),
    'manifest.routes[0].params',
  ],
  [
    'confirmation template locales',
    16,
    (n) => action({ risk: 'write', confirm_template: map(n, 'Do it?') }),
    'manifest.actions[0].confirm_template',
  ],
  [
    'handshake components',
    96,
    (n) => said({ client: { ...HANDSHAKE, components: ['text', ...times(n - 1, (at) => `later_${at}`)] } }),
    'client.components',
  ],
  ['identify external_user_id', 128, (n) => post('/v1/identify', { external_user_id: chars(n) }), 'external_user_id'],
];

for (const [item, limit, send, field] of CAPS) {
  test(`LIMIT-35, CHAT-2, CHAT-3, CHAT-4, ACTION-3, MANIFEST-2, FEEDBACK-2, PERSON-11: ${item}: ${limit} is taken, ${limit + 1} is 400 naming ${field}`, async () => {
    const taken = await send(limit);
    assert.notEqual(taken.status, 400, taken.text);
    assert.ok(taken.status < 500, taken.text);
    const refused = await send(limit + 1);
    assert.equal(refused.status, 400, refused.text);
    const { error } = refused.json as { error: { code: string; details: readonly { path: string }[] } };
    assert.deepEqual([error.code, error.details[0]?.path], ['invalid_request', field]);
  });
}
