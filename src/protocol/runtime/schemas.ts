/**
 * What GET /v1/schemas answers: the JSON Schema (draft 2020-12) of every request body of the runtime interface, made of the
 * definitions that the server validates with, of every event of a stream and of every answer.
 */
import type * as v from 'valibot';
import { type JsonSchema, publishSchema } from '../json-schema.ts';
import { CATALOG_VERSION, PROTOCOL_VERSION } from '../limits.ts';
import { chatRequest } from './chat.ts';
import { publishedEvents } from './event-schemas.ts';
import { feedbackRequest } from './feedback.ts';
import { identifyRequest } from './identify.ts';
import { confirmRequest, editRequest } from './invocations.ts';
import { manifestRequest } from './manifest.ts';
import { pairingClaimRequest } from './pairings.ts';
import { ratingRequest } from './ratings.ts';
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
    requests: publishedRequests(),
    events: publishedEvents(),
    replies: publishedReplies(),
  };
}
