/** Conversations as the interface answers them. */

export interface ConversationHead {
  readonly id: string;
  readonly channel: 'live' | 'sandbox';
  readonly device: string | null;
  readonly end_user_id: string | null;
  readonly external_user_id: string | null;
  /** The first line of what was said first; '' where that was no text. */
  readonly title: string;
  readonly turn_state: string | null;
  readonly messages: number;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface ShownBlock {
  readonly id: string;
  readonly index: number;
  readonly block_type: string;
  readonly revision: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly fallback_text?: string;
}

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly risk: string;
  readonly executor: string;
  readonly state: string;
  readonly params: unknown;
  readonly result: unknown;
  readonly error: string | null;
  readonly requested_at: string;
  readonly confirmed_at: string | null;
}

export interface Message {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly blocks: readonly ShownBlock[];
  readonly created_at: string;
  readonly attachments?: readonly { readonly upload_id: string; readonly media_type: string; readonly size: number }[];
  readonly turn?: { readonly turn_id: string; readonly state: string; readonly model: string; readonly ended_at: string | null } | null;
  readonly invocations?: readonly Call[];
  readonly feedback?: readonly { readonly rating: number; readonly reason: string | null; readonly updated_at: string }[];
  readonly ratings?: readonly { readonly block_id: string; readonly value: number; readonly comment: string | null }[];
}

export interface Transcript {
  readonly conversation: ConversationHead;
  readonly messages: readonly Message[];
  readonly next: string | null;
}

const SIGNALS: Readonly<Record<string, string>> = {
  completed: 'is-ok',
  succeeded: 'is-ok',
  failed: 'is-bad',
  expired: 'is-bad',
  declined: '',
};

/** The signal of a turn's or a call's state; what is not over waits. */
export function signalOf(state: string): string {
  return SIGNALS[state] ?? 'is-wait';
}
