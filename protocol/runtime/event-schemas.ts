/**
 * The schemas of what a turn's stream holds, as they are published: one per event, and the block that is in some of them.
 * They say what is always there; a client passes over fields and events that it does not know (STREAM-6).
 */
import * as v from 'valibot';
import { CATALOG } from '../catalog/catalog.ts';
import { FALLBACK_TEXT_MAX_CHARS } from '../catalog/component.ts';
import { ID_MAX_CHARS, PROTOCOL_VERSION } from '../limits.ts';
import { type JsonSchema, publishSchema } from '../schema/json-schema.ts';
import { stated } from '../schema/stated.ts';
import { text } from '../schema/text.ts';
import { NOTICE_REASONS } from './notice.ts';
import { RISKS, type StreamEvent } from './stream-events.ts';

/** Rules of the catalog that have no words in JSON Schema; docs/catalog.md tells them. */
const UNSAID = ['check', 'raw_check', 'finite', 'transform'];

export const wireId = text(ID_MAX_CHARS, 1);
/** A count, a place or a number of milliseconds. */
export const wireCount = v.pipe(v.number(), v.integer(), v.minValue(0));
export const wireTime = stated(v.string(), { type: 'string', format: 'date-time' });

/**
 * What is said of a body on its way out: as the catalog has it, but open for fields of later versions, and without the
 * longest texts, which are counted before the person's own addresses and numbers are put back into them.
 */
function opened(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(opened);
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = Object.entries(schema).filter(
    ([key, value]) => !(key === 'maxLength' || (key === 'additionalProperties' && value === false)),
  );
  return Object.fromEntries(kept.map(([key, value]) => [key, opened(value)]));
}

function bodySchema(name: string, body: v.GenericSchema): unknown {
  const { $schema: _dialect, title: _title, ...schema } = publishSchema(body, { title: name, unsaid: UNSAID });
  return opened(schema);
}

let blockKeywords: JsonSchema | undefined;

/** A block of any component of the catalog. */
function blockSchema(): JsonSchema {
  blockKeywords ??= {
    type: 'object',
    required: ['index', 'id', 'block_type', 'revision', 'body'],
    properties: {
      index: { type: 'integer', minimum: 0, description: 'Place in its message.' },
      id: {
        type: 'string',
        minLength: 1,
        maxLength: ID_MAX_CHARS,
        description: 'Unique in the conversation; stays the same over revisions.',
      },
      block_type: { type: 'string' },
      revision: { type: 'integer', minimum: 1 },
      body: { type: 'object' },
      fallback_text: {
        type: 'string',
        description: `For a client that fails to draw the block; at most ${FALLBACK_TEXT_MAX_CHARS} characters before the person's own data is put back.`,
      },
      a11y_label: { type: 'string' },
    },
    oneOf: [...CATALOG.values()].map(({ name, body }) => ({
      title: name,
      // Again, because this is what tells the bodies apart: a type made of it has to be one to narrow by.
      type: 'object',
      required: ['block_type', 'body'],
      properties: { block_type: { const: name }, body: bodySchema(name, body) },
    })),
  };
  return blockKeywords;
}

/** A block wherever one stands. What is sent was validated when it was made, so this only tells of it. */
export function wireBlock() {
  return stated(
    v.custom<object>((value) => typeof value === 'object' && value !== null),
    blockSchema(),
  );
}

/** JSON by name: parameters of an action. */
const namedValues = stated(v.record(v.string(), v.unknown()), { type: 'object' });

/** A call that waits for its answer, as `turn.end.pending` lists it. */
export const wirePending = v.object({
  invocation_id: wireId,
  name: v.string(),
  params: namedValues,
  risk: v.picklist(RISKS),
  timeout_ms: wireCount,
  executor: v.picklist(['client', 'server']),
  block_id: v.optional(wireId),
});

type FieldsOf<Type> = Omit<Extract<StreamEvent, { type: Type }>, 'type'>;

/** Names every field of the event and no other. */
function event<const Type extends StreamEvent['type']>(
  type: Type,
  fields: { readonly [Field in keyof FieldsOf<Type>]-?: v.GenericSchema },
) {
  const frame = { type: v.literal(type), v: v.literal(PROTOCOL_VERSION), seq: wireCount };
  return v.object({ ...frame, ...(fields as v.ObjectEntries) });
}

/** Codes that a stream may carry; more may be added within the protocol. */
const STREAM_CODES = [
  'invalid_key',
  'quota_exceeded',
  'rate_limited',
  'model_busy',
  'manifest_unknown',
  'upgrade_required',
  'invalid_request',
  'conflict',
  'internal',
  'organisation_unavailable',
  'storage_unavailable',
];
const wireCode = stated(v.string(), { type: 'string', examples: STREAM_CODES, description: 'Codes may be added.' });

/** What is wrong with a request, field by field. */
export const wireDetails = v.array(v.object({ path: v.string(), message: v.string() }));

/** The schema of every event of a stream, by its type; they are open for fields that come later. */
export function eventSchemas(): { readonly [Type in StreamEvent['type']]: v.GenericSchema } {
  return {
    'turn.start': event('turn.start', {
      conversation_id: wireId,
      message_id: wireId,
      model: v.string(),
      request_id: v.string(),
      receipts: v.optional(v.array(v.object({ invocation_id: wireId, receipt: v.string() }))),
    }),
    'block.start': event('block.start', { index: wireCount, id: wireId, block_type: v.picklist([...CATALOG.keys()]) }),
    'block.delta': event('block.delta', { index: wireCount, text_delta: v.string() }),
    'block.ready': event('block.ready', { index: wireCount, block: wireBlock() }),
    'action.execute': event('action.execute', { invocation_id: wireId, name: v.string(), params: namedValues, timeout_ms: wireCount }),
    notice: event('notice', { reason: v.picklist(NOTICE_REASONS), message: v.string(), resets_at: v.optional(wireTime) }),
    'turn.end': event('turn.end', {
      status: v.picklist(['completed', 'awaiting_tool_results', 'awaiting_confirmation', 'error']),
      pending: v.optional(v.array(wirePending)),
      billable: v.optional(v.boolean()),
      stopped: v.optional(v.boolean()),
      truncated: v.optional(v.boolean()),
      filtered: v.optional(v.boolean()),
      usage: v.optional(v.object({ minute_left: wireCount, day_left: wireCount })),
    }),
    error: event('error', {
      code: wireCode,
      message: v.string(),
      retryable: v.boolean(),
      retry_after_s: v.optional(wireCount),
      details: v.optional(wireDetails),
      block: v.optional(wireBlock()),
    }),
    ping: event('ping', {}),
  };
}

/** The JSON Schema of every event of a stream, by its type. */
export function publishedEvents(): Readonly<Record<StreamEvent['type'], JsonSchema>> {
  const schemas = Object.entries(eventSchemas()).map(([type, schema]) => [type, publishSchema(schema, { title: `Stream event ${type}` })]);
  return Object.fromEntries(schemas) as Record<StreamEvent['type'], JsonSchema>;
}
