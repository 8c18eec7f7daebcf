/** Console: what people and the assistant said, and single turns, as stored: in placeholder form, never restored (CONSOLE-17, CONSOLE-18, CONSOLE-28). */
import { expireChange } from '../../actors/calls/invocation-step.ts';
import { readShown } from '../../actors/turns/shown.ts';
import type { Block } from '../../protocol/catalog/block.ts';
import type { ConversationHead as ShownHead, Transcript } from '../../protocol/console/answers.ts';
import { Refusal } from '../../protocol/errors.ts';
import { toUsd } from '../../protocol/money.ts';
import { conversationTitle } from '../../protocol/runtime/conversations.ts';
import { type KeptFailure, TURN_STATES } from '../../protocol/runtime/states.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { type Spent, spentOnTurn } from '../../storage/billing/usage-ledger.ts';
import { readBlocks } from '../../storage/conversations/blocks.ts';
import type { StoredMessage } from '../../storage/conversations/conversations.ts';
import { type FeedbackRow, readFeedback } from '../../storage/conversations/feedback.ts';
import { type InvocationRow, readTurnInvocations } from '../../storage/conversations/invocations.ts';
import { type RatingRow, readRatings } from '../../storage/conversations/ratings.ts';
import {
  type ConversationFilter,
  type ConversationHead,
  listConversations,
  type MessageTurn,
  readConversationHead,
  readConversationOfRequest,
  readTranscriptPage,
  readTurnsOfMessages,
} from '../../storage/conversations/transcripts.ts';
import { readTurn, type TurnRow } from '../../storage/conversations/turns.ts';
import { listOrganisations } from '../../storage/organisations/organisations.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { readIfThere } from '../../storage/sqlite/storage-error.ts';
import { shownAttachments } from '../../storage/uploads/uploads.ts';
import { consoleRoute, json, type Route } from '../route.ts';
import type { Services } from '../services.ts';
import { appRead, appRoute, type FoundApp, requireApp } from './app-read.ts';
import { newestLimit, nextOf, pageKey } from './pages.ts';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?(?:Z|[+-]\d\d:\d\d)$/;

/** Milliseconds since 1970; null when the query does not say. @throws Refusal 400 invalid_request for anything but a time of RFC 3339. */
function timeOf(query: URLSearchParams, name: string): number | null {
  const given = query.get(name);
  if (given === null) return null;
  const atMs = TIME.test(given) ? Date.parse(given) : Number.NaN;
  if (!(atMs >= 0)) throw new Refusal('invalid_request', `${name} must be a time such as 2026-11-21T12:00:00Z.`);
  return atMs;
}

function oneOf<Value extends string>(query: URLSearchParams, name: string, values: readonly Value[]): Value | null {
  const given = query.get(name);
  if (given === null) return null;
  const value = values.find((each) => each === given);
  if (value === undefined) throw new Refusal('invalid_request', `${name} must be one of ${values.join(', ')}.`);
  return value;
}

const WORDS_MAX_CHARS = 200;

function wordsIn(query: URLSearchParams): string | null {
  const words = query.get('words');
  if (words !== null && (words === '' || words.length > WORDS_MAX_CHARS)) {
    throw new Refusal('invalid_request', `words must have 1 to ${WORDS_MAX_CHARS} characters.`);
  }
  return words;
}

function filterOf(query: URLSearchParams): ConversationFilter {
  const rating = oneOf(query, 'rating', ['1', '-1']);
  return {
    endUserId: query.get('end_user_id'),
    channel: oneOf(query, 'channel', ['live', 'sandbox']),
    state: oneOf(query, 'state', TURN_STATES),
    rating: rating === null ? null : rating === '1' ? 1 : -1,
    words: wordsIn(query),
    fromMs: timeOf(query, 'from'),
    toMs: timeOf(query, 'to'),
  };
}

/** Opening a file for every organisation takes time; beyond these the caller says which app it is about. */
const ORGANISATIONS_SEARCHED = 100;

/** The newest turns that a request is looked for in: some milliseconds. */
const REQUESTS_SEARCHED = 50_000;

const DEVICE_SHOWN_CHARS = 4;

/** The end of a device id. With the whole id and a key, which is public, the conversation could be read with its personal data. */
export function shownDevice(deviceId: string | null): string | null {
  return deviceId === null || deviceId === '' ? null : deviceId.slice(-DEVICE_SHOWN_CHARS);
}

/** What is asked of a failure that a row keeps as JSON: what the person saw, and why. */
export function failureToWire(kept: string | null): KeptFailure | null {
  if (kept === null) return null;
  const { code, message, retryable, cause } = JSON.parse(kept) as KeptFailure;
  return { code, message, retryable, ...(cause !== undefined && { cause }) };
}

function headToWire(head: ConversationHead): ShownHead {
  return {
    id: head.id,
    app_id: head.appId,
    channel: head.channel,
    device: shownDevice(head.deviceId),
    end_user_id: head.endUserId,
    external_user_id: head.externalUserId,
    title: conversationTitle(head.firstWords),
    turn_state: head.turnState,
    turn_failure: failureToWire(head.turnFailure),
    messages: head.messages,
    created_at: timestamp(head.createdAtMs),
    updated_at: timestamp(head.updatedAtMs),
  };
}

export const listConversationsRoute = appRead('/conversations', ({ app, db }, query) => {
  const limit = newestLimit(query);
  const request = query.get('request_id');
  if (request !== null) {
    const found = readConversationOfRequest(db, app.id, request, REQUESTS_SEARCHED);
    return { conversations: found === undefined ? [] : [headToWire(found)], next: null };
  }
  const { conversations, next } = listConversations(db, app.id, { filter: filterOf(query), before: pageKey(query), limit });
  return { conversations: conversations.map(headToWire), next: nextOf(next) };
});

interface FoundConversation {
  readonly db: Connection;
  readonly head: ConversationHead;
}

/** @throws Refusal 404 not_found; 400 invalid_request when it is not said whose it is and there are too many to look through. */
function requireConversation(services: Services, id: string, appId: string | null): FoundConversation {
  const missing = new Refusal('not_found', `There is no conversation ${id}.`);
  if (appId !== null) {
    const { app, db } = requireApp(services, appId);
    const head = readConversationHead(db, id);
    if (head?.appId !== app.id) throw missing;
    return { db, head };
  }
  const organisations = listOrganisations(services.storage.control, '', ORGANISATIONS_SEARCHED + 1);
  for (const organisation of organisations.slice(0, ORGANISATIONS_SEARCHED)) {
    const found = readIfThere(() => {
      const db = services.storage.organisation(organisation.id);
      return { db, head: readConversationHead(db, id) };
    }, undefined);
    if (found?.head !== undefined) return { db: found.db, head: found.head };
  }
  if (organisations.length <= ORGANISATIONS_SEARCHED) throw missing;
  throw new Refusal('invalid_request', 'app is required here: say which app the conversation belongs to, as ?app=<app id>.');
}

function invocationToWire(row: InvocationRow, nowMs: number) {
  return {
    id: row.id,
    name: row.name,
    risk: row.risk,
    executor: row.executor,
    state: expireChange(row, nowMs)?.to ?? row.state,
    params: row.params,
    result: row.result === null ? null : JSON.parse(row.result),
    error: row.error,
    block_id: row.blockId,
    requested_at: timestamp(row.requestedAtMs),
    confirmed_at: timestamp(row.confirmedAtMs),
  };
}

function saidOf(feedback: readonly FeedbackRow[], ratings: readonly RatingRow[], messageId: string) {
  return {
    feedback: feedback
      .filter((row) => row.messageId === messageId)
      .map(({ rating, reason, deviceId, updatedAtMs }) => ({
        rating,
        reason,
        device: shownDevice(deviceId),
        updated_at: timestamp(updatedAtMs),
      })),
    ratings: ratings
      .filter((row) => row.messageId === messageId)
      .map(({ blockId, value, comment, createdAtMs }) => ({ block_id: blockId, value, comment, created_at: timestamp(createdAtMs) })),
  };
}

function turnToWire(turn: MessageTurn | undefined) {
  if (turn === undefined) return null;
  const { turnId, state, model, endedAtMs, failure } = turn;
  return { turn_id: turnId, state, model, ended_at: timestamp(endedAtMs), failure: failureToWire(failure) };
}

/** Messages with everything that hangs on them; what an assistant's message alone can have is missing on a person's. */
function messagesToWire(db: Connection, conversationId: string, messages: readonly StoredMessage[], nowMs: number) {
  const ids = messages.map(({ id }) => id);
  const attachments = shownAttachments(db, ids);
  const turns = readTurnsOfMessages(db, ids);
  const feedback = readFeedback(db, ids);
  const blockIds = messages.flatMap(({ blocks }) => blocks.filter((block) => block.block_type === 'rating').map((block) => block.id));
  const ratings = readRatings(db, conversationId, blockIds);
  return messages.map(({ id, role, blocks, createdAtMs }) => {
    const shown = { id, role, blocks, created_at: timestamp(createdAtMs) };
    if (role === 'user') {
      const attached = attachments.get(id) ?? [];
      return {
        ...shown,
        attachments: attached.map(({ uploadId, mediaType, size }) => ({ upload_id: uploadId, media_type: mediaType, size })),
      };
    }
    const turn = turns.get(id);
    const calls = turn === undefined ? [] : readTurnInvocations(db, turn.turn);
    const invocations = calls.map((row) => invocationToWire(row, nowMs));
    return { ...shown, turn: turnToWire(turn), invocations, ...saidOf(feedback, ratings, id) };
  });
}

export const readConversationRoute = consoleRoute('GET', '/conversations/:conversation', undefined, ({ params, query }, services) => {
  const { db, head } = requireConversation(services, params.conversation ?? '', query.get('app'));
  const limit = newestLimit(query);
  const { messages, next } = readTranscriptPage(db, head.id, query.get('after') ?? '', limit);
  return json<Transcript>({ conversation: headToWire(head), messages: messagesToWire(db, head.id, messages, services.nowMs()), next });
});

export function spentToWire(spent: Spent | null) {
  if (spent === null) return null;
  return { input_tokens: spent.inputTokens, output_tokens: spent.outputTokens, cost_usd: toUsd(spent.costMicroUsd) };
}

/** The texts of a message, in placeholder form; null: it has none. */
export function wordsOf(blocks: readonly Block[]): string | null {
  const words = blocks.flatMap(({ body: { md } }) => (typeof md === 'string' ? [md] : []));
  return words.length === 0 ? null : words.join('\n');
}

/** @throws Refusal 404 not_found */
function requireTurn({ app, db }: FoundApp, turnId = ''): TurnRow {
  const row = readTurn(db, app.id, turnId.toLowerCase());
  if (row === undefined) throw new Refusal('not_found', `There is no turn ${turnId}.`);
  return row;
}

const readTurnRoute = appRoute('GET', '/turns/:turn', undefined, (found, { params }) => {
  const { db } = found;
  const row = requireTurn(found, params.turn);
  const [question, answer] = [row.turn * 2, row.turn * 2 + 1];
  const blocks = readBlocks(db, [question, answer]);
  return json({
    turn: {
      turn_id: row.turnId,
      conversation_id: row.conversationId,
      message_id: row.messageId,
      state: row.state,
      model: row.model,
      opened_at: timestamp(row.openedAtMs),
      ended_at: timestamp(row.endedAtMs),
      spent: spentToWire(spentOnTurn(db, row.turn)),
      said: wordsOf(blocks.get(question) ?? []),
      blocks: blocks.get(answer) ?? [],
    },
  });
});

const readShownRoute = appRoute('GET', '/turns/:turn/shown', undefined, (found, { params }) =>
  json({ shown: readShown(found.db, found.app, requireTurn(found, params.turn)) }),
);

export const conversationRoutes: readonly Route[] = [listConversationsRoute, readConversationRoute, readTurnRoute, readShownRoute];
