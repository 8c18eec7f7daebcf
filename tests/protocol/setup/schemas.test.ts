import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { Refusal } from '../../../protocol/errors.ts';
import { explain } from '../../../protocol/schema/issues.ts';
import { acceptDraft } from '../../../protocol/setup/accept.ts';
import { actionsBody, judgeHttpAction } from '../../../protocol/setup/actions.ts';
import { appearanceBody } from '../../../protocol/setup/appearance.ts';
import { completeBody, failBody } from '../../../protocol/setup/completion.ts';
import { parseEvents } from '../../../protocol/setup/events.ts';
import { judgeKnowledgeItem, knowledgeBody } from '../../../protocol/setup/knowledge.ts';
import { experiencePatch } from '../../../protocol/setup/persona.ts';
import { SETUP_BODIES, type SetupBody, setupSchemas } from '../../../protocol/setup/schemas.ts';
import { screensBody } from '../../../protocol/setup/screens.ts';
import { startBody } from '../../../protocol/setup/start.ts';
import { type Agreement, ajv, assertAccepted, assertAgreement, bySchema, type Verdict } from '../schema-agreement.ts';
import { COMBINED_ACTIONS } from './combinations.ts';
import { VALID_BODIES } from './instances.ts';
import { mutated } from './mutations.ts';

function byRefusal(run: () => unknown): Verdict {
  try {
    run();
    return [];
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error));
    return error.details ?? [];
  }
}

function byItems<Item>(
  schema: v.GenericSchema<unknown, { items: Item[] }>,
  judge: (item: Item) => { form: string; error?: string },
  body: unknown,
): Verdict {
  const result = v.safeParse(schema, body);
  if (!result.success) return explain(result.issues);
  return result.output.items.flatMap((item, index) => {
    const { error } = judge(item);
    if (error === undefined) return [];
    const [field = '', ...message] = error.split(' ');
    return [{ path: `items[${index}].${field}`, message: message.join(' ') }];
  });
}

/** What the server says of a body; nothing when it takes it. */
const SERVER: Readonly<Record<SetupBody, (body: unknown) => Verdict>> = {
  start: (body) => bySchema(startBody, body),
  events: (body) => byRefusal(() => parseEvents(body)),
  appearance: (body) => byRefusal(() => acceptDraft(appearanceBody, body, 'invalid_appearance')),
  experience: (body) => byRefusal(() => acceptDraft(experiencePatch, body, 'invalid_experience')),
  knowledge: (body) => byItems(knowledgeBody as never, judgeKnowledgeItem, body),
  actions: (body) =>
    byItems(actionsBody as never, (item: Parameters<typeof judgeHttpAction>[0]) => judgeHttpAction(item, 'production'), body),
  screens: (body) => bySchema(screensBody, body),
  complete: (body) => bySchema(completeBody, body),
  fail: (body) => bySchema(failBody, body),
};

/** What JSON Schema has no words for; the schema's descriptions tell it. */
const UNSAYABLE = [
  /characters of JSON$/,
  /^must not name a parameter twice$/,
  /^must mark with /,
  /^must be a JSON object once /,
  /^must not hold a credential: declare a shared key with needs_key$/,
  /^must not name a query parameter that url_template has already$/,
  /^must not be where auth_name sends the token$/,
];

test('SETUP-44: one per request body, of draft 2020-12 and valid against its meta-schema', () => {
  for (const surroundings of ['production', 'development'] as const) {
    const schemas = setupSchemas(surroundings);
    assert.deepEqual(Object.keys(schemas), [...SETUP_BODIES]);
    for (const [name, schema] of Object.entries(schemas)) {
      assert.equal(schema.$schema, 'https://json-schema.org/draft/2020-12/schema', name);
      assert.ok(ajv.validateSchema(schema), `${name}: ${ajv.errorsText()}`);
      assert.deepEqual(JSON.parse(JSON.stringify(schema)), schema, `${name} is plain JSON`);
    }
  }
});

const agreementOf = (name: SetupBody): Agreement => ({
  published: setupSchemas('production')[name],
  server: SERVER[name],
  unsayable: UNSAYABLE,
});

for (const name of SETUP_BODIES) {
  test(`SETUP-44: GET /context schemas.${name}: valid bodies pass the schema and the server`, () => {
    assertAccepted(agreementOf(name), VALID_BODIES[name], 300);
  });

  test(`SETUP-44: GET /context schemas.${name}: damaged bodies pass or fail with both, and the field the server names is named`, () => {
    assertAgreement(agreementOf(name), mutated(VALID_BODIES[name]), 800);
  });
}

test('SETUP-44: GET /context schemas.actions: fields that go together by chance pass or fail with both, and the field is named', () => {
  assertAgreement(agreementOf('actions'), COMBINED_ACTIONS, 4_000);
});
