/**
 * The prover of published schemas: a JSON Schema and the server take and refuse the same bodies, and what the server names
 * the schema names.
 */
import assert from 'node:assert/strict';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import fc from 'fast-check';
import * as v from 'valibot';
import { explain, renderPath } from '../../protocol/schema/issues.ts';
import type { JsonSchema } from '../../protocol/schema/json-schema.ts';

export interface Complaint {
  readonly path: string;
  readonly message: string;
}
export type Verdict = readonly Complaint[];

export function bySchema(schema: v.GenericSchema, body: unknown): Verdict {
  const result = v.safeParse(schema, body);
  return result.success ? [] : explain(result.issues);
}

export const ajv = new Ajv2020({ allErrors: true, strict: true, strictTypes: false, strictRequired: false });
(formats as unknown as (instance: Ajv2020) => void)(ajv);

function fieldOf(pointer: string): string {
  const keys = pointer.split('/').slice(1);
  return renderPath(keys.map((key) => (/^\d+$/.test(key) ? Number(key) : key.replaceAll('~1', '/').replaceAll('~0', '~'))));
}

/** The field that a list belongs to: one complains of the list, the other of a value in it. */
const listed = (path: string) => path.replace(/\[\d+\]$/, '');

function fieldsOf(errors: readonly ErrorObject[]): Set<string> {
  const named = errors.flatMap(({ instancePath, params, propertyName }) => {
    const inner = [params.additionalProperty, params.missingProperty, params.property, params.propertyName, propertyName].filter(
      (name) => name !== undefined,
    );
    return [
      fieldOf(instancePath),
      ...inner.map((name) => renderPath([...(fieldOf(instancePath) === '' ? [] : [fieldOf(instancePath)]), name])),
    ];
  });
  return new Set(named.map(listed));
}

export interface Agreement {
  readonly published: JsonSchema;
  /** What the server says of a body; nothing when it takes it. */
  server(body: unknown): Verdict;
  /** What JSON Schema has no words for; the schema's descriptions tell it. */
  readonly unsayable: readonly RegExp[];
}

/** Every body passes both. */
export function assertAccepted({ published, server }: Agreement, bodies: fc.Arbitrary<unknown>, numRuns: number): void {
  const validate = ajv.compile(published);
  fc.assert(
    fc.property(bodies, (body) => {
      assert.deepEqual(server(body), []);
      assert.ok(validate(body), ajv.errorsText(validate.errors));
    }),
    { numRuns },
  );
}

/** Schema and server take and refuse the same bodies, and what the server names the schema names. */
export function assertAgreement({ published, server, unsayable }: Agreement, bodies: fc.Arbitrary<unknown>, numRuns: number): void {
  const validate = ajv.compile(published);
  const seen = { accepted: 0, refused: 0 };
  fc.assert(
    fc.property(bodies, (body) => {
      const complaints = server(body);
      const sayable = complaints.filter(({ message }) => !unsayable.some((sentence) => sentence.test(message)));
      if (validate(body)) {
        assert.deepEqual(sayable, [], 'the server refuses what the schema takes');
        seen.accepted++;
        return;
      }
      assert.ok(complaints.length > 0, `the server takes what the schema refuses: ${ajv.errorsText(validate.errors)}`);
      const named = fieldsOf(validate.errors ?? []);
      for (const { path, message } of sayable) {
        assert.ok(named.has(listed(path)), `${path} ${message} is not among ${[...named].join(', ')}`);
      }
      seen.refused++;
    }),
    { numRuns },
  );
  assert.ok(seen.refused >= numRuns / 4 && seen.accepted >= numRuns / 40, `${seen.accepted} accepted, ${seen.refused} refused`);
}
