/**
 * A conversation as its actor holds it: at which epoch it writes, each write behind the fence, and the end of what a crash left open. After a
 * write whose outcome is not known the rows are read again.
 */
import { type ConversationRow, type OpeningFence, readConversation } from '../../storage/conversations/conversations.ts';
import { readExecuting } from '../../storage/conversations/invocations.ts';
import type { OpenTurnInput, OpenTurnOutput } from '../../storage/conversations/turn-openings.ts';
import { type CommitTurnInput, type LoseExecutionsInput, readOpenTurns, type TurnRows } from '../../storage/conversations/turns.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { ChannelRef } from '../caller.ts';
import { settledCard } from '../calls/card.ts';
import { lostChange } from '../calls/invocation-step.ts';
import { type Beginning, type EpochState, requireOwnership } from './epoch.ts';
import type { TurnServices } from './facts.ts';
import { type HeldRows, interruption, type TurnStep } from './turn-rows.ts';

interface Writes {
  commitTurn: CommitTurnInput;
  loseExecutions: LoseExecutionsInput;
}

export class Held {
  readonly #id: string;
  readonly #organisationId: string;
  /** What each commit of a turn has alike. */
  readonly #rows: Pick<TurnRows, HeldRows>;
  readonly #services: TurnServices;
  readonly #db: Connection;
  #now: EpochState;

  constructor(services: TurnServices, id: string, home: ChannelRef, beginning: Beginning) {
    this.#id = id;
    this.#organisationId = home.organisationId;
    this.#rows = { appId: home.appId, channel: home.channel, conversationId: id, runBy: services.ownership.process };
    this.#services = services;
    this.#db = services.storage.organisation(home.organisationId);
    this.#now = beginning;
  }

  get isNew(): boolean {
    return this.#now.state === 'new';
  }

  /** No other process may be opening the same turn at this moment: this one has the data directory for itself. */
  get isUncontested(): boolean {
    return this.#services.ownership.self === '';
  }

  /** Rows of placeholders that the conversation has; undefined: its row knows. */
  get placeholders(): number | undefined {
    if (this.#now.state === 'new') return 0;
    if (this.#now.state === 'handed_over') return this.#now.snapshot.placeholders;
    return this.#now.state === 'unknown' ? this.#now.row?.placeholders : undefined;
  }

  /** False: the model has not called an action in it, so that no row of a call needs to be looked for. */
  get mayHaveCalls(): boolean {
    if (this.#now.state === 'new') return false;
    return this.#now.state !== 'unknown' || this.#now.row?.hasCalls !== false;
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

  #fence(): OpeningFence {
    const owner = this.#services.ownership.self;
    switch (this.#now.state) {
      case 'new':
        return { expectedEpoch: null, epoch: 1, owner };
      case 'held':
        return { expectedEpoch: this.#now.epoch, epoch: this.#now.epoch, owner };
      case 'handed_over':
        return { expectedEpoch: this.#now.snapshot.epoch, epoch: this.#now.snapshot.epoch + 1, owner };
      case 'unknown': {
        const row = this.#now.row ?? this.#row();
        if (row === undefined) return { expectedEpoch: null, epoch: 1, owner };
        requireOwnership(this.#services.ownership, row);
        return { expectedEpoch: row.epoch, epoch: row.epoch + 1, owner };
      }
    }
  }

  /** A write may have been committed, or not. A conversation that is new stays so: the first write finds out. */
  lose(): void {
    if (this.#now.state !== 'new') this.#now = { state: 'unknown' };
  }

  /** Forgets the snapshot if another actor has taken the conversation since. */
  checkSnapshot(): void {
    if (this.#now.state === 'handed_over' && this.#row()?.epoch !== this.#now.snapshot.epoch) this.#now = { state: 'unknown' };
  }

  requireOwn(): void {
    const row = this.#row();
    if (row !== undefined) requireOwnership(this.#services.ownership, row);
  }

  /** What was said before changes with a write that is about to be made; nobody reads it before that has ended. */
  #forget(): void {
    this.#services.storage.recent?.forget(this.#id);
  }

  /** Opens a turn, behind the fence that `openingFence` gave. What it answers leaves the epoch known, or, when it is `stale`, to be read again. */
  async open(rows: OpenTurnInput): Promise<OpenTurnOutput> {
    if (rows.picks.length > 0 || rows.invocationChanges.length > 0) this.#forget();
    const output = await this.#services.storage.write(this.#organisationId, 'openTurn', rows);
    if (output.outcome === 'opened') this.#now = { state: 'held', epoch: rows.fence.epoch };
    if (output.outcome === 'stale') {
      this.#forget();
      this.#now = { state: 'unknown' };
    }
    return output;
  }

  /**
   * A write to a conversation that exists; of one that was deleted it is refused. `input` is handed over. False when the fence refused.
   * @throws StorageError, OwnedElsewhere
   */
  async write<Name extends keyof Writes>(
    name: Name,
    input: Omit<Writes[Name], HeldRows | 'fence' | 'nowMs'>,
    nowMs = this.#services.nowMs(),
  ): Promise<boolean> {
    const { expectedEpoch, epoch, owner } = this.#fence();
    // Epochs begin at 1.
    const fence = { expectedEpoch: expectedEpoch ?? 0, epoch, owner };
    // Until the write has answered, the rows are unknown: a failure makes the next turn read them again.
    this.lose();
    const whole = Object.assign(input, this.#rows, { fence, nowMs }) as unknown as Writes[Name];
    if (!(await this.#services.storage.write(this.#organisationId, name, whole))) return false;
    this.#now = { state: 'held', epoch: fence.epoch };
    return true;
  }

  /** Commits a step of a turn. False when the fence refused. @throws StorageError, OwnedElsewhere */
  async step(step: TurnStep): Promise<boolean> {
    const { billing, noteDeadline, nowMs } = this.#services;
    const atMs = nowMs();
    // A new attempt takes back what the one before said, and a block may replace an earlier one.
    if (step.replacesAttempt || step.blocks.some(({ replaces }) => replaces !== undefined)) this.#forget();
    if (!(await this.write('commitTurn', step, atMs))) return false;
    if (step.charge !== null) {
      const { costMicroUsd, billed } = step.charge;
      billing.charged(this.#organisationId, { channel: this.#rows.channel, costMicroUsd, atMs, billed });
    }
    for (const { expiresAtMs } of step.invocations) if (expiresAtMs !== null) noteDeadline(this.#organisationId, expiresAtMs);
    return true;
  }

  /** Ends what a crash left open: writes that were executing become `unknown`, and turns end so that they can be retried. */
  async recover(): Promise<void> {
    if (this.isClean || !(await this.#loseExecutions())) return;
    for (const row of readOpenTurns(this.#db, this.#id)) {
      if (!(await this.step(interruption(row, this.#services)))) return;
    }
  }

  async #loseExecutions(): Promise<boolean> {
    if (!this.mayHaveCalls) return true;
    const changes = readExecuting(this.#db, this.#id).flatMap((row) => lostChange(row) ?? []);
    if (changes.length === 0) return true;
    return this.write('loseExecutions', { settlements: changes.map((change) => ({ change, card: settledCard(this.#db, change) })) });
  }
}
