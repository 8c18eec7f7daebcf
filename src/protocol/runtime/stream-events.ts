/** The events of a turn's stream (service.md "Stream events", decisions §4) and the one way they are written. */
import type { Block } from '../catalog/block.ts';
import type { ErrorCode } from '../errors.ts';
import { PROTOCOL_VERSION } from '../limits.ts';

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

export type StreamEvent =
  | {
      readonly type: 'turn.start';
      readonly conversation_id: string;
      readonly message_id: string;
      readonly model: string;
      readonly request_id: string;
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
    }
  | { readonly type: 'error'; readonly code: ErrorCode; readonly message: string; readonly retryable: boolean }
  | { readonly type: 'ping' };

/** One server-sent frame. `fieldsJson` is the event's own fields as JSON without the braces, or ''. */
export function renderFrame(seq: number, type: StreamEvent['type'], fieldsJson: string): string {
  const separator = fieldsJson === '' ? '' : ',';
  return `id: ${seq}\nevent: ${type}\ndata: {"type":"${type}","v":${PROTOCOL_VERSION},"seq":${seq}${separator}${fieldsJson}}\n\n`;
}

/** One event as a frame. */
export function renderEvent(seq: number, event: StreamEvent): string {
  const { type, ...fields } = event;
  return renderFrame(seq, type, JSON.stringify(fields).slice(1, -1));
}

/** The hot path: a `block.delta` frame. */
export function renderDelta(seq: number, index: number, textDelta: string): string {
  return `id: ${seq}\nevent: block.delta\ndata: {"type":"block.delta","v":${PROTOCOL_VERSION},"seq":${seq},"index":${index},"text_delta":${JSON.stringify(textDelta)}}\n\n`;
}
