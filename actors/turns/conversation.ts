/**
 * The actor of one conversation: lets one turn run at a time, opens turns behind the fence, and finishes what a crash
 * left open. It exists while something runs or waits in it; its rows are the truth, so an idle one costs nothing.
 */
import { Refusal } from '../../protocol/errors.ts';
import { readOpenTurns, readTurn, type TurnRow } from '../../storage/conversations/turns.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { Position } from '../frame-source.ts';
import { capRefusal } from './admission.ts';
import type { TurnCommand } from './command.ts';
import { type Beginning, HeldEpoch } from './epoch.ts';
import type { Home } from './host.ts';
import { journalSource } from './journal.ts';
import { TurnLog } from './log.ts';
import { turnMachine } from './machine.ts';
import type { PreparedTurn, Thread, TurnOpening } from './opening.ts';
import { TurnQueue } from './queue.ts';
import { interruption, newAttempt } from './recovery.ts';
import { RunningTurn, type TurnStart } from './running-turn.ts';
import type { TurnScope } from './scope.ts';

/** The turn that a key names already, or where the reader of a new one starts. */
export type Opened = Position | 'exists';

/** Opening is tried again when rows moved between reading and writing; more than this is a bug, not a race. */
const OPEN_TRIES = 5;

interface Live {
  readonly turn: number;
  readonly turnId: string;
  readonly run: RunningTurn;
  readonly attemptSeq: number;
  /** Settles when the turn has ended and its conversation may be used again. */
  readonly over: Promise<void>;
}

function keptChanging(): Error {
  return new Error(`the conversation's rows kept changing: gave up after ${OPEN_TRIES} tries`);
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
  readonly #epoch: HeldEpoch;
  /** With the personal data of the conversation, once somebody needed it. */
  #held: Thread | null = null;
  readonly #queue: TurnQueue<Opened, TurnCommand>;

  constructor(id: string, beginning: Beginning, home: Home, opening: TurnOpening, db: Connection, onIdle: () => void) {
    this.id = id;
    this.sinceMs = opening.nowMs();
    this.#epoch = new HeldEpoch(id, beginning, db, opening.ownership);
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
    const { isNew, placeholders } = this.#epoch;
    const isHeld = this.#held !== null;
    this.#held ??= this.#opening.thread(this.#home.organisationId, this.id, isNew, placeholders, command);
    if (isHeld && command !== null) this.#held.concealment.readFor(this.#opening.regionsOf(command));
    return this.#held;
  }

  /** Ends a run that another node's has replaced: this process stood still, and was given up. */
  leaveIfTaken(): void {
    if (this.#live !== null && this.#epoch.isTaken) this.#live.run.abandon();
  }

  /** Settles when the turn that is being opened, if there is one, runs or was refused. */
  opened(): Promise<void> {
    return this.#queue.opened();
  }

  get waiting(): number {
    return this.#queue.waiting;
  }

  /** Stops a turn that waits here, if `allows` says that it may be. Its stream ends, and nothing of it is stored. */
  withdraw(turnId: string, allows: (command: TurnCommand) => boolean): boolean {
    return this.#queue.withdraw(turnId, allows);
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
      this.#epoch.lose();
      throw error;
    }
  }

  async #open(command: TurnCommand): Promise<Opened> {
    for (let attempt = 1; attempt <= OPEN_TRIES; attempt++) {
      await this.#recover();
      const prepared = await this.#prepare(command);
      if (prepared === 'exists') return 'exists';
      const { input, scope, start } = prepared;
      const output = await this.#opening.write(command, input);
      if (output.outcome === 'exists') return 'exists';
      if (output.outcome === 'refused') throw capRefusal(command, output.cap, this.#opening.nowMs());
      if (output.outcome === 'stale') {
        this.#epoch.overtaken();
        this.#held = null;
        continue;
      }
      this.#epoch.wrote(input.conversation.epoch);
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
    throw keptChanging();
  }

  /** What rows refuse because another node opened the same turn just now is no refusal. @throws Refusal, OwnedElsewhere. */
  async #prepare(command: TurnCommand): Promise<PreparedTurn | 'exists'> {
    try {
      return await this.#opening.prepare(command, this.#thread(command), this.#epoch.openingFence());
    } catch (error) {
      if (error instanceof Refusal && readTurn(this.#db, this.#home.appId, command.turnId) !== undefined) return 'exists';
      throw error;
    }
  }

  #run({ turn, turnId }: Pick<TurnRow, 'turn' | 'turnId'>, scope: TurnScope, start: TurnStart): Position {
    const run = new RunningTurn(scope, start);
    const over = run.done.then((endIsStored) => {
      this.#live = null;
      // Without an epoch the next owner reads the rows again and ends what was left open.
      if (!endIsStored) this.#epoch.lose();
    });
    this.#live = { turn, turnId, run, attemptSeq: start.attemptSeq, over };
    return { source: start.log, fromSeq: start.attemptSeq };
  }

  #committer(turn: number, messageId: string): TurnScope['commit'] {
    return async (step) => {
      const fence = this.#epoch.fence();
      // Until the answer is there, nobody knows what the rows say: a failure makes the next turn read them again.
      this.#epoch.lose();
      const committed = await this.#opening.commit(this.#home.organisationId, {
        ...step,
        turn,
        messageId,
        appId: this.#home.appId,
        channel: this.#home.channel,
        conversationId: this.id,
        fence,
      });
      if (committed) this.#epoch.wrote(fence.epoch);
      return committed;
    };
  }

  /** Ends the turns that a crash left open, so that they can be retried: nobody is answering them any more. */
  async #recover(): Promise<void> {
    if (this.#epoch.isClean) return;
    const lost = await this.#opening.loseExecutions(this.#home.organisationId, this.id, () => this.#epoch.fence());
    if (lost === 'refused') return;
    if (lost !== 'none') this.#epoch.wrote(lost);
    for (const row of readOpenTurns(this.#db, this.id)) {
      const committed = await this.#committer(row.turn, row.assistantMessageId)(interruption(row, this.#opening.recoverer));
      if (!committed) return;
    }
  }

  async #reopen(command: TurnCommand | null, stale: TurnRow): Promise<Opened> {
    for (let attempt = 1; attempt <= OPEN_TRIES; attempt++) {
      // The turn exists, so somebody may have taken the conversation since it was handed over.
      this.#epoch.checkSnapshot();
      await this.#recover();
      const row = this.#read(stale);
      if (command === null || row.endedAtMs === null) return this.#stored(row);
      const machine = turnMachine({ state: row.state, snapshot: row.snapshot });
      const { effects } = machine.send({ type: 'turn.retry' });
      if (effects.length === 0) return this.#stored(row);
      const retried = await this.#retry(command, row, { machine, effects });
      if (retried !== null) return retried;
    }
    throw keptChanging();
  }

  #read(stale: TurnRow): TurnRow {
    const row = readTurn(this.#db, stale.appId, stale.turnId);
    if (row === undefined) throw new Error('a turn vanished while it was attached to');
    return row;
  }

  /** @throws OwnedElsewhere, or Refusal `internal`, when the turn is open and not ours to end: its stream would have no end. */
  #stored(row: TurnRow): Position {
    if (row.endedAtMs === null) {
      this.#epoch.requireOwn();
      throw new Refusal('internal', 'The turn is being taken over at this moment. Send it again.');
    }
    return { source: journalSource(this.#db, row.turn, row.nextSeq), fromSeq: row.attemptSeq };
  }

  /** A new attempt of a failed turn: same stored message, same message id, seq going on. Null when the fence refused it. */
  async #retry(command: TurnCommand, row: TurnRow, step: Pick<TurnStart, 'machine' | 'effects'>): Promise<Position | null> {
    const commit = this.#committer(row.turn, row.assistantMessageId);
    const { scope, events } = await this.#opening.prepareRetry(command, this.#thread(command), row, step.effects, commit);
    const attemptSeq = row.nextSeq;
    const nextSeq = attemptSeq + events.length;
    const committed = await scope.commit(newAttempt(step.machine, attemptSeq, events));
    if (!committed) return null;
    const log = new TurnLog(attemptSeq, journalSource(this.#db, row.turn, null));
    for (const event of events) log.say(event);
    log.journalledUpTo(nextSeq);
    return this.#run(row, scope, { ...step, attemptSeq, log });
  }
}
