/**
 * Which node may write to a conversation (CLUSTER-4): its row names the owner and the epoch. A node that is alone may take any. A node of a
 * cell may take a conversation without an owner, one that its owner hands over, and one whose owner does not answer.
 */
import { randomBytes } from 'node:crypto';
import type { ConversationRow } from '../../storage/conversations/conversations.ts';
import { readExecuting } from '../../storage/conversations/invocations.ts';
import { readOpenTurns } from '../../storage/conversations/turns.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';

/** Each turn's trace names its process: 72 bits never meet again, and take 12 characters. */
const PROCESS_BYTES = 9;

/** An idle conversation as its owner hands it over; the new owner's first commit expects this epoch. */
export interface ConversationSnapshot {
  readonly conversationId: string;
  readonly epoch: number;
  readonly placeholders: number;
  /** A turn or a call was left without an end: the new owner ends it before anything else. */
  readonly leftOpen: boolean;
}

/** The conversation as its rows have it, for its next owner. */
export function snapshotOf(db: Connection, { id, epoch, placeholders }: ConversationRow): ConversationSnapshot {
  const leftOpen = readOpenTurns(db, id).length > 0 || readExecuting(db, id).length > 0;
  return { conversationId: id, epoch, placeholders, leftOpen };
}

export interface Ownership {
  /** This node, as rows name it; '' when it is the only one. */
  readonly self: string;
  /** This process, as turns name who runs them: another one after each start. */
  readonly process: string;
  /** Whether that process ended, or has stood still for so long that others do its work. */
  isLost(process: string): boolean;
  mayTake(row: Pick<ConversationRow, 'id' | 'epoch' | 'owner'>): boolean;
}

/** The ownership of a process that has its data directory for itself: every earlier process is gone. */
export function soleOwner(): Ownership {
  const process = randomBytes(PROCESS_BYTES).toString('base64url');
  return { self: '', process, isLost: (other) => other !== process, mayTake: () => true };
}

/** Another node that lives owns the conversation: what was asked for has to be asked there. */
export class OwnedElsewhere extends Error {
  readonly owner: string;
  readonly conversationId: string;

  constructor({ id, owner }: Pick<ConversationRow, 'id' | 'owner'>) {
    super(`conversation ${id} is owned by node ${owner}`);
    this.name = 'OwnedElsewhere';
    this.owner = owner;
    this.conversationId = id;
  }
}

/** @throws OwnedElsewhere */
export function requireOwnership(ownership: Ownership, row: Pick<ConversationRow, 'id' | 'epoch' | 'owner'>): void {
  if (row.owner !== ownership.self && !ownership.mayTake(row)) throw new OwnedElsewhere(row);
}

/** What an actor knows of who wrote its conversation last. */
export type EpochState =
  /** No one: its id was minted here, and it has no rows. */
  | { readonly state: 'new' }
  /** The node that owned it, which handed it over. */
  | { readonly state: 'handed_over'; readonly snapshot: ConversationSnapshot }
  /** This actor, at this epoch. */
  | { readonly state: 'held'; readonly epoch: number }
  /**
   * The row says it: this actor has not written yet, or does not know how a write of its own ended. `row`: as it was read in the tick in
   * which the actor was made for a turn.
   */
  | { readonly state: 'unknown'; readonly row?: ConversationRow };

/** What an actor begins with: it has not written yet. */
export type Beginning = Exclude<EpochState, { readonly state: 'held' }>;

/** `snapshot` as the beginning of the conversation with this id; without one, or with another conversation's, its row, which is read where it is not given. */
export function beginningOf(id: string, snapshot: ConversationSnapshot | undefined, row?: ConversationRow): Beginning {
  if (snapshot?.conversationId === id) return { state: 'handed_over', snapshot };
  return row === undefined ? { state: 'unknown' } : { state: 'unknown', row };
}
