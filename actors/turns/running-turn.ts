/**
 * One turn while it runs: steps the `chat-turn` machine, commits what it decided, then performs it.
 *
 * Owns: the order of things within the turn (text deltas run straight through while nothing is being committed), the turn's
 * log and its blocks. Does not own: which turn of the conversation may run, and the fence.
 * Invariant: `block.ready`, `action.execute` and `turn.end` reach the log only after their rows are committed.
 */
import type { ModelFailure, ModelRun, RoundResult, ToolCall } from '../../assistant/models/model.ts';
import { asksAgain, type ChatTurnEffect, type ChatTurnEvent, type chatTurn } from '../../machines/chat-turn.ts';
import type { TurnState } from '../../protocol/runtime/states.ts';
import type { StreamEvent } from '../../protocol/runtime/stream-events.ts';
import { section } from '../../watch/sections.ts';
import type { Stepper } from '../step.ts';
import { blockEvents, blocksOf, charsOf, type Outgoing, speak, TurnAnswer } from './answer.ts';
import { runStep } from './commits.ts';
import { endEvent, stepEvents } from './events.ts';
import { errorEvent, FAILED_END, failureOf, INTERRUPTED, nothingSaid } from './failures.ts';
import { keptItems } from './kept-answer.ts';
import type { TurnLog } from './log.ts';
import { TurnMailbox } from './mailbox.ts';
import { type RoundOutcome, TurnRounds } from './rounds.ts';
import type { TurnScope } from './scope.ts';
import { ServerCalls } from './server-calls.ts';
import { TurnSpending } from './spending.ts';

export interface TurnStart {
  /** The machine as it was when its opening was committed, and the effects that are still to be performed. */
  readonly machine: Stepper<typeof chatTurn>;
  readonly effects: readonly ChatTurnEffect[];
  readonly attemptSeq: number;
  readonly log: TurnLog;
}

export class RunningTurn {
  readonly #scope: TurnScope;
  readonly #machine: Stepper<typeof chatTurn>;
  readonly #attemptSeq: number;
  readonly #answer: TurnAnswer;
  readonly #serverCalls: ServerCalls;
  readonly #spending: TurnSpending;
  readonly #rounds: TurnRounds;
  readonly log: TurnLog;
  /** Settles when the turn has ended: true when its end is committed, false when it can never be. */
  readonly done: Promise<boolean>;
  #settle: (endIsStored: boolean) => void = () => {};
  readonly #mailbox: TurnMailbox;
  #run: ModelRun | null = null;
  /** How the model's last round ended; `length` also where the answer grew beyond a bound of ours. */
  #reason: RoundResult['reason'] = 'stop';

  constructor(scope: TurnScope, start: TurnStart) {
    this.#scope = scope;
    this.#machine = start.machine;
    this.#attemptSeq = start.attemptSeq;
    this.log = start.log;
    this.done = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#mailbox = new TurnMailbox({ upstream: () => this.#run, failed: (error) => this.abandon(error), share: scope.share });
    this.log.onLag = (isLagging) => this.#mailbox.readersLag(isLagging);
    this.log.share = scope.share;
    this.#answer = new TurnAnswer(scope, this.log);
    this.#serverCalls = new ServerCalls(scope);
    this.#spending = new TurnSpending(scope);
    this.#rounds = new TurnRounds(scope, this.#answer, this.#serverCalls, this.#spending);
    this.#mailbox.do(() => {
      this.#warn();
      this.#perform(start.effects);
    });
  }

  get state(): TurnState {
    return this.#machine.state as TurnState;
  }

  /** The person asked to stop: what was said stays. False when the turn came to its own end first. */
  async stop(): Promise<boolean> {
    this.#mailbox.do(() => this.#finish({ type: 'turn.stop' }));
    return (await this.done) && this.#machine.snapshot.context.stopped;
  }

  /** The service goes away before the turn could end. */
  interrupt(): void {
    this.#mailbox.do(() => this.#finish({ type: 'turn.interrupted', failure: INTERRUPTED }));
  }

  /** Keep-alive for readers; not while a commit has given out the next seqs. */
  ping(): void {
    this.#mailbox.pinged();
    if (this.#mailbox.isFree) this.log.say({ type: 'ping' });
  }

  /** Does `work`: at once, or when what it needs is ready and nothing has ended the turn meanwhile. */
  #once(ready: Promise<unknown> | undefined, work: () => void): void {
    if (ready === undefined) work();
    else ready.then(() => this.#mailbox.do(work));
  }

  /** Asks the model for the next round, unless the day's budget is spent by now. What the first one may cost was asked before the turn opened. */
  #askModel(round: number): void {
    const spent = round > 1 ? this.#spending.overBudget() : null;
    if (spent !== null) {
      this.#scope.log.info('the app’s model budget of the day is spent: ending the turn without another round');
      this.#finish({ type: 'round.failed', failure: spent });
      return;
    }
    const { command, services } = this.#scope;
    const { requestId } = command;
    const request = section('turn: the request to the model', requestId, () => this.#rounds.request());
    this.#run = services.model.stream(request, {
      text: (delta) => this.#heard(delta),
      toolCallStarted: (call) =>
        this.#mailbox.do(() => {
          if (!this.#rounds.drawsComponent(call.name)) return;
          this.#answer.componentStarted(call);
          this.#goOn();
        }),
      finished: (result) => this.#mailbox.do(() => section('turn: a round ends', requestId, () => this.#finishRound(result))),
      failed: (failure) => this.#mailbox.do(() => this.#fail(failure)),
    });
    this.#mailbox.upstreamBegan();
  }

  #heard(delta: string): void {
    this.#mailbox.do(() => {
      this.#rounds.heard(delta);
      this.#answer.text(delta);
      this.#goOn();
    }, delta.length);
    this.#mailbox.read(delta.length);
  }

  #goOn(): void {
    if (this.#answer.isFull) this.#truncate();
    else if (this.#answer.isWaiting) this.#advance();
  }

  /** The answer is as long as one may be: the model is stopped, what was said stays, and the turn ends as any other. */
  #truncate(): void {
    this.#scope.log.warn('the model’s answer is longer than the limit: stopping the model');
    this.#run?.abort();
    this.#run = null;
    this.#reason = 'length';
    this.#finish({ type: 'round.finished', serverCalls: 0, waiting: { reads: 0, confirmations: 0 } });
  }

  #finishRound(result: RoundResult): void {
    this.#run = null;
    this.#reason = result.reason;
    const kept = this.#rounds.kept(result);
    if (!(kept instanceof Promise)) this.#sortRound(kept);
    else kept.then((calls) => this.#mailbox.do(() => this.#sortRound(calls))).catch((error: unknown) => this.abandon(error));
  }

  #sortRound(calls: readonly ToolCall[]): void {
    const { serverCalls, waiting }: RoundOutcome = this.#rounds.finish(calls);
    if (serverCalls === 0) this.#answer.finish();
    const isLast = serverCalls + waiting.reads + waiting.confirmations === 0;
    this.#close(isLast, { type: 'round.finished', serverCalls, waiting });
  }

  /** `isLast`: nothing more comes after this event. A person must not look at nothing: a turn in which nothing was said has failed. */
  #close(isLast: boolean, event: ChatTurnEvent): void {
    if (!isLast || this.#answer.count > 0) {
      this.#advance(event);
      return;
    }
    this.#scope.log.warn({ reason: this.#reason }, 'the model’s answer was empty: the turn failed');
    this.#advance({ type: 'round.failed', failure: nothingSaid(this.#reason) });
  }

  #fail(failure: ModelFailure): void {
    this.#run = null;
    this.#spending.failed(failure);
    const saidNothing = this.#answer.count === 0;
    this.#scope.log.warn({ kind: failure.kind, detail: failure.detail }, 'the model server failed');
    this.#finish({ type: 'round.failed', failure: failureOf(failure, saidNothing) });
  }

  /** What the service itself has to say plainly to the person: that it does not know how a write ended. */
  #warn(): void {
    for (const md of this.#serverCalls.takeWarnings()) this.#answer.place('text', { md });
  }

  #settleCalls(): void {
    this.#warn();
    this.#rounds.runCalls();
    const { context } = this.#machine.snapshot;
    const goesOn = asksAgain(context);
    if (!goesOn) this.#answer.finish();
    this.#close(!goesOn && context.waiting.reads + context.waiting.confirmations === 0, { type: 'calls.settled' });
  }

  /** Nothing more is said: ends the answer wherever it is, and advances. */
  #finish(event: ChatTurnEvent): void {
    this.#answer.finish();
    this.#advance(event);
  }

  /** Steps the machine over the blocks that are finished and then `event`, commits all of it, and performs it. */
  #advance(event?: ChatTurnEvent): void {
    const outbox = this.#answer.take();
    const blocks = blocksOf(outbox);
    const effects: ChatTurnEffect[] = [];
    const send = (next: ChatTurnEvent) => effects.push(...this.#machine.send(next).effects);
    for (const block of blocks) send({ type: 'block.completed', blockId: block.id });
    if (event !== undefined) send(event);
    const ends = effects.some((effect) => effect.type === 'endTurn');
    // What follows the last whole block belongs to one that goes on: it is said after the commit, as any text is.
    const told = ends ? outbox.length : outbox.findLastIndex((item) => 'block' in item) + 1;
    const said = stepEvents(effects, {
      executions: () => this.#rounds.executions(),
      end: (effect, isNotice) => endEvent(effect, isNotice, this.#scope, { pending: this.#rounds.pending(), reason: this.#reason }),
    });
    const before = outbox.slice(0, told);
    const after = outbox.slice(told);
    if (blockEvents(before, effects).length + said.length === 0) {
      speak(after);
      this.#perform(effects);
      return;
    }
    this.#mailbox.hold();
    this.#scope.services.room
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
    const items = await keptItems(before, this.#scope.concealment);
    const events = [...blockEvents(items, effects), ...said];
    const end = effects.find((effect) => effect.type === 'endTurn');
    const step = runStep(this.log, this.#machine, {
      attemptSeq: this.#attemptSeq,
      blocks: blocksOf(items),
      events,
      invocations: this.#rounds.takeNewInvocations(),
      ended: end !== undefined,
      charge: end === undefined ? null : this.#spending.charge(end.status !== 'error'),
    });
    if (!(await this.#scope.commit(step))) return false;
    for (const event of events) this.log.say(event);
    this.log.journalledUpTo(step.nextSeq);
    speak(after);
    this.#mailbox.release();
    this.#perform(effects);
    if (end !== undefined) this.#end(true);
    this.#mailbox.resume();
    return true;
  }

  #perform(effects: readonly ChatTurnEffect[]): void {
    for (const effect of effects) {
      if (effect.type === 'callModel') this.#once(this.#rounds.preparation(), () => this.#askModel(effect.round));
      else if (effect.type === 'runCalls')
        this.#once(this.#rounds.callsPreparation(), () =>
          section('turn: calls are settled', this.#scope.command.requestId, () => this.#settleCalls()),
        );
      else if (effect.type === 'abortModel') this.#run?.abort();
    }
  }

  #end(isStored: boolean): void {
    this.#mailbox.close();
    this.#scope.share.leave();
    this.#run?.abort();
    this.#serverCalls.abortReads();
    this.log.end();
    // The conversation stays taken until it is known how a write ended that is still out.
    void this.#serverCalls.written.then(() => this.#settle(isStored));
  }

  /**
   * Nothing can be committed any more: readers are told to try again, and the rows stay as they were. `error` is absent when the fence
   * refused.
   */
  abandon(error?: unknown): void {
    if (error !== undefined) this.#scope.log.error({ err: error }, 'turn abandoned: a commit failed; the client was told to try again');
    if (this.#mailbox.isClosed) return;
    if (error === undefined) this.#scope.log.warn('turn abandoned: its conversation was deleted, or another node took it over');
    this.log.say(errorEvent(INTERRUPTED));
    this.log.say(FAILED_END);
    this.#end(false);
  }
}
