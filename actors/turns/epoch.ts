/**
 * Which node may write to a conversation (CLUSTER-4): its row names the owner and the epoch. A node that is alone may take any. A node of a
 * cell may take a conversation without an owner, one that its owner hands over, and one whose owner does not answer.
 */
import { randomBytes } from 'node:crypto';
import { type ConversationRow, type Fence, readConversation } from '../../storage/conversations/conversations.ts';
import { readExecuting } from '../../storage/conversations/invocations.ts';
import { readOpenTurns } from '../../storage/conversations/turns.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';

/** Each turn's trace names its process: 72 bits never meet again, and take 12 characters. */
const PROCESS_BYTES = 9;

/** An idle conversation as its owner hands it over; the new owner's first commit expects this epoch. */
export interface ConversationSnapshot {
  readonly conversationId: string;
  readonly epoch: number;
  /** Rows of placeholders it has. */
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
  /** Whether this node may take over a conversation that another one owns. */
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

/** As a Fence; null expected: the conversation is new. */
export type OpeningFence = Omit<Fence, 'expectedEpoch'> & { readonly expectedEpoch: number | null };

/** What an actor knows of who wrote its conversation last. */
type EpochState =
  /** No one: its id was minted here, and it has no rows. */
  | { readonly state: 'new' }
  /** The node that owned it, which handed it over. */
  | { readonly state: 'handed_over'; readonly snapshot: ConversationSnapshot }
  /** This actor, at this epoch. */
  | { readonly state: 'held'; readonly epoch: number }
  /** The row says it: this actor has not written yet, or does not know how a write of its own ended. */
  | { readonly state: 'unknown' };

/** What an actor begins with: it has not written yet. */
export type Beginning = Exclude<EpochState, { readonly state: 'held' }>;

/** `snapshot` as the beginning of the conversation with this id; without one, or with another conversation's, its row is read. */
export function beginningOf(id: string, snapshot: ConversationSnapshot | undefined): Beginning {
  return snapshot?.conversationId === id ? { state: 'handed_over', snapshot } : { state: 'unknown' };
}

/** The epoch at which an actor writes. */
export class HeldEpoch {
  readonly #id: string;
  readonly #db: Connection;
  readonly #ownership: Ownership;
  #now: EpochState;

  constructor(id: string, beginning: Beginning, db: Connection, ownership: Ownership) {
    this.#id = id;
    this.#now = beginning;
    this.#db = db;
    this.#ownership = ownership;
  }

  get isNew(): boolean {
    return this.#now.state === 'new';
  }

  /** No other process may be opening the same turn at this moment: this one has the data directory for itself. */
  get isUncontested(): boolean {
    return this.#ownership.self === '';
  }

  /** Rows of placeholders that the conversation has; undefined: its row knows. */
  get placeholders(): number | undefined {
    if (this.#now.state === 'new') return 0;
    return this.#now.state === 'handed_over' ? this.#now.snapshot.placeholders : undefined;
  }

  /** Nothing was left open, or it has been ended: by this actor, or by the one that handed the conversation over. */
  get isClean(): boolean {
    return this.#now.state === 'handed_over' ? !this.#now.snapshot.leftOpen : this.#now.state !== 'unknown';
  }

  /** Another actor has written since; false while a write of this one is under way, which finds out by itself. */
  get isTaken(): boolean {
    return this.#now.state === 'held' && this.#row()?.epoch !== this.#now.epoch;
  }

  #row(): ConversationRow | undefined {
    return readConversation(this.#db, this.#id);
  }

  /**
   * What a write that opens a turn expects, and the epoch that it makes. It is always a new one, so that a node that
   * read the conversation as idle at the previous epoch can no longer take it. @throws OwnedElsewhere
   */
  openingFence(): OpeningFence {
    const fence = this.#fence();
    return fence.expectedEpoch === null ? fence : { ...fence, epoch: fence.expectedEpoch + 1 };
  }

  /** The same for a write to a conversation that exists; of one that was deleted it is refused. @throws OwnedElsewhere */
  fence(): Fence {
    const { expectedEpoch, ...fence } = this.#fence();
    // Epochs begin at 1.
    return { ...fence, expectedEpoch: expectedEpoch ?? 0 };
  }

  #fence(): OpeningFence {
    const owner = this.#ownership.self;
    switch (this.#now.state) {
      case 'new':
        return { expectedEpoch: null, epoch: 1, owner };
      case 'held':
        return { expectedEpoch: this.#now.epoch, epoch: this.#now.epoch, owner };
      case 'handed_over':
        return { expectedEpoch: this.#now.snapshot.epoch, epoch: this.#now.snapshot.epoch + 1, owner };
      case 'unknown': {
        const row = this.#row();
        if (row === undefined) return { expectedEpoch: null, epoch: 1, owner };
        requireOwnership(this.#ownership, row);
        return { expectedEpoch: row.epoch, epoch: row.epoch + 1, owner };
      }
    }
  }

  /** A write of this actor is committed. */
  wrote(epoch: number): void {
    this.#now = { state: 'held', epoch };
  }

  /** A write of this actor may have been committed, or not. A conversation that is new stays so: the first write finds out. */
  lose(): void {
    if (this.#now.state !== 'new') this.#now = { state: 'unknown' };
  }

  /** Another write was first. */
  overtaken(): void {
    this.#now = { state: 'unknown' };
  }

  /** Forgets the snapshot if another actor has taken the conversation since. */
  checkSnapshot(): void {
    if (this.#now.state === 'handed_over' && this.#row()?.epoch !== this.#now.snapshot.epoch) this.#now = { state: 'unknown' };
  }

  /** @throws OwnedElsewhere when another node that lives owns the conversation. */
  requireOwn(): void {
    const row = this.#row();
    if (row !== undefined) requireOwnership(this.#ownership, row);
  }
}
