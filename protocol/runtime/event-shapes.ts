/**
 * The shape of every event of a stream: which fields it has, and of which types. Knows no component of the catalog, so that a client
 * checks what comes without carrying the catalog along; `event-schemas.ts` publishes the same shapes with it.
 */
import * as v from 'valibot';
import { ID_MAX_CHARS, PROTOCOL_VERSION } from '../limits.ts';
import { stated } from '../schema/stated.ts';
import { text } from '../schema/text.ts';
import { RISKS, type StreamEvent } from './stream-events.ts';

export const wireId = text(ID_MAX_CHARS, 1);
/** A count, a place or a number of milliseconds. */
export const wireCount = v.pipe(v.number(), v.integer(), v.minValue(0));
export const wireTime = stated(v.string(), { type: 'string', format: 'date-time' });

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

/** What depends on the catalog, and on how much of a later service is let through. */
export interface EventParts {
  readonly block: v.GenericSchema;
  readonly componentName: v.GenericSchema;
  readonly noticeReason: v.GenericSchema;
}

/** The schema of every event of a stream, by its type; they are open for fields that come later. */
export function eventShapes({ block, componentName, noticeReason }: EventParts): {
  readonly [Type in StreamEvent['type']]: v.GenericSchema;
} {
  return {
    'turn.start': event('turn.start', {
      conversation_id: wireId,
      message_id: wireId,
      model: v.string(),
      request_id: v.string(),
      receipts: v.optional(v.array(v.object({ invocation_id: wireId, receipt: v.string() }))),
    }),
    'block.start': event('block.start', { index: wireCount, id: wireId, block_type: componentName }),
    'block.delta': event('block.delta', { index: wireCount, text_delta: v.string() }),
    'block.ready': event('block.ready', { index: wireCount, block }),
    'action.execute': event('action.execute', { invocation_id: wireId, name: v.string(), params: namedValues, timeout_ms: wireCount }),
    notice: event('notice', { reason: noticeReason, message: v.string(), resets_at: v.optional(wireTime) }),
    'turn.end': event('turn.end', {
      status: v.picklist(['completed', 'awaiting_tool_results', 'awaiting_confirmation', 'error']),
      pending: v.optional(v.array(wirePending)),
      billable: v.optional(v.boolean()),
      stopped: v.optional(v.boolean()),
      truncated: v.optional(v.boolean()),
      filtered: v.optional(v.boolean()),
      user_token_refused: v.optional(v.boolean()),
      usage: v.optional(v.object({ minute_left: wireCount, day_left: wireCount })),
    }),
    error: event('error', {
      code: wireCode,
      message: v.string(),
      retryable: v.boolean(),
      retry_after_s: v.optional(wireCount),
      details: v.optional(wireDetails),
      block: v.optional(block),
    }),
    ping: event('ping', {}),
  };
}
