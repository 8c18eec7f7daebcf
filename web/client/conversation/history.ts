/**
 * What was said before, as the service tells it, and how it is put together with turns that this client holds (CLIENT-13). Pure. Nothing
 * is shown twice: what the service stored of a turn is the service's, and what is still live is the turn's.
 */
import type { Block } from '../../../protocol/catalog/block.ts';
import type { MessageReply, MessagesReply } from '../../../protocol/runtime/messages.ts';
import { isBusy, type TurnState } from './turn.ts';

export interface History {
  /** Oldest first. */
  readonly messages: readonly MessageReply[];
  readonly hasMore: boolean;
  readonly phase: 'unread' | 'reading' | 'read' | 'failed';
  /** Turns that were over when it was asked for, so that its newest page tells them. */
  readonly covers: readonly string[];
}

export const NO_HISTORY: History = { messages: [], hasMore: false, phase: 'unread', covers: [] };

/** The oldest message that is known, of the history or of a turn: earlier pages end before it. */
export function oldestMessageId({ messages }: History, turns: readonly TurnState[]): string | undefined {
  return messages[0]?.id ?? turns.find(({ messageId }) => messageId !== undefined)?.messageId;
}

/** Whether the person said something with this turn, so that their message is shown with it. */
function hasWords({ payload: { message, form_submission: form } }: TurnState): boolean {
  return message !== undefined || form !== undefined;
}

/** An earlier page before what is there. Where it ends with what the oldest turn was asked, that is the turn's. */
export function withEarlier(history: History, page: MessagesReply, [oldest]: readonly TurnState[]): History {
  const { has_more: hasMore } = page;
  const isAsked = history.messages.length === 0 && oldest !== undefined && hasWords(oldest) && page.messages.at(-1)?.role === 'user';
  const messages = isAsked ? page.messages.slice(0, -1) : page.messages;
  const known = new Set(history.messages.map(({ id }) => id));
  return { ...history, phase: 'read', hasMore, messages: [...messages.filter(({ id }) => !known.has(id)), ...history.messages] };
}

/** The newest page in the place of what it covers. Without an overlap all that was read before is let go: something lies between. */
export function withNewest(history: History, { messages, has_more: hasMore }: MessagesReply): History {
  const [first] = messages;
  const at = first === undefined ? -1 : history.messages.findIndex(({ id }) => id === first.id);
  if (at < 0) return { phase: 'read', messages, hasMore, covers: [] };
  return { phase: 'read', covers: [], hasMore: history.hasMore, messages: [...history.messages.slice(0, at), ...messages] };
}

/**
 * Without the messages of a turn that is shown by itself: its answer, and what the person said for it. `isLast`: the turn is the newest
 * that the history tells, so that its question stands at the end while it has said nothing.
 */
export function withoutTurn(history: History, turn: TurnState, isLast: boolean): History {
  const { messages } = history;
  const answer = messages.findIndex(({ id }) => id === turn.messageId);
  if (answer < 0 && !isLast) return history;
  const end = answer < 0 ? messages.length : answer;
  // What somebody else's turn was asked stays: nothing else shows it.
  const isAsked = hasWords(turn) && messages[end - 1]?.role === 'user';
  const start = isAsked ? end - 1 : end;
  const count = end - start + (answer < 0 ? 0 : 1);
  return count === 0 ? history : { ...history, messages: messages.toSpliced(start, count) };
}

export function withBlock(history: History, block: Block): History {
  const at = history.messages.findIndex(({ blocks }) => blocks.some(({ id }) => id === block.id));
  const message = history.messages[at];
  if (message === undefined) return history;
  const blocks = message.blocks.map((each) =>
    each.id === block.id && each.revision <= block.revision ? { ...block, index: each.index } : each,
  );
  return { ...history, messages: history.messages.with(at, { ...message, blocks }) };
}

/** Whether a turn has said all that it will. One that failed may be asked for again. */
export function isDone(turn: TurnState): boolean {
  return !(isBusy(turn) || turn.phase === 'waiting' || turn.phase === 'failed');
}

/** Turns that are over and held. A conversation goes on for years in a tab that is never closed. */
const DONE_MAX = 200;
/** Let go at once, so that it does not happen with every turn. */
const LET_GO = 50;

/** Lets the oldest turns go, and with them what lies before: all of it is read again as earlier pages. */
export function bounded(
  history: History,
  turns: readonly TurnState[],
): { readonly history: History; readonly turns: readonly TurnState[] } {
  if (turns.length <= DONE_MAX || !turns.slice(0, LET_GO).every(isDone)) return { history, turns };
  return { turns: turns.slice(LET_GO), history: { ...NO_HISTORY, phase: 'read', hasMore: true } };
}

/** Turns that the newest page does not tell: all but those that were over when it was asked for, or that it shows. */
export function notTold(turns: readonly TurnState[], { covers }: History, { messages }: MessagesReply): readonly TurnState[] {
  const told = new Set(messages.map(({ id }) => id));
  return turns.filter((turn) => !isDone(turn) || !(covers.includes(turn.turnId) || told.has(turn.messageId ?? '')));
}
