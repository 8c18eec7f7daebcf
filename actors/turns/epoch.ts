/**
 * Who may write to a conversation (decisions §10): its row says which node owns it and at which epoch. A node that is alone may
 * take any; in a cell one may take what nobody owns, what its owner hands over, and what a node owns that does not answer.
 */
import { randomUUID } from 'node:crypto';
import { type ConversationRow, type Fence, readConversation } from '../../storage/conversations/conversations.ts';
import { readExecuting } from '../../storage/conversations/invocations.ts';
import { readOpenTurns } from '../../storage/conversations/turns.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';

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
  /** This process, as turns name who runs them: another one after each start. */
  readonly process: string;
  /** Whether that process ended, or has stood still for so long that others do its work. */
  isLost(process: string): boolean;
  /** Whether this node may take over a conversation that another one owns. */
  mayTake(row: Pick<ConversationRow, 'id' | 'epoch' | 'owner'>): boolean;
}

/** Of a process that has its data directory for itself: whoever wrote a row before is gone. */
export function soleOwner(): Ownership {
  const process = randomUUID();
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

/** As a Fence; null expected: the conversation is new. */
export type OpeningFence = Omit<Fence, 'expectedEpoch'> & { readonly expectedEpoch: number | null };

/** What a conversation's actor begins with: at most one of the two. */
export interface Beginning {
  /** The id was minted just now, so there are no rows to look for. */
  readonly isNew?: boolean;
  /** Handed over by the node that owned it. */
  readonly snapshot?: ConversationSnapshot | undefined;
}

/** The epoch at which an actor writes: none until it has written, or whenever it is not known how a write of its own ended. */
export class HeldEpoch {
  readonly #id: string;
  readonly #db: Connection;
  readonly #ownership: Ownership;
  #epoch: number | null = null;
  #isNew: boolean;
  /** As it was handed over, until the first write. */
  #snapshot: ConversationSnapshot | null;

  constructor(id: string, { isNew = false, snapshot }: Beginning, db: Connection, ownership: Ownership) {
    this.#id = id;
    this.#isNew = isNew;
    this.#snapshot = snapshot ?? null;
    this.#db = db;
    this.#ownership = ownership;
  }

  get isNew(): boolean {
    return this.#isNew;
  }

  /** Rows of placeholders that the conversation has; undefined: its row knows. */
  get placeholders(): number | undefined {
    return this.#isNew ? 0 : this.#snapshot?.placeholders;
  }

  /** What was left open is ended already: by this actor, or by whoever handed the conversation over. */
  get isClean(): boolean {
    return this.#isNew || this.#epoch !== null || this.#snapshot?.leftOpen === false;
  }

  /** Another actor has written since; false while a write of this one is under way, which finds out by itself. */
  get isTaken(): boolean {
    return this.#epoch !== null && readConversation(this.#db, this.#id)?.epoch !== this.#epoch;
  }

  /**
   * The same for a write that begins something: it always makes a new epoch, so that whoever read the conversation as idle at the one
   * before cannot take it any more. @throws OwnedElsewhere
   */
  openingFence(): OpeningFence {
    const fence = this.fence();
    return fence.expectedEpoch === null ? fence : { ...fence, epoch: fence.expectedEpoch + 1 };
  }

  /** What the next write expects, and the epoch that it makes. @throws OwnedElsewhere */
  fence(): OpeningFence {
    const owner = this.#ownership.self;
    if (this.#epoch !== null) return { expectedEpoch: this.#epoch, epoch: this.#epoch, owner };
    if (this.#snapshot !== null) return { expectedEpoch: this.#snapshot.epoch, epoch: this.#snapshot.epoch + 1, owner };
    const row = this.#isNew ? undefined : readConversation(this.#db, this.#id);
    if (row === undefined) return { expectedEpoch: null, epoch: 1, owner };
    requireOwnership(this.#ownership, row);
    return { expectedEpoch: row.epoch, epoch: row.epoch + 1, owner };
  }

  /** A write of this actor is committed. */
  wrote(epoch: number): void {
    this.#epoch = epoch;
    this.#isNew = false;
    this.#snapshot = null;
  }

  /** Nobody knows what the rows say: the next write reads them. */
  lose(): void {
    this.#epoch = null;
    this.#snapshot = null;
  }

  /** Another write was first. */
  overtaken(): void {
    this.lose();
    this.#isNew = false;
  }

  /** Forgets what was handed over if somebody has taken the conversation since. */
  checkSnapshot(): void {
    if (this.#snapshot !== null && readConversation(this.#db, this.#id)?.epoch !== this.#snapshot.epoch) this.#snapshot = null;
  }

  /** @throws OwnedElsewhere when another node that lives owns the conversation. */
  requireOwn(): void {
    const row = readConversation(this.#db, this.#id);
    if (row !== undefined) requireOwnership(this.#ownership, row);
  }
}
