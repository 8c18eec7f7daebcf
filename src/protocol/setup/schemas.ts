/**
 * The JSON Schema (draft 2020-12) of every request body of the setup interface, as GET /context hands it out: made of the
 * definitions that the server validates with. A check of ours is translated by the keywords it carries (`stated`); one
 * that carries none stops the translation.
 */
import { type OverrideActionContext, type OverrideSchemaContext, toJsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import { type Keywords, keywordsOf } from '../stated.ts';
import { publishedActionsBody, type Surroundings } from './actions.ts';
import { appearanceBody } from './appearance.ts';
import { completeBody, failBody } from './completion.ts';
import { eventsBody } from './events.ts';
import { publishedKnowledgeBody } from './knowledge.ts';
import { experiencePatch } from './persona.ts';
import { screensBody } from './screens.ts';
import { startBody } from './start.ts';

export const SETUP_BODIES = ['start', 'events', 'appearance', 'experience', 'knowledge', 'actions', 'screens', 'complete', 'fail'] as const;
export type SetupBody = (typeof SETUP_BODIES)[number];

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

const ITEM_BY_ITEM =
  'Items are judged one by one: one that fits none of the forms is refused by its results[i].error, the others are saved.';

function publish(title: string, body: v.GenericSchema, description?: string): JsonSchema {
  const schema = toJsonSchema(body, {
    target: 'draft-2020-12',
    // An object of ours is a check for being one, then its fields: the fields are what is said.
    typeMode: 'output',
    overrideAction: sayAction,
    overrideSchema: saySchema,
  });
  return { title, ...(description === undefined ? {} : { description }), ...schema } as JsonSchema;
}

function publishAll(surroundings: Surroundings): Readonly<Record<SetupBody, JsonSchema>> {
  return {
    start: publish('Body of POST /start', startBody),
    events: publish('Body of POST /events', eventsBody),
    appearance: publish('Body of PUT /appearance', appearanceBody),
    experience: publish('Body of PUT /experience', experiencePatch),
    knowledge: publish('Body of POST /knowledge', publishedKnowledgeBody, ITEM_BY_ITEM),
    actions: publish('Body of POST /actions', publishedActionsBody[surroundings], ITEM_BY_ITEM),
    screens: publish('Body of POST /screens', screensBody),
    complete: publish('Body of POST /complete', completeBody),
    fail: publish('Body of POST /fail', failBody),
  };
}

const published = new Map<Surroundings, Readonly<Record<SetupBody, JsonSchema>>>();

/**
 * One schema per request body (service.md "GET /context keys", `schemas`). Items of knowledge and actions are judged one
 * by one: there, what the schema rejects is refused by the item's result. `development` as in `judgeHttpAction`.
 */
export function setupSchemas(surroundings: Surroundings): Readonly<Record<SetupBody, JsonSchema>> {
  let schemas = published.get(surroundings);
  if (schemas === undefined) {
    schemas = publishAll(surroundings);
    published.set(surroundings, schemas);
  }
  return schemas;
}
