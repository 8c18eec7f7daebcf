/**
 * Who may write to a conversation (decisions §10): its row says which node owns it and at which epoch. A node that is alone may
 * take any; in a cell one may take what nobody owns, what its owner hands over, and what a node owns that does not answer.
 */
import type { Connection } from '../storage/connection.ts';
import type { ConversationRow } from '../storage/conversations.ts';
import { readExecuting } from '../storage/invocations.ts';
import { readOpenTurns } from '../storage/turns.ts';

/** An idle conversation as its owner hands it over; the new owner's first commit expects this epoch. */
export interface ConversationSnapshot {
  readonly conversationId: string;
  readonly epoch: number;
  /** Rows of placeholders it has. */
  readonly placeholders: number;
  /** A turn or a call was left without an end: the new owner ends it before anything else. */
  readonly leftOpen: boolean;
}

/** The conversation as its rows have it, for whoever is to own it next. */
export function snapshotOf(db: Connection, { id, epoch, placeholders }: ConversationRow): ConversationSnapshot {
  const leftOpen = readOpenTurns(db, id).length > 0 || readExecuting(db, id).length > 0;
  return { conversationId: id, epoch, placeholders, leftOpen };
}

export interface Ownership {
  /** This node, as rows name it; '' when it is the only one. */
  readonly self: string;
  /** Whether this node may take over a conversation that another one owns. */
  mayTake(row: Pick<ConversationRow, 'id' | 'epoch' | 'owner'>): boolean;
}

/** Of a process that has its data directory for itself: whoever wrote a row before is gone. */
export const SOLE_OWNER: Ownership = { self: '', mayTake: () => true };

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
