/** What the console interface answers of apps and organisations: returned by its routes, and read by its pages. */
import type { Block } from '../catalog/block.ts';
import type { PlanName } from '../plans.ts';
import type { KeptFailure } from '../runtime/states.ts';
import type { ShownSettings } from './app-settings.ts';
import type { AutoTopUp, Member, MoveReply } from './organisations.ts';

/** Its settings can be sent back with PATCH, field by field. */
export interface App extends ShownSettings {
  readonly id: string;
  readonly org_id: string;
  readonly name: string;
  readonly slug: string;
  readonly platform_hint: string;
  readonly live: boolean;
  readonly live_at: string | null;
  /** Live, though no website may show it. */
  readonly blocked: boolean;
  readonly persona_version: number;
  readonly published_version: number | null;
  readonly handshake_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface Organisation {
  readonly id: string;
  readonly name: string;
  readonly plan: PlanName;
  readonly members: readonly Member[];
  readonly auto_top_up: AutoTopUp;
  readonly created_at: string;
}

export interface Key {
  readonly id: string;
  readonly key: string;
  readonly channel: 'live' | 'test';
  readonly created_at: string;
}

export interface Secret {
  readonly identity_secret: string;
  readonly previous: { readonly valid_until: string } | null;
}

export interface Person {
  readonly updated_at: string;
  readonly id: string;
  readonly external_user_id: string;
  readonly channel: 'live' | 'test';
  readonly verified: boolean;
  readonly created_at: string;
}

export interface ConversationHead {
  readonly app_id: string;
  readonly id: string;
  readonly channel: 'live' | 'sandbox';
  readonly device: string | null;
  readonly end_user_id: string | null;
  readonly external_user_id: string | null;
  /** The first line of what was said first; '' where that was no text. */
  readonly title: string;
  readonly turn_state: string | null;
  readonly turn_failure: KeptFailure | null;
  readonly messages: number;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface Call {
  readonly block_id: string | null;
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
  readonly blocks: readonly Block[];
  readonly created_at: string;
  readonly attachments?: readonly { readonly upload_id: string; readonly media_type: string; readonly size: number }[];
  readonly turn?: {
    readonly turn_id: string;
    readonly state: string;
    readonly model: string;
    readonly ended_at: string | null;
    readonly failure: KeptFailure | null;
  } | null;
  readonly invocations?: readonly Call[];
  readonly feedback?: readonly { readonly rating: number; readonly reason: string | null; readonly updated_at: string }[];
  readonly ratings?: readonly { readonly block_id: string; readonly value: number; readonly comment: string | null }[];
}

export interface Transcript {
  readonly conversation: ConversationHead;
  readonly messages: readonly Message[];
  readonly next: string | null;
}

export interface Opinion {
  readonly block_id?: string;
  readonly created_at: string;
  readonly device?: string | null;
  readonly kind: 'feedback' | 'rating';
  readonly message_id: string;
  readonly conversation_id: string;
  readonly channel: string;
  readonly rating?: number;
  readonly reason?: string | null;
  readonly value?: number;
  readonly comment?: string | null;
  readonly updated_at: string;
}

export interface Opinions {
  readonly feedback: readonly Opinion[];
  readonly next: string | null;
}

export interface DayOfUse {
  readonly day: string;
  readonly app_id: string;
  readonly spent_usd: number;
  readonly failed_usd: number;
  readonly turns: number;
  readonly sandbox_turns: number;
}

export interface AppUse {
  readonly app_id: string;
  readonly name: string | null;
  readonly spent_usd: number;
  readonly failed_usd: number;
  readonly turns: number;
  readonly conversations: number;
  readonly sandbox_turns: number;
}

export interface Usage {
  readonly month: string;
  readonly spent_usd: number;
  readonly failed_usd: number;
  readonly apps: readonly AppUse[];
  readonly days: readonly DayOfUse[];
  readonly credit: {
    readonly plan_usd: number;
    readonly plan_left_usd: number;
    readonly purchased_left_usd: number;
    readonly overdrawn_usd: number;
    readonly exhausted: boolean;
    readonly resets_at: string;
  };
  readonly users: { readonly count: number; readonly allowance: number; readonly window_days: number };
  readonly sandbox_conversations: { readonly count: number; readonly limit: number };
  readonly top_ups: readonly {
    readonly id: string;
    readonly amount_usd: number;
    readonly state: string;
    readonly reason: string | null;
    readonly created_at: string;
  }[];
  readonly mails: readonly {
    readonly threshold_percent: number;
    readonly email: string;
    readonly state: string;
    readonly created_at: string;
    readonly sent_at: string | null;
  }[];
}

/** What the interface answers about nodes, cells and actors, as the page reads it. */
export interface NodeEntry {
  readonly id: string;
  readonly name: string;
  readonly pid: number;
  readonly cell: string | null;
  readonly url: string | null;
  readonly state: 'serving' | 'draining';
  readonly started_at: string;
  readonly actors: number;
  readonly self: boolean;
}

/** What a condition is about: an app with its organisation, an organisation, a cell, or a model by its name. */
export interface AboutEntry {
  readonly id: string;
  readonly since: string;
  readonly detail: string;
  /** The name of an app or an organisation, and of the organisation that an app belongs to. */
  readonly name?: string;
  readonly organisation?: string;
}

export interface ConditionEntry {
  readonly condition: string;
  readonly since: string;
  readonly count?: number;
  readonly about?: readonly AboutEntry[];
  readonly detail?: string;
}

export interface NodesAnswer {
  readonly nodes: readonly NodeEntry[];
  readonly redis: 'connected' | 'away' | null;
  readonly conditions: readonly ConditionEntry[];
  readonly moves: readonly MoveReply[];
}

export interface CellEntry {
  readonly term: number;
  readonly cell: string;
  readonly url: string;
  readonly is_this: boolean;
  readonly seen_at: string;
  readonly placed_organisations: number;
  readonly reachable: boolean;
  readonly fault: string | null;
}

export interface CellsAnswer {
  readonly map_synced_at: string | null;
  readonly cell: string | null;
  readonly cells: readonly CellEntry[];
}

export interface ActorEntry {
  readonly org_id: string;
  readonly kind: 'conversation' | 'setup_session';
  readonly id: string;
  readonly node: string;
  readonly app_id: string;
  /** Its app's name, where it can be read. */
  readonly app?: string;
  readonly state: string;
  readonly turn_id: string | null;
  readonly waiting: number;
  readonly since: string;
}

export interface ActorsAnswer {
  readonly actors: readonly ActorEntry[];
  readonly total: number;
  readonly unreachable: readonly string[];
}

/** The newest instances of an app, as `GET /apps/:app/traces/newest` lists them. */
export interface NewestTrace {
  readonly machine: string;
  readonly instance: string;
  /** Where it is; null of a machine with several regions. */
  readonly state: string | null;
  readonly at_ms: number;
  /** From a turn's opening to its end; null while it goes on, and of other machines, as all below. */
  readonly took_ms: number | null;
  /** The first line of what the person said, in placeholder form; '' where that was no text. */
  readonly words: string;
  readonly cost_usd: number | null;
  readonly failure: KeptFailure | null;
}
