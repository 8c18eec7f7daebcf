/**
 * From a schema that the server validates with to the JSON Schema (draft 2020-12) that is published of it. A check of ours
 * is translated by the keywords it carries (`stated`); one that carries none stops the translation.
 */
import { type OverrideActionContext, type OverrideSchemaContext, toJsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import { type Keywords, keywordsOf } from './stated.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

type Converted = OverrideActionContext['jsonSchema'];

/** `schema` and `keywords` together; what both name is said beside each other in `allOf`. */
function both(schema: Converted, keywords: Keywords): Converted {
  const { allOf = [], ...rest } = keywords as { allOf?: Converted[] };
  const clash = Object.keys(rest).some((keyword) => keyword in schema);
  const more = clash ? [...allOf, rest as Converted] : allOf;
  return {
    ...schema,
    ...(clash ? {} : rest),
    ...(more.length > 0 ? { allOf: [...(schema.allOf ?? []), ...more] } : {}),
  };
}

function sayAction({ valibotAction, jsonSchema }: OverrideActionContext): Converted | undefined {
  const keywords = keywordsOf(valibotAction);
  if (keywords !== undefined) return both(jsonSchema, keywords);
  const { type, requirement } = valibotAction as { type: string; requirement?: unknown };
  if (type !== 'regex' || !(requirement instanceof RegExp)) return undefined;
  // JSON Schema reads patterns as Unicode ones; any other flag would change what is said.
  if (requirement.flags !== '' && requirement.flags !== 'u') return undefined;
  return jsonSchema.pattern === requirement.source ? jsonSchema : both(jsonSchema, { pattern: requirement.source });
}

function saySchema({ valibotSchema, jsonSchema }: OverrideSchemaContext): Converted | undefined {
  const keywords = keywordsOf(valibotSchema);
  return keywords === undefined ? undefined : both(jsonSchema, keywords);
}

export interface Publication {
  readonly title: string;
  readonly description?: string;
  /** Kinds of checks to leave unsaid, for schemas that are told in less than the server asks for. */
  readonly unsaid?: readonly string[];
}

/** The published form of `schema`. @throws Error when a check has no JSON Schema and carries no keywords. */
export function publishSchema(schema: v.GenericSchema, { title, description, unsaid = [] }: Publication): JsonSchema {
  const converted = toJsonSchema(schema, {
    target: 'draft-2020-12',
    // An object of ours is a check for being one, then its fields: the fields are what is said.
    typeMode: 'output',
    ignoreActions: [...unsaid],
    overrideAction: sayAction,
    overrideSchema: saySchema,
  });
  return { title, ...(description === undefined ? {} : { description }), ...converted } as JsonSchema;
}
