/** The events of a turn's stream (STREAM-1) and the one way they are written. */
import type { Block } from '../catalog/block.ts';
import type { ErrorCode, Refusal } from '../errors.ts';
import { PROTOCOL_VERSION } from '../limits.ts';
import type { Detail } from '../schema/issues.ts';
import type { Notice } from './notice.ts';

/** What an action can do: look, change, or change for good. */
export const RISKS = ['read', 'write', 'destructive'] as const;
export type Risk = (typeof RISKS)[number];
export type Executor = 'client' | 'server';

export interface PendingInvocation {
  readonly invocation_id: string;
  readonly name: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly risk: Risk;
  readonly timeout_ms: number;
  readonly executor: Executor;
  readonly block_id?: string;
}

export type TurnEndStatus = 'completed' | 'awaiting_tool_results' | 'awaiting_confirmation' | 'error';

/** Capability of builds that show a notice (STREAM-12). */
export const NOTICES_CAPABILITY = 'notices';

/** What the caller has left after this turn, so that a client can warn before a limit is reached. */
export interface TurnUsage {
  /** Chat requests of this device that fit into the minute now. */
  readonly minute_left: number;
  /** Turns that are left today (UTC): of the app on a live key, of the organisation on a test key. */
  readonly day_left: number;
}

export type StreamEvent =
  | {
      readonly type: 'turn.start';
      readonly conversation_id: string;
      readonly message_id: string;
      readonly model: string;
      readonly request_id: string;
      /** Receipts of the calls that this turn confirms (CONFIRM-19). */
      readonly receipts?: readonly { readonly invocation_id: string; readonly receipt: string }[];
    }
  | { readonly type: 'block.start'; readonly index: number; readonly id: string; readonly block_type: string }
  | { readonly type: 'block.delta'; readonly index: number; readonly text_delta: string }
  | { readonly type: 'block.ready'; readonly index: number; readonly block: Block }
  | {
      readonly type: 'action.execute';
      readonly invocation_id: string;
      readonly name: string;
      readonly params: Readonly<Record<string, unknown>>;
      readonly timeout_ms: number;
    }
  | {
      readonly type: 'turn.end';
      readonly status: TurnEndStatus;
      readonly pending?: readonly PendingInvocation[];
      readonly billable?: boolean;
      readonly stopped?: boolean;
      /** The answer reached a bound (limits: ANSWER_TEXT_MAX_CHARS, or one of the model's own) and was ended there. */
      readonly truncated?: boolean;
      /** The content filter of the model's server ended the answer. */
      readonly filtered?: boolean;
      /** An action that carried the person's token was answered 401: another token may help. */
      readonly user_token_refused?: boolean;
      readonly usage?: TurnUsage;
    }
  | { readonly type: 'notice'; readonly reason: Notice['reason']; readonly message: string; readonly resets_at?: string }
  | {
      readonly type: 'error';
      readonly code: ErrorCode;
      readonly message: string;
      readonly retryable: boolean;
      /** Whole seconds after which another try makes sense, where that is known: `Retry-After` of a stream. */
      readonly retry_after_s?: number;
      /** What is wrong with the request, field by field; twelve at most. */
      readonly details?: readonly Detail[];
      /** The card as it is, where the request answered another revision of it. */
      readonly block?: Block;
    }
  | { readonly type: 'ping' };

/** What stands between the two numbers of a frame, by its type: made once, because each part of a text is an object. */
const frameOpens: { [Type in StreamEvent['type']]?: string } = {};

function openFrame(type: StreamEvent['type']): string {
  const opens = `\nevent: ${type}\ndata: {"type":"${type}","v":${PROTOCOL_VERSION},"seq":`;
  frameOpens[type] = opens;
  return opens;
}

/** One server-sent frame. `fieldsJson` is the event's own fields as JSON without the braces, or ''. */
export function renderFrame(seq: number, type: StreamEvent['type'], fieldsJson: string): string {
  const opens = frameOpens[type] ?? openFrame(type);
  return `id: ${seq}${opens}${seq}${fieldsJson === '' ? '' : ','}${fieldsJson}}\n\n`;
}

export function renderEvent(seq: number, event: StreamEvent): string {
  const { type } = event;
  const json = JSON.stringify(event);
  const opens = `{"type":"${type}",`;
  // Nearly all begin so, and a copy without the type costs more than the text.
  if (json.startsWith(opens)) return renderFrame(seq, type, json.slice(opens.length, -1));
  const { type: _, ...fields } = event;
  return renderFrame(seq, type, JSON.stringify(fields).slice(1, -1));
}

/**
 * What a stream says that is refused before its turn starts (CHAT-16): a notice where the refusal is one, else an error; the end alone
 * where somebody stopped the turn.
 */
export function refusalEvents({ code, message, retryable, retryAfterS, details, notice, block, stopped }: Refusal): readonly StreamEvent[] {
  if (stopped) return [{ type: 'turn.end', status: 'completed', billable: false, stopped: true }];
  if (notice === undefined) {
    return [
      {
        type: 'error',
        code,
        message,
        retryable,
        ...(retryAfterS === undefined ? {} : { retry_after_s: retryAfterS }),
        ...(details === undefined ? {} : { details }),
        ...(block === undefined ? {} : { block }),
      },
      { type: 'turn.end', status: 'error' },
    ];
  }
  const { reason, resets_at } = notice;
  return [
    { type: 'notice', reason, message, ...(resets_at === undefined ? {} : { resets_at }) },
    { type: 'turn.end', status: 'completed', billable: false },
  ];
}

/** The hot path: a `block.delta` frame. */
export function renderDelta(seq: number, index: number, textDelta: string): string {
  return `id: ${seq}\nevent: block.delta\ndata: {"type":"block.delta","v":${PROTOCOL_VERSION},"seq":${seq},"index":${index},"text_delta":${JSON.stringify(textDelta)}}\n\n`;
}
