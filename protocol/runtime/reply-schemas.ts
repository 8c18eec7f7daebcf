/** The schemas of the answers of the runtime interface, as they are published. They say what is always there; fields may be added. */
import * as v from 'valibot';
import { type JsonSchema, publishSchema } from '../schema/json-schema.ts';
import { stated } from '../schema/stated.ts';
import type { AppConfigReply } from './config.ts';
import type { ConversationReply, ConversationsReply } from './conversations.ts';
import { wireBlock } from './event-schemas.ts';
import { wireCount, wireDetails, wireId, wirePending, wireTime } from './event-shapes.ts';
import type { FeedbackReply, RatingReply } from './feedback.ts';
import type { IdentifyReply } from './identify.ts';
import type { ConfirmReply, EditReply } from './invocations.ts';
import type { AttachmentReply, MessageReply, MessagesReply, OpenReply } from './messages.ts';
import type { PairingClaimReply } from './pairings.ts';
import type { UploadReply } from './uploads.ts';

/** Names every field of the reply and no other. */
function reply<Reply>(fields: { readonly [Field in keyof Reply]-?: v.GenericSchema }) {
  return v.object(fields as v.ObjectEntries);
}

const ok = v.literal(true);
const openObject = stated(v.record(v.string(), v.unknown()), { type: 'object' });
const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));

const config = reply<AppConfigReply>({
  channel: v.picklist(['published', 'draft']),
  version: v.nullable(wireCount),
  updated_at: v.nullable(wireTime),
  available: v.boolean(),
  require_identity: v.boolean(),
  config: openObject,
});

const attachment = reply<AttachmentReply>({ upload_id: wireId, name: v.string(), media_type: v.string(), size: wireCount });

const message = () =>
  reply<MessageReply>({
    id: wireId,
    role: v.picklist(['user', 'assistant']),
    blocks: v.array(wireBlock()),
    created_at: wireTime,
    attachments: v.optional(v.array(attachment)),
  });

const conversation = reply<ConversationReply>({ conversation_id: wireId, title: v.string(), created_at: wireTime, updated_at: wireTime });

const openTurn = v.object({ turn_id: wireId, message_id: wireId, status: v.literal('running') });
const openCall = v.object({ ...wirePending.entries, status: v.picklist(['dispatched', 'pending', 'confirmed']) });
const open = reply<OpenReply>({ turn: v.optional(openTurn), pending: v.array(openCall) });

const error = v.object({
  error: v.object({
    code: stated(v.string(), { type: 'string', description: 'Codes may be added.' }),
    message: v.string(),
    details: v.optional(wireDetails),
    block: v.optional(wireBlock()),
  }),
});

function replySchemas() {
  return {
    config: ['Answer of GET /v1/apps/config', config],
    manifest: ['Answer of POST /v1/apps/manifest', v.object({ manifest_hash: sha256 })],
    messages: [
      'Answer of GET /v1/conversations/:id/messages',
      reply<MessagesReply>({ conversation_id: v.string(), messages: v.array(message()), has_more: v.boolean(), open }),
    ],
    conversations: [
      'Answer of GET /v1/conversations',
      reply<ConversationsReply>({ conversations: v.array(conversation), has_more: v.boolean() }),
    ],
    stop: ['Answer of POST /v1/chat/:turn_id/stop', v.object({ ok, stopped: v.boolean() })],
    identify: ['Answer of POST /v1/identify', reply<IdentifyReply>({ end_user_id: wireId, verified: v.boolean() })],
    confirm: [
      'Answer of POST /v1/invocations/:id/confirm',
      reply<ConfirmReply>({
        status: v.picklist(['confirmed', 'declined', 'expired']),
        already_answered: v.optional(v.literal(true)),
        yours: v.optional(v.boolean()),
        receipt: v.optional(v.string()),
      }),
    ],
    edit: [
      'Answer of POST /v1/invocations/:id/edit',
      reply<EditReply>({ status: v.literal('pending'), revision: wireCount, block: v.optional(wireBlock()) }),
    ],
    feedback: ['Answer of POST /v1/feedback', reply<FeedbackReply>({ ok })],
    rating: ['Answer of POST /v1/ratings', reply<RatingReply>({ ok })],
    upload: [
      'Answer of POST /v1/uploads',
      reply<UploadReply>({ upload_id: wireId, name: v.string(), media_type: v.string(), size: wireCount, expires_at: wireTime }),
    ],
    pairing_claim: ['Answer of POST /v1/pairings/claim', reply<PairingClaimReply>({ pairing_id: wireId, expires_at: wireTime })],
    error: ['Body of every refusal', error],
  } as const;
}

export type ReplyName = keyof ReturnType<typeof replySchemas>;

/** The JSON Schema of every JSON answer, by the name of what was asked. */
export function publishedReplies(): Readonly<Record<ReplyName, JsonSchema>> {
  const schemas = Object.entries(replySchemas()).map(([name, [title, schema]]) => [name, publishSchema(schema, { title })]);
  return Object.fromEntries(schemas) as Record<ReplyName, JsonSchema>;
}
