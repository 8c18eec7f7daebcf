/** Everything kept of a person as JSON (CONSOLE-15), rendered page by page so that other requests run in between. */
import { setImmediate as breathe } from 'node:timers/promises';
import { timestamp } from '../../protocol/timestamp.ts';
import { readMessages, type StoredMessage } from '../../storage/conversations/conversations.ts';
import { readFeedback } from '../../storage/conversations/feedback.ts';
import { readRatings } from '../../storage/conversations/ratings.ts';
import { listConversationsOfPerson, type PersonConversation, readFailuresOfMessages } from '../../storage/conversations/transcripts.ts';
import { listBoundDevices } from '../../storage/people/devices.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { shownAttachments } from '../../storage/uploads/uploads.ts';
import { RenderedItems } from '../http/json-pieces.ts';
import { attachmentToWire } from '../http/wire.ts';
import { failureToWire } from './conversations.ts';

/** One answer holds at most this many, some tens of megabytes in memory. `truncated` says that there are more. */
export const EXPORT_MESSAGES_MAX = 10_000;
/** The most bytes of rendered messages, feedback and ratings. */
export const EXPORT_BYTES_MAX = 16 * 1024 * 1024;
/** Conversations are rendered one by one, and their messages page by page. */
export const EXPORT_DEPTH = 3;
/** An app on this many devices of one person shares one login between people. */
const EXPORT_DEVICES_MAX = 1_000;
/** Read in one go, on the event loop. */
const MESSAGES_PER_READ = 200;
const CONVERSATIONS_PER_READ = 100;

function messagesToWire(db: Connection, conversationId: string, messages: readonly StoredMessage[]) {
  const ids = messages.map(({ id }) => id);
  const attachments = shownAttachments(db, ids);
  const failures = readFailuresOfMessages(db, ids);
  return {
    messages: messages.map(({ id, role, blocks, createdAtMs }) => {
      const failure = failures.get(id);
      return {
        ...{ id, role, blocks, created_at: timestamp(createdAtMs) },
        attachments: (attachments.get(id) ?? []).map(attachmentToWire),
        ...(failure !== undefined && { failure: failureToWire(failure) }),
      };
    }),
    feedback: readFeedback(db, ids).map(({ messageId, deviceId, rating, reason, createdAtMs, updatedAtMs }) => ({
      message_id: messageId,
      device_id: deviceId,
      rating,
      reason,
      created_at: timestamp(createdAtMs),
      updated_at: timestamp(updatedAtMs),
    })),
    ratings: readRatings(
      db,
      conversationId,
      messages.flatMap(({ blocks }) => blocks.map(({ id }) => id)),
    ).map(({ blockId, messageId, value, comment, createdAtMs }) => ({
      message_id: messageId,
      block_id: blockId,
      value,
      comment,
      created_at: timestamp(createdAtMs),
    })),
  };
}

/** What still goes into the answer. */
interface Room {
  messages: number;
  bytes: number;
}

/** The newest messages of a conversation that fit into `room`, one page at least; `isCut` when it has more. */
async function conversationToWire(db: Connection, { id, deviceId, createdAtMs, updatedAtMs }: PersonConversation, room: Room) {
  const written = { messages: new RenderedItems(), feedback: new RenderedItems(), ratings: new RenderedItems() };
  const bytes = () => written.messages.bytes + written.feedback.bytes + written.ratings.bytes;
  let before: string | undefined;
  let isCut = false;
  for (;;) {
    const messages = readMessages(db, id, { limit: MESSAGES_PER_READ, before, wordless: false });
    if (messages.length === 0) break;
    const kept = messages.slice(-Math.min(messages.length, room.messages));
    const page = messagesToWire(db, id, kept);
    const had = bytes();
    written.messages.add(page.messages, 'first');
    written.feedback.add(page.feedback, 'first');
    written.ratings.add(page.ratings, 'first');
    room.messages -= kept.length;
    room.bytes -= bytes() - had;
    before = kept[0]?.id;
    await breathe();
    if (room.messages > 0 && room.bytes > 0) continue;
    isCut = readMessages(db, id, { limit: 1, before, wordless: false }).length > 0;
    break;
  }
  const conversation = {
    conversation_id: id,
    device_id: deviceId,
    created_at: timestamp(createdAtMs),
    updated_at: timestamp(updatedAtMs),
    ...written,
  };
  return { conversation, isCut };
}

async function conversationsToWire(db: Connection, endUserId: string) {
  const conversations: Awaited<ReturnType<typeof conversationToWire>>['conversation'][] = [];
  const room: Room = { messages: EXPORT_MESSAGES_MAX, bytes: EXPORT_BYTES_MAX };
  let after = '';
  for (;;) {
    const page = listConversationsOfPerson(db, endUserId, after, CONVERSATIONS_PER_READ);
    if (page.length === 0) return { conversations, truncated: false };
    for (const each of page) {
      if (room.messages <= 0 || room.bytes <= 0) return { conversations, truncated: true };
      const { conversation, isCut } = await conversationToWire(db, each, room);
      conversations.push(conversation);
      if (isCut) return { conversations, truncated: true };
      after = each.id;
    }
  }
}

/** Conversations oldest first; `truncated` when the person has more messages, or more devices, than one answer holds. */
export async function exportPerson(db: Connection, endUserId: string) {
  const devices = listBoundDevices(db, endUserId, EXPORT_DEVICES_MAX + 1);
  const { conversations, truncated } = await conversationsToWire(db, endUserId);
  return {
    truncated: truncated || devices.length > EXPORT_DEVICES_MAX,
    devices: devices.slice(0, EXPORT_DEVICES_MAX).map(({ deviceId, proven, boundAtMs, seenAtMs }) => ({
      device_id: deviceId,
      proven,
      bound_at: timestamp(boundAtMs),
      seen_at: timestamp(seenAtMs),
    })),
    conversations,
  };
}
