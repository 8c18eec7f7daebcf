/**
 * What nodes of a cell say to each other (CLUSTER-18), by kind. Redis carries it, sealed; whatever is lost on the way is found
 * again in rows, so nothing here may be the only copy of anything.
 */
import type { PlainRefusal } from '../../../protocol/errors.ts';
import type { ActorRecord } from '../../actor-record.ts';
import type { DeviceCaller } from '../../people/ownership.ts';
import type { TurnCommand } from '../../turns/command.ts';
import type { ConversationSnapshot } from '../../turns/epoch.ts';

/** A turn's command as it travels: the app by its id, and what it listens with stays where it arrived. */
export type WireCommand = Omit<TurnCommand, 'app' | 'minuteLeft' | 'onAction' | 'onNothing' | 'onPassages'> & {
  readonly appId: string;
  readonly minuteLeft: number | null;
};

/** Where a turn's frames are to be sent: `stream` is the reader's own number for it. */
export interface FollowTurn {
  readonly organisationId: string;
  readonly conversationId: string;
  /** Its row. */
  readonly turn: number;
  readonly reader: string;
  readonly stream: number;
  /** The first seq that the reader lacks. */
  readonly fromSeq: number;
}

/** Questions to one node, each with its answer. */
export interface Asks {
  /**
   * Open this turn, which is of a conversation of yours; null: of any, because the asker is about to stop. `released`: it was
   * idle and is the asker's now, or (without a snapshot) not this node's any more: look again. `accepted`: the node opens it
   * and tells `turnPlaced` or `turnRefused` for the stream, then frames.
   */
  openTurn: {
    ask: { readonly command: WireCommand; readonly conversationId: string | null; readonly reader: string; readonly stream: number };
    answer: { readonly outcome: 'released'; readonly snapshot: ConversationSnapshot | null } | { readonly outcome: 'accepted' };
  };
  /** Send the frames of a running turn. `idle`: it does not run here, and with a snapshot its conversation is the asker's now. */
  followTurn: {
    ask: FollowTurn;
    answer: { readonly outcome: 'following' } | { readonly outcome: 'idle'; readonly snapshot: ConversationSnapshot | null };
  };
  stopTurn: {
    ask: DeviceCaller & { readonly turnId: string };
    answer: { readonly stopped: boolean };
  };
  /** Stop a turn that waits at your node and has no row yet. */
  withdrawTurn: {
    ask: DeviceCaller & { readonly turnId: string };
    answer: { readonly withdrawn: boolean };
  };
  actors: { ask: Record<string, never>; answer: { readonly actors: readonly ActorRecord[] } };
  /** Do what SIGTERM does. */
  drain: { ask: Record<string, never>; answer: { readonly draining: true } };
}

/** What is told to one node without an answer. */
export interface Tells {
  /** The turn of the stream is open, or was before: its frames follow from `fromSeq` on, or lie in rows when it has ended. */
  turnPlaced: {
    readonly stream: number;
    readonly conversationId: string;
    /** Its row. */
    readonly turn: number;
    readonly fromSeq: number;
  };
  turnRefused: { readonly stream: number; readonly refusal: PlainRefusal };
  /** Whole frames of a turn, in placeholder form, from `seq` up to `nextSeq`. */
  frames: { readonly stream: number; readonly seq: number; readonly nextSeq: number; readonly text: string; readonly ended: boolean };
  /** Nobody reads this stream of yours any more. */
  unfollow: { readonly reader: string; readonly stream: number };
  /** Nobody who reads this stream of yours takes what is told, or somebody does again. When it is lost the model is read on. */
  lagging: { readonly reader: string; readonly stream: number; readonly isLagging: boolean };
}
