/**
 * One turn while it runs: steps the `chat-turn` machine, commits what it decided, then performs it.
 *
 * Owns the order of step, commit and speech within the turn, and its log. Text deltas run straight through while nothing is being committed.
 * Does not own what the model is asked and what its calls become, which turn of the conversation may run, nor the fence.
 * While the opening is being committed the model may be asked already: its words are held as during any commit, and the log has no readers.
 * Invariant: `block.ready`, `action.execute` and `turn.end` reach the log only after their rows are committed.
 */
import type { ChatTurnEffect, ChatTurnEvent, chatTurn } from '../../machines/chat-turn.ts';
import type { Stepper } from '../../machines/step.ts';
import type { TurnState } from '../../protocol/runtime/states.ts';
import type { StreamEvent } from '../../protocol/runtime/stream-events.ts';
import type { Position } from '../frame-source.ts';
import { blockEvents, blocksOf, charsOf, type Outgoing, speak, TurnAnswer } from './answer.ts';
import { endEvent, errorEvent, FAILED_END, INTERRUPTED, stepEvents } from './events.ts';
import { logOf, numberOf, type TurnFacts } from './facts.ts';
import type { Held } from './held.ts';
import { journalSource } from './journal.ts';
import { keptItems } from './kept-answer.ts';
import { TurnLog } from './log.ts';
import { TurnMailbox } from './mailbox.ts';
import type { Draft } from './opening.ts';
import { type RoundsOwner, TurnRounds } from './rounds.ts';
import { attemptStep } from './turn-rows.ts';

const LEFT_OUT =
  'pictures were left out of an answer: their addresses stood in no result, knowledge or configuration of the turn, and media_hosts lists none of their hosts';

export class RunningTurn implements RoundsOwner {
  readonly #held: Held;
  readonly #turn: TurnFacts;
  readonly #machine: Stepper<typeof chatTurn>;
  readonly #answer: TurnAnswer;
  readonly #rounds: TurnRounds;
  readonly #mailbox: TurnMailbox;
  readonly log: TurnLog;
  readonly position: Position;
  /** Settles when the turn has ended: true when its end is committed, false when it can never be. */
  readonly done: Promise<boolean>;
  #settle: (endIsStored: boolean) => void = () => {};

  /** Says what the first step says, and performs its effects. */
  constructor(held: Held, { turn, machine, effects, events, attemptSeq }: Draft) {
    this.#held = held;
    this.#turn = turn;
    this.#machine = machine;
    this.log = new TurnLog(
      attemptSeq,
      journalSource(turn.db, () => numberOf(turn), null),
    );
    this.position = { source: this.log, fromSeq: attemptSeq };
    this.done = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#mailbox = new TurnMailbox(this, turn.share);
    this.log.turn = this.#mailbox;
    this.#answer = new TurnAnswer(turn, this.log);
    this.#rounds = new TurnRounds(this, turn, machine, this.#mailbox, this.#answer);
    for (const event of events) this.log.say(event);
    this.log.journalledUpTo(this.log.nextSeq);
    this.#begin(effects);
  }

  /** Apart, because functions that are made in one place hold each other's variables, and those of the constructor live as long as the turn. */
  #begin(effects: readonly ChatTurnEffect[]): void {
    this.#mailbox.do(() => {
      this.#rounds.warn();
      this.#perform(effects);
    });
  }

  /**
   * The first step is being committed still, so called in the tick that made the attempt: what comes of its effects is held until `opened` or
   * `giveUp`. Nobody may read the log before.
   */
  beforeOpening(): this {
    this.#mailbox.hold();
    return this;
  }

  opened(): void {
    this.#mailbox.release();
    this.#mailbox.resume();
  }

  /** The commit of the first step was refused: the model's answer is aborted, and nothing was said. */
  giveUp(): void {
    if (!this.#mailbox.isClosed) this.#end(false);
  }

  get state(): TurnState {
    return this.#machine.state as TurnState;
  }

  /** The person asked to stop: what was said stays. False when the turn came to its own end first. */
  async stop(): Promise<boolean> {
    this.#mailbox.do(() => this.#rounds.finish({ type: 'turn.stop' }));
    return (await this.done) && this.#machine.snapshot.context.stopped;
  }

  /** The service goes away before the turn could end. */
  interrupt(): void {
    this.#mailbox.do(() => this.#rounds.finish({ type: 'turn.interrupted', failure: INTERRUPTED }));
  }

  /** Keep-alive for readers; not while a commit has given out the next seqs. */
  ping(): void {
    this.#mailbox.pinged();
    if (this.#mailbox.isFree) this.log.say({ type: 'ping' });
  }

  /** Steps the machine over the blocks that are finished and then `event`, commits all of it, and performs it. */
  advance(event?: ChatTurnEvent): void {
    const outbox = this.#answer.take();
    const blocks = blocksOf(outbox);
    const effects: ChatTurnEffect[] = [];
    const send = (next: ChatTurnEvent) => effects.push(...this.#machine.send(next).effects);
    for (const item of outbox) {
      if (!('block' in item)) continue;
      const { block, leftOut } = item;
      send({ type: 'block.completed', blockId: block.id, ...(leftOut === undefined ? {} : { leftOut }) });
      if (leftOut !== undefined) logOf(this.#turn).info({ component: block.block_type, left_out: leftOut }, LEFT_OUT);
    }
    if (event !== undefined) send(event);
    const ends = effects.some((effect) => effect.type === 'endTurn');
    // What follows the last whole block belongs to one that goes on: it is said after the commit, as any text is.
    const split = ends ? outbox.length : outbox.findLastIndex((item) => 'block' in item) + 1;
    const said = stepEvents(effects, {
      executions: () => this.#rounds.calls.executions(),
      end: (effect, isNotice) => {
        const { calls, reason, serverCalls } = this.#rounds;
        return endEvent(effect, isNotice, this.#turn, { pending: calls.pending(), reason, isTokenRefused: serverCalls.isTokenRefused });
      },
    });
    const before = outbox.slice(0, split);
    const after = outbox.slice(split);
    const isSaid = said.length > 0 || before.some((item) => !('block' in item)) || effects.some(({ type }) => type === 'sendBlock');
    if (!isSaid) {
      speak(after);
      this.#perform(effects);
      return;
    }
    this.#mailbox.hold();
    this.#turn.services.commitBudget
      .within(charsOf(blocks), () => this.#commit(before, said, after, effects))
      .then(
        (committed) => {
          if (!committed) this.abandon();
        },
        (error: unknown) => this.abandon(error),
      );
  }

  /** `before`: the answer up to its last whole block. `said`: beside blocks. `after`: words that follow. False when the fence refused. */
  async #commit(
    before: readonly Outgoing[],
    said: readonly StreamEvent[],
    after: readonly Outgoing[],
    effects: readonly ChatTurnEffect[],
  ): Promise<boolean> {
    const items = await keptItems(before, this.#turn.redaction);
    const events = [...blockEvents(items, effects), ...said];
    const end = effects.find((effect) => effect.type === 'endTurn');
    const step = attemptStep(this.log, this.#machine, {
      turn: numberOf(this.#turn),
      messageId: this.#turn.messageId,
      attemptSeq: this.position.fromSeq,
      blocks: blocksOf(items),
      events,
      invocations: this.#rounds.calls.takeNewInvocations(),
      ended: end !== undefined,
      charge: end === undefined ? null : this.#rounds.spending.charge(end.status !== 'error'),
    });
    if (!(await this.#held.step(step))) return false;
    for (const event of events) this.log.say(event);
    this.log.journalledUpTo(step.nextSeq);
    speak(after);
    this.#mailbox.release();
    this.#perform(effects);
    if (end !== undefined) {
      this.#rounds.spending.ended(end.stopped ? 'stopped' : end.status);
      this.#end(true);
    }
    this.#mailbox.resume();
    return true;
  }

  #perform(effects: readonly ChatTurnEffect[]): void {
    for (const effect of effects) {
      if (effect.type === 'callModel') this.#rounds.ask(effect.round);
      else if (effect.type === 'runCalls') this.#rounds.runCalls();
      else if (effect.type === 'abortModel') this.#mailbox.upstream?.abort();
    }
  }

  #end(isStored: boolean): void {
    this.#mailbox.close();
    this.log.end();
    // The conversation stays taken until it is known how a write ended that is still out.
    void this.#rounds.end().then(() => this.#settle(isStored));
  }

  /**
   * Ends a turn that can no longer commit: readers get a retryable error, and the rows stay as they are. `error` is absent when the fence
   * refused.
   */
  abandon(error?: unknown): void {
    if (error !== undefined) logOf(this.#turn).error({ err: error }, 'turn abandoned: a commit failed; the client was told to try again');
    if (this.#mailbox.isClosed) return;
    if (error === undefined) logOf(this.#turn).warn('turn abandoned: its conversation was deleted, or another node took it over');
    this.log.say(errorEvent(INTERRUPTED));
    this.log.say(FAILED_END);
    this.#end(false);
  }
}
