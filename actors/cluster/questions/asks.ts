/**
 * What nodes of a cell ask each other (CLUSTER-18), by kind, and what follows on the connection when a turn is relayed. Nothing here is the only
 * copy of anything: whatever is not answered is found in rows.
 */
import type { PlainRefusal } from '../../../protocol/errors.ts';
import type { Condition } from '../../../storage/health/conditions.ts';
import type { ActorRecord } from '../../actor-record.ts';
import type { Caller } from '../../caller.ts';
import type { Command, TurnCaller } from '../../turns/command.ts';

/** A turn's command as it travels: the app by its id, and what it listens with stays where it arrived. */
export type WireCommand = Omit<Command, 'caller' | 'listen'> & {
  readonly caller: Caller & Pick<TurnCaller, 'address'> & { readonly minuteLeft: number | null };
};

/** A turn of one's own, to be opened or re-attached to. */
export interface NamedTurn {
  readonly caller: Caller;
  readonly turnId: string;
}

/** Questions to one node, each with its answer. */
export interface Asks {
  /**
   * Open or re-attach to this turn, which is of a conversation of yours; null: of any, because the asker is about to stop. `idle`: nothing runs or
   * waits in the conversation, and it is the asker's. `accepted`: `Outcome` follows, and then the turn is relayed.
   */
  turn: {
    ask: { readonly turn: { readonly command: WireCommand } | NamedTurn; readonly conversationId: string | null };
    answer: 'idle' | 'accepted';
  };
  /** `waiting`: only if it waits at your node and has no row yet. */
  stopTurn: { ask: NamedTurn & { readonly waiting: boolean }; answer: { readonly stopped: boolean } };
  actors: { ask: Record<string, never>; answer: { readonly actors: readonly ActorRecord[] } };
  conditions: { ask: Record<string, never>; answer: { readonly conditions: readonly Condition[] } };
  /** Do what SIGTERM does. */
  drain: { ask: Record<string, never>; answer: { readonly draining: true } };
}

/** The turn is open, or was before. */
export interface Placed {
  readonly conversationId: string;
  /** The first seq of the attempt that runs. */
  readonly fromSeq: number;
}

/** The outcome after `accepted`; it may have to wait until earlier turns of the conversation have ended. */
export type Outcome = readonly ['placed', Placed] | readonly ['refused', PlainRefusal];

/** Whole frames of the turn, in placeholder form, up to `nextSeq`. Nothing follows one that has ended. */
export type Relayed = readonly ['frames', nextSeq: number, text: string, ended: boolean];

/** From the reader. `from`, once: send the frames from this seq on. `slow`: whether the reader takes nothing for now. */
export type Wanted = readonly ['from', seq: number] | readonly ['slow', isSlow: boolean];
