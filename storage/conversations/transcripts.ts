/** Conversations as the console reads them: an app's list, and one conversation's messages from the beginning. Read only. */
import type { TurnState } from '../../protocol/runtime/states.ts';
import type { Channel } from '../organisations/organisations.ts';
import { columns, integer, orNull, type RowOf, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { afterPage, type PageKey, pageStart } from '../sqlite/page-key.ts';
import { FAILURE } from '../traces/traces.ts';
import { messageHead, messagesOf, numberOf, OF_TURNS, pageMessage, role, type StoredMessage, withinPage } from './conversations.ts';
import { FIRST_WORDS } from './own-conversations.ts';
import { ANSWER_OF_TURN } from './turns.ts';

/** Rows read for one page of those that a filter keeps: some 20 ms. The app may have millions of others. */
const SCANNED_MAX = 5_000;
/** How much of each first question is searched: what names it, and no page that somebody pasted. */
const SEARCHED_CHARS = 1_000;

const place = { id: text, updatedAtMs: integer };
const conversationPlace = columns(place);

const NEWEST_STATE = '(SELECT state FROM turns WHERE conversation_id = conversations.id ORDER BY turns.id DESC LIMIT 1)';

const NEWEST_FAILURE = `(SELECT ${FAILURE} FROM turns WHERE conversation_id = conversations.id ORDER BY turns.id DESC LIMIT 1)`;

const conversationHead = columns({
  ...place,
  appId: text,
  channel: text.as<Channel>(),
  deviceId: text,
  endUserId: orNull(text),
  /** As the app names the person; null: anonymous. */
  externalUserId: orNull(text).from('(SELECT external_user_id FROM end_users WHERE end_users.id = conversations.end_user_id)'),
  turnState: orNull(text.as<TurnState>()).from(NEWEST_STATE),
  turnFailure: orNull(text).from(NEWEST_FAILURE),
  messages: integer.from(
    `coalesce((SELECT ordinal FROM messages
       WHERE no = 2 * (SELECT max(turns.id) FROM turns WHERE conversation_id = conversations.id) + 1), 0)`,
  ),
  firstWords: text.from(FIRST_WORDS),
  createdAtMs: integer,
});

export type ConversationHead = RowOf<typeof conversationHead>;

export interface ConversationsPage {
  readonly conversations: readonly ConversationHead[];
  /** Where the next page begins; null on the last one. A page of what a filter keeps may be short, even empty, without being the last. */
  readonly next: PageKey | null;
}

/** Which conversations of an app; null: any. */
export interface ConversationFilter {
  readonly endUserId: string | null;
  readonly channel: Channel | null;
  readonly state: TurnState | null;
  /** An answer in it has this thumb. */
  readonly rating: 1 | -1 | null;
  /** Stand in what was asked first, whatever their case in ASCII. */
  readonly words: string | null;
  readonly fromMs: number | null;
  readonly toMs: number | null;
}

const KEPT = `(:channel IS NULL OR channel = :channel) AND (:state IS NULL OR ${NEWEST_STATE} = :state)
  AND (:rating IS NULL OR EXISTS (SELECT 1 FROM feedback WHERE conversation_id = conversations.id AND rating = :rating))
  AND (:words IS NULL OR instr(lower(substr(${FIRST_WORDS}, 1, ${SEARCHED_CHARS})), lower(:words)) > 0)`;

/** Conversations of an app or of one person of it, in the order of an index, that were active in the time; what is kept of them is told after. */
function inOrder(filter: ConversationFilter): string {
  const whose = filter.endUserId === null ? 'app_id = :appId' : 'end_user_id = :endUserId AND app_id = :appId';
  return `FROM conversations WHERE ${whose} AND updated_at_ms >= :fromMs AND ${afterPage('updated_at_ms', 'id')}`;
}

/** Up to `limit` conversations of an app that the filter keeps, the most recently active first. */
export function listConversations(
  db: Connection,
  appId: string,
  { filter, before, limit }: { filter: ConversationFilter; before: PageKey | null; limit: number },
): ConversationsPage {
  const { channel, state, rating, words, endUserId, fromMs, toMs } = filter;
  const start = pageStart(before);
  const { atMs, key } = toMs !== null && toMs <= start.atMs ? { atMs: toMs, key: '' } : start;
  const whose = { appId, atMs, key, fromMs: fromMs ?? 0, ...(endUserId === null ? {} : { endUserId }) };
  const from = `FROM conversations WHERE id IN (
      SELECT id FROM (SELECT id, channel ${inOrder(filter)} LIMIT :scanned) AS conversations WHERE ${KEPT} LIMIT :limit)
    ORDER BY updated_at_ms DESC, id DESC`;
  const conversations = conversationHead.all(db, from, { ...whose, channel, state, rating, words, limit, scanned: SCANNED_MAX });
  const last = conversations.at(-1);
  if (conversations.length === limit && last !== undefined) return { conversations, next: { atMs: last.updatedAtMs, key: last.id } };
  if (channel === null && state === null && rating === null && words === null) return { conversations, next: null };
  const scanned = conversationPlace.get(db, `${inOrder(filter)} LIMIT 1 OFFSET :skipped`, { ...whose, skipped: SCANNED_MAX - 1 });
  return { conversations, next: scanned === undefined ? null : { atMs: scanned.updatedAtMs, key: scanned.id } };
}

const turnConversation = columns({ conversationId: text });

/** The conversation that a request of this id, or a turn of this id, was of; among the newest `within` turns of the organisation. */
export function readConversationOfRequest(db: Connection, appId: string, id: string, within: number): ConversationHead | undefined {
  const from = `FROM turns WHERE id > (SELECT coalesce(max(id), 0) FROM turns) - :within AND (request_id = :id OR turn_id = :id) AND app_id = :appId
    ORDER BY turns.id DESC LIMIT 1`;
  const found = turnConversation.get(db, from, { appId, id, within });
  return found === undefined ? undefined : readConversationHead(db, found.conversationId);
}

const personConversation = columns({ id: text, deviceId: text, createdAtMs: integer, updatedAtMs: integer });

export type PersonConversation = RowOf<typeof personConversation>;

export function listConversationsOfPerson(db: Connection, endUserId: string, after: string, limit: number): PersonConversation[] {
  const from = 'FROM conversations WHERE end_user_id = :endUserId AND id > :after ORDER BY id LIMIT :limit';
  return personConversation.all(db, from, { endUserId, after, limit });
}

export function readConversationHead(db: Connection, id: string): ConversationHead | undefined {
  return conversationHead.get(db, 'FROM conversations WHERE id = :id', { id });
}

interface TranscriptPage {
  readonly messages: readonly StoredMessage[];
  /** The message that the next page begins after; null on the last one. A page of long messages is shorter than `limit`. */
  readonly next: string | null;
}

/** Up to `limit` messages after the one with the id `after` ('' for the first ones; unknown: none), oldest first. */
export function readTranscriptPage(db: Connection, conversationId: string, after: string, limit: number): TranscriptPage {
  const before = after === '' ? '0' : numberOf(':after');
  const from = `FROM ${OF_TURNS} WHERE conversation_id = :conversationId AND turns.id >= ${before} / 2 AND no > ${before}
    ORDER BY turns.id, no LIMIT :limit`;
  const rows = pageMessage.all(db, from, { conversationId, limit, after });
  const page = withinPage(rows);
  const isLast = page.length === rows.length && rows.length < limit;
  return { messages: messagesOf(db, page), next: isLast ? null : (page.at(-1)?.id ?? null) };
}

const messageTurn = columns({
  turn: integer.from('id'),
  turnId: text,
  state: text,
  model: text,
  endedAtMs: orNull(integer),
  failure: orNull(text).from(FAILURE),
  assistantMessageId: text.from(ANSWER_OF_TURN),
});

export type MessageTurn = Omit<RowOf<typeof messageTurn>, 'assistantMessageId'>;

export function readTurnsOfMessages(db: Connection, messageIds: readonly string[]): ReadonlyMap<string, MessageTurn> {
  const answered = 'SELECT no / 2 FROM messages WHERE messages.id IN (SELECT value FROM json_each(:ids)) AND no % 2 = 1';
  const from = `FROM turns WHERE id IN (${answered})`;
  return new Map(messageTurn.all(db, from, { ids: JSON.stringify(messageIds) }).map((row) => [row.assistantMessageId, row]));
}

const failedMessage = columns({ id: text.from('messages.id'), failure: text.from(FAILURE) });

/** Why the turns of these messages failed, as rows keep it, by the id of the message; those of other turns are not there. */
export function readFailuresOfMessages(db: Connection, messageIds: readonly string[]): ReadonlyMap<string, string> {
  const from = `FROM messages JOIN turns ON turns.id = messages.no / 2
    WHERE messages.id IN (SELECT value FROM json_each(:ids)) AND turns.state = 'failed' AND ${FAILURE} IS NOT NULL`;
  return new Map(failedMessage.all(db, from, { ids: JSON.stringify(messageIds) }).map(({ id, failure }) => [id, failure]));
}

const messagePlace = columns({
  id: text.from('messages.id'),
  conversationId: text.from('(SELECT conversation_id FROM turns WHERE turns.id = messages.no / 2)'),
  role,
});

export function readMessagePlace(db: Connection, id: string): RowOf<typeof messagePlace> | undefined {
  return messagePlace.get(db, 'FROM messages WHERE id = :id', { id });
}

/** What a person said to open this turn, in placeholder form; null for a continuation, and for a turn that is not there. */
export function readOpeningWords(db: Connection, appId: string, turnId: string): StoredMessage | null {
  const from = 'FROM messages WHERE no = 2 * (SELECT turns.id FROM turns WHERE app_id = :appId AND turn_id = :turnId)';
  const opening = messageHead.get(db, from, { appId, turnId });
  return opening === undefined ? null : (messagesOf(db, [opening])[0] ?? null);
}
