/** Where turns run: in this process, or wherever in the cell their conversation is owned. */

import type { ActorRecord } from '../actor-record.ts';
import type { Caller } from '../caller.ts';
import type { Position } from '../frame-source.ts';
import type { Command } from './command.ts';

export interface ActorStats {
  readonly runningTurns: number;
  readonly waitingTurns: number;
  readonly readers: number;
}

/** A turn that can be read. */
export interface HostedTurn {
  readonly conversationId: string;
  /** In placeholder form. */
  readonly position: Position;
  /** Puts the person's own data where placeholders stand for it, in rendered JSON: for the device that owns the conversation only. */
  restoreJson(json: string): string;
}

export interface TurnHost {
  /** Opens a turn, or attaches to it when its turn_id was sent before. @throws Refusal, which the stream tells. */
  accept(command: Command): Promise<HostedTurn>;
  /** Re-attaches to a turn; the same answer when there is none and when it is a stranger's. @throws Refusal 404. */
  attach(caller: Caller, turnId: string): Promise<HostedTurn>;
  /** Stops a running turn; false when it had ended already. @throws Refusal 404. */
  stop(caller: Caller, turnId: string): Promise<boolean>;
  stats(): ActorStats;
  /** Conversations that are active in this process, which is `node`. */
  actors(node: string): ActorRecord[];
  /** Waits until no turn runs, at most `deadlineMs`; what runs then is interrupted (and can be retried). */
  drain(deadlineMs: number): Promise<void>;
  close(): void;
}
