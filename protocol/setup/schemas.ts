/**
 * The JSON Schema (draft 2020-12) of every request body of the setup interface, as GET /context hands it out: made of the
 * definitions that the server validates with.
 */
import type * as v from 'valibot';
import { type JsonSchema, publishSchema } from '../schema/json-schema.ts';
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

const ITEM_BY_ITEM =
  'Items are judged one by one: one that fits none of the forms is refused by its results[i].error, the others are saved.';

function publish(title: string, body: v.GenericSchema, description?: string): JsonSchema {
  return publishSchema(body, description === undefined ? { title } : { title, description });
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
 * One schema per request body (SETUP-44). Items of knowledge and actions are judged one
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
