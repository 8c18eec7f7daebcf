/** A conversation's rows as the model reads them: who said what, which actions were called and how they ended. */
import { attachmentWords } from '../../assistant/attachments/attachment-text.ts';
import { fence } from '../../assistant/fence.ts';
import type { ChatMessage, ToolCall } from '../../assistant/models/model.ts';
import { withoutMarks } from '../../assistant/privacy/number-placeholder.ts';
import type { Block } from '../../protocol/catalog/block.ts';
import { answerWords, writtenArgs } from '../../protocol/catalog/catalog.ts';
import { isWebUrl } from '../../protocol/catalog/text-checks.ts';
import { clipWhole } from '../../protocol/placeholder.ts';
import { isObject } from '../../protocol/schema/bounded.ts';
import { saysSomething } from '../../protocol/schema/text.ts';
import { readTextBlocks } from '../../storage/conversations/blocks.ts';
import { type RecentMessages, readMessages, type StoredMessage } from '../../storage/conversations/conversations.ts';
import { type InvocationRow, readConversationInvocations } from '../../storage/conversations/invocations.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { attachmentsOfMessages } from '../../storage/uploads/uploads.ts';
import { originalCall } from '../calls/call-definition.ts';
import { expireChange } from '../calls/invocation-step.ts';

/** A model needs the recent past; older messages cost tokens and say little. */
const MESSAGES_REMEMBERED = 40;
/** About 12,000 tokens: what fits beside tools and passages in the smallest common context windows. */
const CHARS_REMEMBERED = 48_000;
/** A message makes at most 8 calls a round; this many cover the messages remembered. */
const INVOCATIONS_REMEMBERED = 64;

/** A longer component is remembered by its first items and the beginnings of its texts. */
const COMPONENT_MAX_CHARS = 2_000;
const ITEMS_REMEMBERED = 6;
const TEXT_REMEMBERED_CHARS = 160;

const blockWords = ({ body }: Block) => String(body.md ?? '');

/** Texts of `value` that are long, among those that are remembered. */
function longTexts(value: unknown): number {
  if (typeof value === 'string') return value.length > TEXT_REMEMBERED_CHARS && !isWebUrl(value) ? 1 : 0;
  const members = Array.isArray(value) ? value.slice(0, ITEMS_REMEMBERED) : isObject(value) ? Object.values(value) : [];
  return members.reduce<number>((sum, member) => sum + longTexts(member), 0);
}

/** A part of an address would be another one: a long one is left out. */
function shortened(value: unknown, textChars: number): unknown {
  if (typeof value === 'string') return value.length > TEXT_REMEMBERED_CHARS && isWebUrl(value) ? undefined : clipWhole(value, textChars);
  if (Array.isArray(value)) return value.slice(0, ITEMS_REMEMBERED).map((item) => shortened(item, textChars));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shortened(member, textChars)]));
}

/** As JSON; one long text, such as code, has most of the room. */
function remembered(args: unknown): string {
  return JSON.stringify(shortened(args, Math.max(TEXT_REMEMBERED_CHARS, Math.floor(COMPONENT_MAX_CHARS / Math.max(1, longTexts(args))))));
}

interface Call {
  readonly call: ToolCall;
  readonly result: string;
}

/** A component as the call that it was: words of it in the answer would be imitated. */
function componentCall(block: Block): Call[] {
  const args = writtenArgs(block.block_type, block.body);
  if (args === undefined) return [];
  const whole = JSON.stringify(args);
  const isLong = whole.length > COMPONENT_MAX_CHARS;
  const result = ['Shown.', isLong ? 'Its end is left out here.' : '', answerWords(block)].filter((part) => part !== '').join(' ');
  return [{ call: { id: block.id, name: block.block_type, arguments: isLong ? remembered(args) : whole }, result }];
}

function actionCall(row: InvocationRow): Call {
  const { params, edits } = originalCall(row);
  const call = { id: row.callId, name: row.name, arguments: withoutMarks(JSON.stringify(params)) };
  return { call, result: edits === null ? outcome(row) : `${editedByPerson(edits)}\n${outcome(row)}` };
}

/** What the model is told of a write while the person has not decided. A typed "yes" decides nothing: a second call would be a second card. */
export function waitsForPerson(name: string): string {
  return `A card for ${name} is on the person's screen and waits for its button. It has not been done, and words do not confirm it. Do not call it again: ask for the button.`;
}

/** When the service runs the calls, nothing was done; what the app's own code did is unknown. */
function agreedTooLongAgo({ name, executor }: InvocationRow): string {
  const done = executor === 'server' ? 'It was not done.' : 'It is not known whether it was done: say so.';
  return `The person agreed to ${name}, and nothing more was heard of it within a day. ${done}`;
}

/** The person said yes, and the client then did not report that it was done. */
function agreedInVain({ name, executor }: InvocationRow): string {
  const done = executor === 'server' ? 'It was not done.' : 'It is not known whether it was done: say so, and do not call it again.';
  return `The person agreed to ${name}, and the app did not report it as done. ${done}`;
}

function outcome(row: InvocationRow): string {
  switch (row.state) {
    case 'succeeded':
      return fence(`result of ${row.name}`, row.result ?? '{"status":"ok"}');
    case 'failed':
      return `${row.name} failed: ${fence('error', row.error ?? 'no reason was given')}`;
    case 'declined':
      return row.confirmedAtMs === null ? `The person declined ${row.name}. It was not done.` : agreedInVain(row);
    case 'expired':
      return row.confirmedAtMs === null ? `Nobody confirmed ${row.name} in time. It was not done.` : agreedTooLongAgo(row);
    case 'timed_out':
      return `${row.name} did not answer in time.`;
    case 'unknown':
      return `It is not known whether ${row.name} was done: its answer was lost. Say so, and do not call it again.`;
    case 'confirmed':
    case 'executing':
      return `${row.name} was confirmed and is being done; there is no result yet. Do not call it again.`;
    default:
      return row.risk === 'read' ? `${row.name} has not answered.` : waitsForPerson(row.name);
  }
}

function assistantMessages(message: StoredMessage, rows: readonly InvocationRow[]): ChatMessage[] {
  const said = message.blocks.filter((block) => block.block_type === 'text');
  const content = said.map(blockWords).join('\n\n');
  const made = [...message.blocks.flatMap(componentCall), ...rows.map(actionCall)];
  if (made.length === 0) return content === '' ? [] : [{ role: 'assistant', content }];
  const results = made.map(({ call, result }): ChatMessage => ({ role: 'tool', toolCallId: call.id, name: call.name, content: result }));
  return [{ role: 'assistant', content, toolCalls: made.map(({ call }) => call) }, ...results];
}

/** The model's own call stays as it made it; of what a person changed on the card it learns here (CONFIRM-17). */
function editedByPerson(edits: Readonly<Record<string, unknown>>): string {
  return `Before deciding, the person changed values of this call. They are now: ${fence('changed values', withoutMarks(JSON.stringify(edits)))}`;
}

function sizeOf(messages: readonly ChatMessage[]): number {
  const written = (message: ChatMessage) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []);
  return messages.reduce(
    (sum, message) => written(message).reduce((chars, call) => chars + call.arguments.length, sum + message.content.length),
    0,
  );
}

function userMessages(message: StoredMessage, attached: readonly ChatMessage[]): ChatMessage[] {
  return saidWith(attached, message.blocks.map(blockWords).join('\n\n'));
}

/** What was attached, and behind it what was said with it, if anything was. */
export function saidWith(attached: readonly ChatMessage[], content: string): ChatMessage[] {
  return attached.length > 0 && !saysSomething(content) ? [...attached] : [...attached, { role: 'user', content }];
}

/** Attachments of these messages as the model reads them later on: their words, and pictures by name. */
function attachedWords(db: Connection, messages: readonly StoredMessage[]): Map<string, ChatMessage[]> {
  const users = messages.filter(({ role }) => role === 'user').map(({ id }) => id);
  const words = new Map<string, string[]>();
  for (const attachment of attachmentsOfMessages(db, users)) {
    words.set(attachment.messageId, [...(words.get(attachment.messageId) ?? []), attachmentWords(attachment)]);
  }
  return new Map(Array.from(words, ([id, parts]) => [id, [{ role: 'user', content: parts.join('\n\n') }]]));
}

export interface Asked {
  /** What comes with the message `question` of the person, or with the newest one, pictures included; of others their rows are read. */
  readonly attached?: readonly ChatMessage[];
  readonly question?: string | null;
  /** The newest message, where it is no row yet. */
  readonly unstored?: StoredMessage | null;
  /** Where earlier messages are kept, beside one that is no row yet; absent: they are read. */
  readonly recent?: RecentMessages | undefined;
  /** False: no call was made in it. */
  readonly mayHaveCalls?: boolean;
  /** The turn that answers, where it has a row: one that is tried again may have others behind it, which are not a part of it. */
  readonly turn?: number | undefined;
  /** The transcript as it was before this message was begun: id of an answer. */
  readonly before?: string | undefined;
  /** Calls whose results the turn brings. */
  readonly told?: readonly string[] | undefined;
}

/** `fromQuestion`: where in `messages` the message begins that is answered. */
export interface Transcript {
  readonly messages: readonly ChatMessage[];
  readonly fromQuestion: number;
  /** The person has asked something else since, which was answered: what is answered now are results alone (MODEL-42). */
  readonly isLate: boolean;
}

/** The calls behind what was said last, as a part of it: servers do not like two answers in a row. */
function withCalls(messages: readonly ChatMessage[], rows: readonly InvocationRow[]): readonly ChatMessage[] {
  const made = rows.map(actionCall);
  const last = messages.at(-1);
  const isSaid = last?.role === 'assistant' && last.toolCalls === undefined;
  const call: ChatMessage = { role: 'assistant', content: isSaid ? last.content : '', toolCalls: made.map((each) => each.call) };
  const results = made.map((each): ChatMessage => ({ role: 'tool', toolCallId: each.call.id, name: each.call.name, content: each.result }));
  return [...(isSaid ? messages.slice(0, -1) : messages), call, ...results];
}

/**
 * The newest part of a conversation, oldest first, at most CHARS_REMEMBERED characters (the newest message whatever
 * its length). `nowMs` decides which calls have run out of time. Calls stay with the message that made them, so that no result
 * stands without its call.
 */
export function readTranscript(
  db: Connection,
  conversationId: string,
  nowMs: number,
  { attached = [], question = null, unstored = null, recent, mayHaveCalls = true, turn, before, told = [] }: Asked = {},
): Transcript {
  // As many earlier ones as there will be beside the turn's own two messages.
  const limit = MESSAGES_REMEMBERED - (unstored !== null ? 2 : before !== undefined ? 1 : 0);
  const stored =
    unstored !== null && recent !== undefined
      ? recent.read(db, conversationId, limit).toReversed()
      : readMessages(db, conversationId, { limit, before, upToTurn: turn, wordless: true }).reverse();
  const messages = unstored === null ? stored : [unstored, ...stored];
  const newestId = messages.find(({ role }) => role === 'user')?.id;
  const questionId = question ?? newestId;
  const calls = new Map<string, InvocationRow[]>();
  const late: InvocationRow[] = [];
  for (const stored of mayHaveCalls ? readConversationInvocations(db, conversationId, INVOCATIONS_REMEMBERED) : []) {
    const row = { ...stored, state: expireChange(stored, nowMs)?.to ?? stored.state };
    if (questionId !== newestId && told.includes(row.id)) late.push(row);
    else calls.set(row.messageId, [...(calls.get(row.messageId) ?? []), row]);
  }
  const withWords = attachedWords(db, messages);
  const groups: ChatMessage[][] = [];
  let chars = 0;
  let sinceQuestion = 0;
  for (const message of messages) {
    const shown = message.id === questionId && attached.length > 0 ? attached : (withWords.get(message.id) ?? []);
    const group = message.role === 'user' ? userMessages(message, shown) : assistantMessages(message, calls.get(message.id) ?? []);
    chars += sizeOf(group);
    if (chars > CHARS_REMEMBERED && groups.length > 0) break;
    groups.unshift(group);
    if (message.id === questionId) sinceQuestion = groups.length;
  }
  const earlier = groups.length - sinceQuestion;
  const isLate = late.length > 0;
  const read = groups.flat();
  return { messages: isLate ? withCalls(read, late) : read, fromQuestion: groups.slice(0, earlier).flat().length, isLate };
}

/** The text of a message that is being written, from this block on; only its beginning when it is longer than a transcript may be. */
export function readWritten(db: Connection, messageId: string, fromBlock: number): string {
  let text = '';
  for (const md of readTextBlocks(db, messageId, fromBlock)) {
    if (text.length + md.length > CHARS_REMEMBERED) break;
    text += text === '' ? md : `\n\n${md}`;
  }
  return text;
}
