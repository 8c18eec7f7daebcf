/** What nodes of a cell ask each other (CLUSTER-18), by kind. Nothing here is the only copy of anything: whatever is not answered is found in rows. */

import type { ActorRecord } from '../../actor-record.ts';
import type { Caller } from '../../caller.ts';
import type { Command, TurnCaller } from '../../turns/command.ts';
import type { ConversationSnapshot } from '../../turns/epoch.ts';

/** A turn's command as it travels: the app by its id, and what it listens with stays where it arrived. */
export type WireCommand = Omit<Command, 'caller' | 'listen'> & {
  readonly caller: Caller & Pick<TurnCaller, 'address'> & { readonly minuteLeft: number | null };
};

/** Questions to one node, each with its answer. */
export interface Asks {
  /**
   * Open this turn, which is of a conversation of yours; null: of any, because the asker is about to stop. `released`: it was
   * idle and is the asker's now, or (without a snapshot) not this node's any more: look again. `accepted`: the node opens it;
   * `Placed` or `Refused` follows, and then the turn is relayed.
   */
  openTurn: {
    ask: { readonly command: WireCommand; readonly conversationId: string | null };
    answer: { readonly outcome: 'released'; readonly snapshot: ConversationSnapshot | null } | { readonly outcome: 'accepted' };
  };
  /** Relay a running turn. `idle`: it does not run here, and with a snapshot its conversation is the asker's now. */
  followTurn: {
    ask: { readonly organisationId: string; readonly conversationId: string; readonly turn: number };
    answer: { readonly outcome: 'following' } | { readonly outcome: 'idle'; readonly snapshot: ConversationSnapshot | null };
  };
  stopTurn: {
    ask: Caller & { readonly turnId: string };
    answer: { readonly stopped: boolean };
  };
  /** Stop a turn that waits at your node and has no row yet. */
  withdrawTurn: {
    ask: Caller & { readonly turnId: string };
    answer: { readonly withdrawn: boolean };
  };
  actors: { ask: Record<string, never>; answer: { readonly actors: readonly ActorRecord[] } };
  /** Do what SIGTERM does. */
  drain: { ask: Record<string, never>; answer: { readonly draining: true } };
}
