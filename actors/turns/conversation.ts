/**
 * The actor of one conversation: runs one turn at a time, each behind the fence, after what a crash left open has been ended. It exists while
 * something runs or waits in it. Its rows are the truth, so an idle conversation costs nothing.
 */
import { Refusal } from '../../protocol/errors.ts';
import { readConversation } from '../../storage/conversations/conversations.ts';
import type { OpenTurnOutput } from '../../storage/conversations/turn-openings.ts';
import { readTurn, type TurnRow } from '../../storage/conversations/turns.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { ChannelRef } from '../caller.ts';
import type { Position } from '../frame-source.ts';
import { openRedaction, type Redaction, regionsOfClient } from '../people/redaction.ts';
import { OVERTAKEN, type Retries, retried } from '../retried.ts';
import { capRefusal } from './admission.ts';
import type { Command } from './command.ts';
import type { Beginning } from './epoch.ts';
import { noteOpened, numberOf, type TurnFacts, type TurnPlace, type TurnServices } from './facts.ts';
import { Held } from './held.ts';
import { journalSource } from './journal.ts';
import { draftOpening, draftRetry, type Opening } from './opening.ts';
import { TurnQueue } from './queue.ts';
import { RunningTurn } from './running-turn.ts';
import { newAttempt, turnMachine } from './turn-rows.ts';

/** Where the reader of a turn starts; `exists`: the turn_id names a turn already, which has to be looked up. */
export type Begun = Position | 'exists';

/** A turn is begun again when rows moved between reading and writing; more than this is a bug, not a race. */
const MOVED: Retries = { max: 5, exhausted: () => new Error("gave up: the conversation's rows kept changing") };

interface Live {
  readonly turn: number;
  readonly turnId: string;
  readonly attempt: RunningTurn;
  /** Settles when the turn has ended and its conversation may be used again. */
  readonly over: Promise<void>;
}

export class Conversation {
  readonly id: string;
  readonly home: ChannelRef;
  readonly sinceMs: number;
  readonly #services: TurnServices;
  readonly #db: Connection;
  readonly #onIdle: () => void;
  readonly #held: Held;
  readonly queue: TurnQueue<Begun, Command>;
  #live: Live | null = null;
  #redaction: Redaction | null = null;

  constructor(services: TurnServices, id: string, home: ChannelRef, beginning: Beginning, onIdle: () => void) {
    this.id = id;
    this.home = home;
    this.sinceMs = services.nowMs();
    this.#services = services;
    this.#db = services.storage.organisation(home.organisationId);
    this.#onIdle = onIdle;
    this.#held = new Held(services, id, home, beginning);
    this.queue = new TurnQueue({ running: () => this.#live?.over ?? null, onIdle });
  }

  get runningTurnId(): string | null {
    return this.#live?.turnId ?? null;
  }

  get running(): RunningTurn | null {
    return this.#live?.attempt ?? null;
  }

  runningTurn(turn: number): RunningTurn | undefined {
    return this.#live?.turn === turn ? this.#live.attempt : undefined;
  }

  /** Puts the person's own data where placeholders stand for it, in rendered JSON: for the device that owns the conversation only. */
  restoreJson(json: string): string {
    return this.#redacted([]).restoreJson(json);
  }

  /** `regions`: whose national phone numbers are recognised, when none was held before. */
  #redacted(regions: readonly string[]): Redaction {
    const { storage } = this.#services;
    const { isNew, placeholders } = this.#held;
    this.#redaction ??= openRedaction({
      storage,
      organisationId: this.home.organisationId,
      conversationId: this.id,
      isNew,
      count: placeholders ?? readConversation(this.#db, this.id)?.placeholders ?? 0,
      regions,
    });
    return this.#redaction;
  }

  #place({ body, caller }: Command): TurnPlace {
    const regions = regionsOfClient(this.#db, caller.app, caller.channel, body.client.locale);
    const redaction = this.#redacted(regions);
    redaction.readFor(regions);
    return { services: this.#services, conversationId: this.id, db: this.#db, redaction, mayHaveCalls: this.#held.mayHaveCalls };
  }

  /** Ends an attempt that another node has replaced: this process stood still, and was given up. */
  leaveIfTaken(): void {
    if (this.#live !== null && this.#held.isTaken) this.#live.attempt.abandon();
  }

  /** Has a turn begin, behind those before it. @throws Refusal when too many wait or the rows refuse it. */
  enqueue(command: Command): Promise<Begun> {
    const { opened } = this.#services.earlyCalls;
    return this.queue.once(command, () => this.#begin(command, opened));
  }

  /** A retry of a turn that exists: live, from its rows, or as a new attempt when it failed and may be tried again. */
  retry(command: Command, row: TurnRow): Promise<Begun> {
    const readable = this.#readable(row, row.state === 'failed');
    return readable === null ? this.queue.once(command, () => this.#takeUp(command, row)) : Promise.resolve(readable);
  }

  /** Where a reader of a turn that exists finds it. Takes no waiting place: those are for turns. */
  async attach(row: TurnRow): Promise<Position> {
    const readable = this.#readable(row, false);
    if (readable !== null) return readable;
    // Open and not running: a crash left it, or its commit was seen before its attempt began. Taking it up ends the former.
    if (!this.queue.busy) return this.queue.inTurn(() => this.#takeUp(null, row));
    await this.queue.begun();
    const now = this.#read(row);
    return this.#readable(now, false) ?? this.#stored(now);
  }

  /** The turn as it can be read at once; null when rows have to be written first. */
  #readable(row: TurnRow, mayRunAgain: boolean): Position | null {
    if (this.#live?.turn === row.turn) return this.#live.attempt.position;
    if (row.endedAtMs === null || mayRunAgain) return null;
    // Nothing was taken, so an actor that was made for this question alone must not stay.
    if (!this.queue.busy) this.#onIdle();
    return this.#stored(row);
  }

  /** `opened`: how many openings were committed here when there was no such turn yet. */
  async #begin(command: Command, opened: number): Promise<Begun> {
    let asksEarly = true;
    try {
      return await retried(MOVED, async () => {
        if (!this.#held.isClean) await this.#held.recover();
        const opening = await draftOpening(this.#place(command), command, this.#held.openingFence());
        const { output, early } = await this.#open(opening, asksEarly, opened);
        // Who was overtaken once waits for the commit from then on: one request gives up one call at most.
        asksEarly = false;
        switch (output.outcome) {
          case 'exists':
            return 'exists';
          case 'refused':
            throw capRefusal(command, output.cap, this.#services.nowMs());
          case 'stale':
            this.#redaction = null;
            return OVERTAKEN;
          case 'opened': {
            this.#redaction?.opened();
            const { turn, rows } = opening;
            if (rows.ended) return { source: journalSource(this.#db, output.turn, rows.nextSeq), fromSeq: 0 };
            noteOpened(turn, output);
            this.#services.daysLeft.opened(command, rows.admission, output.dayLeft, rows.nowMs);
            const position = this.#goOn(turn, early ?? new RunningTurn(this.#held, opening));
            early?.opened();
            return position;
          }
        }
      });
    } catch (error) {
      this.#held.lose();
      // What rows refuse because another node opened the same turn just now is no refusal.
      if (error instanceof Refusal && readTurn(this.#db, this.home.appId, command.turnId) !== undefined) return 'exists';
      throw error;
    }
  }

  /**
   * Commits what opens the turn. Where it may be, the model is asked meanwhile (CHAT-22): `early` is then the attempt, which has said nothing
   * to anybody. When the commit does not open the turn, the call is aborted.
   */
  #open(
    opening: Opening,
    asksEarly: boolean,
    opened: number,
  ): Promise<{ readonly output: OpenTurnOutput; readonly early: RunningTurn | null }> {
    const { mayAskEarly, rows } = opening;
    const { appId, organisationId } = this.home;
    const { earlyCalls } = this.#services;
    // The same turn may have run while this request waited, if any did.
    const isNew = () => earlyCalls.opened === opened || readTurn(this.#db, appId, rows.turnId) === undefined;
    const mayAsk = asksEarly && mayAskEarly && this.#held.isUncontested && isNew();
    return earlyCalls.during(
      { organisationId, turn: `${appId} ${rows.turnId}`, mayAsk },
      () => this.#held.open(rows),
      () => new RunningTurn(this.#held, opening).beforeOpening(),
    );
  }

  /** From now on the attempt is the one that runs, and may be read. */
  #goOn(turn: TurnFacts, attempt: RunningTurn): Position {
    const over = attempt.done.then((endIsStored) => {
      this.#live = null;
      // Without an epoch the next owner reads the rows again and ends what was left open.
      if (!endIsStored) this.#held.lose();
    });
    this.#live = { turn: numberOf(turn), turnId: turn.command.turnId, attempt, over };
    return attempt.position;
  }

  /** Takes up a turn that exists: a new attempt, if it failed and `command` may try it again; else as its rows have it. */
  #takeUp(command: Command | null, stale: TurnRow): Promise<Position> {
    return retried(MOVED, async () => {
      // The turn exists, so another node may have taken the conversation since the hand-over.
      this.#held.checkSnapshot();
      await this.#held.recover();
      const row = this.#read(stale);
      if (command === null || row.endedAtMs === null) return this.#stored(row);
      const machine = turnMachine(row);
      const { effects } = machine.send({ type: 'turn.retry' });
      if (effects.length === 0) return this.#stored(row);
      const draft = await draftRetry(this.#place(command), command, row, { machine, effects });
      // Same stored message, same message id, seq going on.
      if (!(await this.#held.step(newAttempt(row, machine, draft.events)))) return OVERTAKEN;
      return this.#goOn(draft.turn, new RunningTurn(this.#held, draft));
    });
  }

  #read(stale: TurnRow): TurnRow {
    const row = readTurn(this.#db, stale.appId, stale.turnId);
    if (row === undefined) throw new Error('a turn vanished while it was attached to');
    return row;
  }

  /** @throws OwnedElsewhere, or Refusal `internal`, when the turn is open and not ours to end: its stream would have no end. */
  #stored(row: TurnRow): Position {
    if (row.endedAtMs === null) {
      this.#held.requireOwn();
      throw new Refusal('internal', 'The turn is being taken over at this moment. Send it again.');
    }
    return { source: journalSource(this.#db, row.turn, row.nextSeq), fromSeq: row.attemptSeq };
  }
}
