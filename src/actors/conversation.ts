/**
 * The actor of one conversation: lets one turn run at a time, opens turns behind the fence, and finishes what a crash
 * left open. It exists while something runs or waits in it; its rows are the truth, so an idle one costs nothing.
 */
import { Refusal } from '../protocol/errors.ts';
import type { Connection } from '../storage/connection.ts';
import { readConversation } from '../storage/conversations.ts';
import type { Channel } from '../storage/organisations.ts';
import { readOpenTurns, readTurn, type TurnRow } from '../storage/turns.ts';
import { type ConversationSnapshot, requireOwnership } from './epochs.ts';
import type { FrameSource } from './frame-source.ts';
import { RunningTurn, type TurnStart } from './running-turn.ts';
import { capRefusal } from './turn-admission.ts';
import type { TurnCommand } from './turn-command.ts';
import { journalSource } from './turn-journal.ts';
import { TurnLog } from './turn-log.ts';
import { turnMachine } from './turn-machine.ts';
import type { OpeningFence, Thread, TurnOpening } from './turn-opening.ts';
import { TurnQueue } from './turn-queue.ts';
import { interruption, newAttempt } from './turn-recovery.ts';
import type { TurnScope } from './turn-scope.ts';

export interface Position {
  readonly source: FrameSource;
  readonly fromSeq: number;
}

/** The turn that a key names already, or where the reader of a new one starts. */
export type Opened = Position | 'exists';

/** Opening is tried again when rows moved between reading and writing; more than this is a bug, not a race. */
const OPEN_TRIES = 5;

/** Where the conversation lives. */
export interface Home {
  readonly organisationId: string;
  readonly appId: string;
  readonly channel: Channel;
}

interface Live {
  readonly turn: number;
  readonly turnId: string;
  readonly run: RunningTurn;
  readonly attemptSeq: number;
  /** Settles when the turn has ended and its conversation may be used again. */
  readonly over: Promise<void>;
}

/** What a conversation's actor begins with: at most one of the two. */
export interface Beginning {
  /** The id was minted just now, so there are no rows to look for. */
  readonly isNew?: boolean;
  /** Handed over by the node that owned it. */
  readonly snapshot?: ConversationSnapshot | undefined;
}

export class Conversation {
  readonly id: string;
  /** Since when it has been active here. */
  readonly sinceMs: number;
  readonly #home: Home;
  readonly #opening: TurnOpening;
  readonly #db: Connection;
  readonly #onIdle: () => void;
  #live: Live | null = null;
  /** The epoch this actor holds, once it has written. */
  #epoch: number | null = null;
  #isNew: boolean;
  /** As it was handed over, until the first write or until that was refused. */
  #snapshot: ConversationSnapshot | null;
  /** With the personal data of the conversation, once somebody needed it. */
  #held: Thread | null = null;
  readonly #queue: TurnQueue<Opened>;

  constructor(id: string, { isNew = false, snapshot }: Beginning, home: Home, opening: TurnOpening, db: Connection, onIdle: () => void) {
    this.id = id;
    this.sinceMs = opening.nowMs();
    this.#isNew = isNew;
    this.#snapshot = snapshot ?? null;
    this.#home = home;
    this.#opening = opening;
    this.#db = db;
    this.#onIdle = onIdle;
    this.#queue = new TurnQueue({ running: () => this.#live?.over ?? null, onIdle });
  }

  get home(): Home {
    return this.#home;
  }

  get runningTurnId(): string | null {
    return this.#live?.turnId ?? null;
  }

  get running(): RunningTurn | null {
    return this.#live?.run ?? null;
  }

  /** The run of this turn, if it is the one that runs. */
  runningTurn(turn: number): RunningTurn | undefined {
    return this.#live?.turn === turn ? this.#live.run : undefined;
  }

  /** Puts the person's own data where placeholders stand for it, in rendered JSON: for the device that owns the conversation only. */
  restoreJson(json: string): string {
    return this.#thread(null).concealment.restoreJson(json);
  }

  #thread(command: TurnCommand | null): Thread {
    const count = this.#isNew ? 0 : this.#snapshot?.placeholders;
    this.#held ??= this.#opening.thread(this.#home.organisationId, this.id, this.#isNew, count, command?.body.client.locale ?? null);
    return this.#held;
  }

  /** Settles when the turn that is being opened, if there is one, runs or was refused. */
  opened(): Promise<void> {
    return this.#queue.opened();
  }

  get waiting(): number {
    return this.#queue.waiting;
  }

  /** Opens a turn, behind those before it. @throws Refusal when too many wait or the rows refuse it. */
  open(command: TurnCommand): Promise<Opened> {
    return this.#queue.once(command, () => this.#doing(() => this.#open(command)));
  }

  /** A retry of a turn that exists: live, from its rows, or as a new attempt when it failed and may be tried again. */
  retry(command: TurnCommand, row: TurnRow): Promise<Opened> {
    return this.#readable(row, row.state === 'failed') ?? this.#queue.once(command, () => this.#doing(() => this.#reopen(command, row)));
  }

  /** Where a reader of a turn that exists finds it. Takes no waiting place: those are for turns. */
  async attach(row: TurnRow): Promise<Opened> {
    const readable = this.#readable(row, false);
    if (readable !== null) return readable;
    // Open and not running: a crash left it, or its commit was seen before its run began. Whoever holds the conversation
    // ends the former first of all.
    if (!this.#queue.busy) return this.#queue.inTurn(() => this.#doing(() => this.#reopen(null, row)));
    await this.#queue.opened();
    const now = this.#read(row);
    return this.#readable(now, false) ?? this.#stored(now);
  }

  /** The turn as it can be read at once; null when rows have to be written first. */
  #readable(row: TurnRow, mayRunAgain: boolean): Promise<Opened> | null {
    const live = this.#live;
    if (live !== null && live.turn === row.turn) return Promise.resolve({ source: live.run.log, fromSeq: live.attemptSeq });
    if (row.endedAtMs === null || mayRunAgain) return null;
    // Nothing was taken: an actor made for this question alone must not stay.
    if (!this.#queue.busy) this.#onIdle();
    return Promise.resolve(this.#stored(row));
  }

  /** What fails leaves nobody knowing what the rows say. */
  async #doing(work: () => Promise<Opened>): Promise<Opened> {
    try {
      return await work();
    } catch (error) {
      this.#epoch = null;
      throw error;
    }
  }

  async #open(command: TurnCommand): Promise<Opened> {
    if (!this.#isNew) await this.#recover();
    for (let attempt = 1; attempt <= OPEN_TRIES; attempt++) {
      const { input, scope, start } = await this.#opening.prepare(command, this.#thread(command), this.#fence());
      const output = await this.#opening.write(command, input);
      if (output.outcome === 'exists') return 'exists';
      if (output.outcome === 'refused') throw capRefusal(command, output.cap, this.#opening.nowMs());
      if (output.outcome === 'stale') {
        this.#epoch = null;
        this.#isNew = false;
        this.#snapshot = null;
        this.#held = null;
        continue;
      }
      this.#epoch = input.conversation.epoch;
      this.#isNew = false;
      this.#snapshot = null;
      this.#held?.concealment.opened();
      const older = journalSource(this.#db, output.turn, input.ended ? input.nextSeq : null);
      if (input.ended) return { source: older, fromSeq: 0 };
      const log = new TurnLog(0, older);
      for (const event of start.events) log.say(event);
      log.journalledUpTo(input.nextSeq);
      const { turn } = output;
      return this.#run({ turn, turnId: command.turnId }, scope(this.#committer(turn, input.assistantMessageId), output.dayLeft), {
        machine: start.machine,
        effects: start.effects,
        attemptSeq: 0,
        log,
      });
    }
    throw new Error(`the conversation's rows kept changing: gave up after ${OPEN_TRIES} tries`);
  }

  #run({ turn, turnId }: Pick<TurnRow, 'turn' | 'turnId'>, scope: TurnScope, start: TurnStart): Position {
    const run = new RunningTurn(scope, start);
    const over = run.done.then((endIsStored) => {
      this.#live = null;
      // Without an epoch the next owner reads the rows again and ends what was left open.
      if (!endIsStored) this.#epoch = null;
    });
    this.#live = { turn, turnId, run, attemptSeq: start.attemptSeq, over };
    return { source: start.log, fromSeq: start.attemptSeq };
  }

  /** Reads (or keeps) the epoch to expect, and the one to write. @throws OwnedElsewhere */
  #fence(): OpeningFence {
    const { ownership } = this.#opening;
    const owner = ownership.self;
    if (this.#epoch !== null) return { expectedEpoch: this.#epoch, epoch: this.#epoch, owner };
    if (this.#snapshot !== null) return { expectedEpoch: this.#snapshot.epoch, epoch: this.#snapshot.epoch + 1, owner };
    const row = this.#isNew ? undefined : readConversation(this.#db, this.id);
    if (row === undefined) return { expectedEpoch: null, epoch: 1, owner };
    requireOwnership(ownership, row);
    return { expectedEpoch: row.epoch, epoch: row.epoch + 1, owner };
  }

  #committer(turn: number, messageId: string): TurnScope['commit'] {
    return async (step) => {
      const { expectedEpoch, epoch, owner } = this.#fence();
      // Until the answer is there, nobody knows what the rows say: a failure makes the next turn read them again.
      this.#epoch = null;
      this.#snapshot = null;
      const committed = await this.#opening.commit(this.#home.organisationId, {
        ...step,
        turn,
        messageId,
        appId: this.#home.appId,
        channel: this.#home.channel,
        conversationId: this.id,
        fence: { expectedEpoch: expectedEpoch ?? 0, epoch, owner },
      });
      if (committed) this.#epoch = epoch;
      return committed;
    };
  }

  /** Ends the turns that a crash left open, so that they can be retried: nobody is answering them any more. */
  async #recover(): Promise<void> {
    if (this.#epoch !== null || this.#snapshot?.leftOpen === false) return;
    const { expectedEpoch, ...fence } = this.#fence();
    if (expectedEpoch === null) return;
    const lost = await this.#opening.loseExecutions(this.#home.organisationId, this.id, { ...fence, expectedEpoch });
    if (lost === 'refused') return;
    if (lost === 'lost') this.#epoch = fence.epoch;
    for (const row of readOpenTurns(this.#db, this.id)) {
      const committed = await this.#committer(row.turn, row.assistantMessageId)(interruption(row));
      if (!committed) return;
    }
  }

  async #reopen(command: TurnCommand | null, stale: TurnRow): Promise<Opened> {
    await this.#recover();
    const row = this.#read(stale);
    if (command === null || row.endedAtMs === null) return this.#stored(row);
    const machine = turnMachine({ state: row.state, snapshot: row.snapshot });
    const { effects } = machine.send({ type: 'turn.retry' });
    if (effects.length === 0) return this.#stored(row);
    return this.#retry(command, row, { machine, effects });
  }

  #read(stale: TurnRow): TurnRow {
    const row = readTurn(this.#db, stale.appId, stale.turnId);
    if (row === undefined) throw new Error('a turn vanished while it was attached to');
    return row;
  }

  /** @throws Refusal `internal` when the turn is open and not ours to end: its stream would have no end. */
  #stored(row: TurnRow): Position {
    if (row.endedAtMs === null) throw new Refusal('internal', 'The turn is being answered elsewhere. Try again.');
    return { source: journalSource(this.#db, row.turn, row.nextSeq), fromSeq: row.attemptSeq };
  }

  /** A new attempt of a failed turn: same stored message, same message id, seq going on. */
  async #retry(command: TurnCommand, row: TurnRow, step: Pick<TurnStart, 'machine' | 'effects'>): Promise<Opened> {
    const commit = this.#committer(row.turn, row.assistantMessageId);
    const { scope, events } = await this.#opening.prepareRetry(command, this.#thread(command), row, step.effects, commit);
    const attemptSeq = row.nextSeq;
    const nextSeq = attemptSeq + events.length;
    const committed = await scope.commit(newAttempt(step.machine, attemptSeq, events));
    if (!committed) throw new Error('another node took the conversation over');
    const log = new TurnLog(attemptSeq, journalSource(this.#db, row.turn, null));
    for (const event of events) log.say(event);
    log.journalledUpTo(nextSeq);
    return this.#run(row, scope, { ...step, attemptSeq, log });
  }
}
