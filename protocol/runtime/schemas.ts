/**
 * What GET /v1/schemas answers: the JSON Schema (draft 2020-12) of every request body of the runtime interface, made of the
 * definitions that the server validates with, of every event of a stream and of every answer.
 */
import type * as v from 'valibot';
import { CATALOG_VERSION, PROTOCOL_VERSION } from '../limits.ts';
import { type JsonSchema, publishSchema } from '../schema/json-schema.ts';
import { chatRequest } from './chat.ts';
import { publishedEvents } from './event-schemas.ts';
import { feedbackRequest, ratingRequest } from './feedback.ts';
import { identifyRequest } from './identify.ts';
import { confirmRequest, editRequest } from './invocations.ts';
import { manifestRequest } from './manifest.ts';
import { pairingClaimRequest } from './pairings.ts';
import { publishedReplies, type ReplyName } from './reply-schemas.ts';
import type { StreamEvent } from './stream-events.ts';

interface RequestBody {
  /** Method and path of its endpoint. */
  readonly endpoint: string;
  readonly schema: v.GenericSchema;
}

/** Every JSON body that an SDK sends. */
export const RUNTIME_BODIES = {
  chat: { endpoint: 'POST /v1/chat', schema: chatRequest },
  manifest: { endpoint: 'POST /v1/apps/manifest', schema: manifestRequest },
  identify: { endpoint: 'POST /v1/identify', schema: identifyRequest },
  confirm: { endpoint: 'POST /v1/invocations/:id/confirm', schema: confirmRequest },
  edit: { endpoint: 'POST /v1/invocations/:id/edit', schema: editRequest },
  feedback: { endpoint: 'POST /v1/feedback', schema: feedbackRequest },
  rating: { endpoint: 'POST /v1/ratings', schema: ratingRequest },
  pairing_claim: { endpoint: 'POST /v1/pairings/claim', schema: pairingClaimRequest },
} as const satisfies Record<string, RequestBody>;
export type RuntimeBody = keyof typeof RUNTIME_BODIES;

export interface RuntimeSchemas {
  readonly catalog_version: string;
  readonly protocol: number;
  readonly requests: Readonly<Record<RuntimeBody, JsonSchema>>;
  readonly events: Readonly<Record<StreamEvent['type'], JsonSchema>>;
  readonly replies: Readonly<Record<ReplyName, JsonSchema>>;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * How long a list may be, said as how long it must not be: a validator reads the same, and generators of types, which make of
 * `maxItems: 20` a union of twenty tuples and of lists in lists hundreds of kilobytes, pass over `not`.
 */
function withoutTuples(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutTuples);
  if (!isRecord(schema)) return schema;
  const { minItems, maxItems, ...rest } = schema;
  // The name of a property, not a bound.
  if (typeof minItems !== 'number' && typeof maxItems !== 'number') return mapped(schema);
  const tooLong = typeof maxItems === 'number' ? [{ minItems: maxItems + 1 }] : [];
  const tooShort = typeof minItems === 'number' && minItems > 0 ? [{ maxItems: minItems - 1 }] : [];
  const never = [...tooLong, ...tooShort];
  if (never.length === 0) return mapped(rest);
  const bound = { not: never.length === 1 ? never[0] : { anyOf: never } };
  return 'not' in rest
    ? { ...mapped(rest), allOf: [...((rest.allOf as unknown[] | undefined) ?? []), bound] }
    : { ...mapped(rest), ...bound };
}

function mapped(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withoutTuples(value)]));
}

function published<Name extends string>(schemas: Readonly<Record<Name, JsonSchema>>): Readonly<Record<Name, JsonSchema>> {
  return mapped(schemas) as Record<Name, JsonSchema>;
}

function publishedRequests(): Readonly<Record<RuntimeBody, JsonSchema>> {
  const bodies: readonly (readonly [string, RequestBody])[] = Object.entries(RUNTIME_BODIES);
  const schemas = bodies.map(([name, { endpoint, schema }]) => [name, publishSchema(schema, { title: `Body of ${endpoint}` })]);
  return Object.fromEntries(schemas) as Record<RuntimeBody, JsonSchema>;
}

/** All of them, made anew: some milliseconds of work, for whoever keeps the result. */
export function runtimeSchemas(): RuntimeSchemas {
  return {
    catalog_version: CATALOG_VERSION,
    protocol: PROTOCOL_VERSION,
    requests: published(publishedRequests()),
    events: published(publishedEvents()),
    replies: published(publishedReplies()),
  };
}
