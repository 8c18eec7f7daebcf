import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import * as v from 'valibot';
import { Refusal } from '../../../src/protocol/errors.ts';
import { explain, renderPath } from '../../../src/protocol/issues.ts';
import { acceptDraft } from '../../../src/protocol/setup/accept.ts';
import { actionsBody, judgeHttpAction } from '../../../src/protocol/setup/actions.ts';
import { appearanceBody } from '../../../src/protocol/setup/appearance.ts';
import { completeBody, failBody } from '../../../src/protocol/setup/completion.ts';
import { parseEvents } from '../../../src/protocol/setup/events.ts';
import { judgeKnowledgeItem, knowledgeBody } from '../../../src/protocol/setup/knowledge.ts';
import { experiencePatch } from '../../../src/protocol/setup/persona.ts';
import { SETUP_BODIES, type SetupBody, setupSchemas } from '../../../src/protocol/setup/schemas.ts';
import { screensBody } from '../../../src/protocol/setup/screens.ts';
import { startBody } from '../../../src/protocol/setup/start.ts';
import { COMBINED_ACTIONS } from './combinations.ts';
import { VALID_BODIES } from './instances.ts';
import { mutated } from './mutations.ts';

interface Complaint {
  readonly path: string;
  readonly message: string;
}
type Verdict = readonly Complaint[];

function bySchema(schema: v.GenericSchema, body: unknown): Verdict {
  const result = v.safeParse(schema, body);
  return result.success ? [] : explain(result.issues);
}

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

const ajv = new Ajv2020({ allErrors: true, strict: true, strictTypes: false, strictRequired: false });

function fieldOf(pointer: string): string {
  const keys = pointer.split('/').slice(1);
  return renderPath(keys.map((key) => (/^\d+$/.test(key) ? Number(key) : key.replaceAll('~1', '/').replaceAll('~0', '~'))));
}

/** The field that a list belongs to: one complains of the list, the other of a value in it. */
const listed = (path: string) => path.replace(/\[\d+\]$/, '');

function fieldsOf(errors: readonly ErrorObject[]): Set<string> {
  const named = errors.flatMap(({ instancePath, params, propertyName }) => {
    const inner = [params.additionalProperty, params.missingProperty, params.propertyName, propertyName].filter(
      (name) => name !== undefined,
    );
    return [
      fieldOf(instancePath),
      ...inner.map((name) => renderPath([...(fieldOf(instancePath) === '' ? [] : [fieldOf(instancePath)]), name])),
    ];
  });
  return new Set(named.map(listed));
}

test('GET /context schemas: one per request body, of draft 2020-12 and valid against its meta-schema', () => {
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

/** Schema and server take and refuse the same bodies, and what the server names the schema names. */
function assertAgreement(name: SetupBody, bodies: fc.Arbitrary<unknown>, numRuns: number) {
  const published = ajv.compile(setupSchemas('production')[name]);
  const seen = { accepted: 0, refused: 0 };
  fc.assert(
    fc.property(bodies, (body) => {
      const complaints = SERVER[name](body);
      const sayable = complaints.filter(({ message }) => !UNSAYABLE.some((sentence) => sentence.test(message)));
      if (published(body)) {
        assert.deepEqual(sayable, [], 'the server refuses what the schema takes');
        seen.accepted++;
        return;
      }
      assert.ok(complaints.length > 0, `the server takes what the schema refuses: ${ajv.errorsText(published.errors)}`);
      const named = fieldsOf(published.errors ?? []);
      for (const { path, message } of sayable) {
        assert.ok(named.has(listed(path)), `${path} ${message} is not among ${[...named].join(', ')}`);
      }
      seen.refused++;
    }),
    { numRuns },
  );
  assert.ok(seen.refused >= numRuns / 4 && seen.accepted >= numRuns / 40, `${seen.accepted} accepted, ${seen.refused} refused`);
}

for (const name of SETUP_BODIES) {
  test(`GET /context schemas.${name}: valid bodies pass the schema and the server`, () => {
    const published = ajv.compile(setupSchemas('production')[name]);
    fc.assert(
      fc.property(VALID_BODIES[name], (body) => {
        assert.deepEqual(SERVER[name](body), []);
        assert.ok(published(body), ajv.errorsText(published.errors));
      }),
      { numRuns: 300 },
    );
  });

  test(`GET /context schemas.${name}: damaged bodies pass or fail with both, and the field the server names is named`, () => {
    assertAgreement(name, mutated(VALID_BODIES[name]), 800);
  });
}

test('GET /context schemas.actions: fields that go together by chance pass or fail with both, and the field is named', () => {
  assertAgreement('actions', COMBINED_ACTIONS, 4_000);
});
