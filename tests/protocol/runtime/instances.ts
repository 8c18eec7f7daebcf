/** Arbitraries of valid request bodies of the runtime interface, made from the specification's tables and not from the schemas. */
import fc from 'fast-check';
import type { RuntimeBody } from '../../../protocol/runtime/schemas.ts';

type Arb = fc.Arbitrary<unknown>;

/** Text of 1 to `max` code points. */
const text = (max: number): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.string({ unit: 'binary', minLength: 0, maxLength: Math.min(max, 30) - 1 }).map((words) => `w${words}`) },
    { weight: 1, arbitrary: fc.constantFrom('x'.repeat(max), '😀'.repeat(max)) },
  );
/** Any of `optional` may be left out. */
const object = (required: Record<string, Arb>, optional: Record<string, Arb> = {}): Arb =>
  fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) });
const list = (item: Arb, min: number, max: number) => fc.array(item, { minLength: min, maxLength: max, size: 'xsmall' });
const map = (name: fc.Arbitrary<string>, value: Arb, max: number) => fc.dictionary(name, value, { maxKeys: max, size: 'xsmall' });
const nullable = (arbitrary: Arb): Arb => fc.oneof({ weight: 1, arbitrary: fc.constant(null) }, { weight: 4, arbitrary });
const snake = fc.stringMatching(/^[a-z]{1,8}(_[a-z0-9]{1,6}){0,2}$/);
const name = fc.stringMatching(/^[a-z][A-Za-z0-9]{1,12}$/);
const id = fc.oneof(text(64), fc.constant('inv_0123456789abcdefghjkmnpq'));
const anyJson = fc.jsonValue({ maxDepth: 2 }) as Arb;
const flag = fc.boolean();

const formValue = fc.oneof(text(500), fc.double({ noNaN: true, noDefaultInfinity: true }), flag, list(text(500), 0, 100));
const values = map(text(64), formValue, 12);
const names = list(snake, 0, 32);

const handshake = object(
  {
    protocol: fc.constant(1),
    sdk: fc.constantFrom('web/0.50.0', 'flutter/1.2.3-beta.1', 'ios/0.0.1+5'),
    catalog_version: fc.constantFrom('2026-11.a', '2027-01.b'),
    components: list(fc.oneof(snake, fc.constantFrom('choice@1', 'later@9999')), 0, 96),
  },
  {
    manifest_hash: nullable(fc.stringMatching(/^[0-9a-f]{64}$/)),
    locale: nullable(fc.constantFrom('de', 'pt-BR')),
    capabilities: names,
    action_kinds: names,
  },
);
const screen = object({ name: text(64) }, { title: text(120), params: map(name, fc.oneof(text(500), fc.integer(), flag), 8) });
const context = object(
  {},
  { app_state: anyJson, current_screen: nullable(screen), open_forms: list(object({ form_id: id, values }), 0, 3) },
);
const toolResult = object(
  { invocation_id: id, status: fc.constantFrom('ok', 'error', 'declined', 'timeout', 'unavailable') },
  { result: anyJson, error: text(500), confirmed: flag },
);
const anyTurn = {
  turn_id: nullable(fc.uuid()),
  user: nullable(object({ id: text(128) }, { hmac: nullable(fc.stringMatching(/^[0-9a-f]{64}$/)) })),
  context,
};
const message = object({ text: text(4_000) });
const chat = fc.oneof(
  object(
    { client: handshake, message },
    {
      ...anyTurn,
      conversation_id: nullable(id),
      selection: object({ block_id: id, ids: list(id, 0, 24) }, { other_text: text(300) }),
      attachments: list(object({ upload_id: id }), 0, 4),
    },
  ),
  object({ client: handshake, conversation_id: id, form_submission: object({ form_id: id, values }) }, anyTurn),
  object({ client: handshake, conversation_id: id, tool_results: list(toolResult, 1, 10) }, anyTurn),
);

const typed = fc.oneof(
  object({ type: fc.constant('string') }, { enum: list(text(500), 1, 50) }),
  object({ type: fc.constant('number') }, { enum: list(fc.integer(), 1, 50) }),
  object({ type: fc.constant('boolean') }, { enum: fc.constant([true]) }),
  object({ type: fc.constant('array'), items: fc.constant('number') }, { enum: list(fc.integer(), 1, 50) }),
  object({ type: fc.constant('array') }, { enum: list(text(500), 1, 50) }),
) as fc.Arbitrary<object>;
const param = fc
  .tuple(typed, object({}, { description: text(500), required: flag, editable: flag }) as fc.Arbitrary<object>)
  .map(([type, more]) => ({ ...type, ...more }));
const locale = fc.constantFrom('en', 'de', 'pt-BR');
const sentence = text(300).map((words) => words.replaceAll(/[{}]/g, 'x'));
const templates = fc.oneof(sentence, fc.dictionary(locale, sentence, { minKeys: 1 }));
const labels = map(locale, object({ confirm: text(24), cancel: text(24) }), 16);
const actionFields = { params: map(name, param, 20), timeoutMs: fc.integer({ min: 1_000, max: 120_000 }) };
const written = { confirm_labels: labels, type_to_confirm: text(60) };
const action = (its: string) =>
  fc.oneof(
    object(
      { name: fc.constant(its), description: text(500) },
      { ...actionFields, ...written, risk: fc.constant('read'), confirm_template: templates },
    ),
    object(
      { name: fc.constant(its), description: text(500), risk: fc.constantFrom('write', 'destructive'), confirm_template: templates },
      { ...actionFields, ...written },
    ),
  );
const actions = fc.uniqueArray(snake, { maxLength: 4 }).chain((all) => fc.tuple(...all.map(action)));
const route = (its: string) => object({ name: fc.constant(its), title: text(60) }, { description: text(300), params: map(name, param, 8) });
const routes = fc.uniqueArray(snake, { maxLength: 3 }).chain((all) => fc.tuple(...all.map(route)));
const manifest = object({ manifest: object({ version: text(64), actions }, { routes }), sdk: text(64) });

export const VALID_BODIES: Readonly<Record<RuntimeBody, Arb>> = {
  chat,
  manifest,
  identify: object(
    { external_user_id: text(128) },
    { traits: nullable(map(name, anyJson, 5)), user_hmac: nullable(fc.stringMatching(/^[0-9a-f]{64}$/)) },
  ),
  confirm: object({ decision: fc.constantFrom('confirm', 'decline') }, { typed: text(60) }),
  edit: object({ revision: fc.integer({ min: 1, max: 1_000_000 }), params: map(text(64), anyJson, 20) }),
  feedback: object({ message_id: id, rating: fc.constantFrom(1, -1) }, { reason: nullable(text(500)) }),
  rating: object({ message_id: id, block_id: id, value: fc.integer({ min: 1, max: 5 }) }, { comment: nullable(text(500)) }),
  pairing_claim: object({ code: fc.constantFrom('ABCD2345', 'abcd-2345') }),
};
