/**
 * The rounds of one turn: asks the model, hears its answer, and has its calls answered. Owns the request to the model that is under way
 * and how the last one ended. Decides nothing about states: what happens becomes an event of the `chat-turn` machine.
 */
import type { ModelFailure, ModelRun, RoundResult, ToolCall } from '../../assistant/models/model.ts';
import { asksAgain, type ChatTurnEvent, type chatTurn } from '../../machines/chat-turn.ts';
import type { Stepper } from '../../machines/step.ts';
import { section } from '../../watch/sections.ts';
import type { TurnAnswer } from './answer.ts';
import { logOf, type TurnFacts } from './facts.ts';
import { failureOf, nothingSaid } from './failures.ts';
import type { TurnMailbox } from './mailbox.ts';
import type { TurnRequests } from './requests.ts';
import { RoundClock } from './round-clock.ts';
import type { ServerCalls } from './server-calls.ts';
import type { TurnSpending } from './spending.ts';
import type { ToolCalls } from './tool-calls.ts';

/** The turn that the rounds belong to. */
export interface RoundsTurn {
  readonly facts: TurnFacts;
  readonly machine: Stepper<typeof chatTurn>;
  readonly mailbox: TurnMailbox;
  readonly requests: TurnRequests;
  readonly answer: TurnAnswer;
  readonly calls: ToolCalls;
  readonly serverCalls: ServerCalls;
  readonly spending: TurnSpending;
  /** Steps the machine over the blocks that are whole, and then over `event`. */
  advance(event?: ChatTurnEvent): void;
  /** A bug: it ends this turn, and no other. */
  failed(error: unknown): void;
}

export class TurnRounds {
  readonly #turn: RoundsTurn;
  readonly #clock: RoundClock;
  /** The model's answer that comes in. */
  #upstream: ModelRun | null = null;
  /** How the model's last round ended; `length` also where the answer grew beyond a bound of ours. */
  #reason: RoundResult['reason'] = 'stop';

  constructor(turn: RoundsTurn) {
    this.#turn = turn;
    this.#clock = new RoundClock(turn.facts.services.nowMs);
  }

  get upstream(): ModelRun | null {
    return this.#upstream;
  }

  get reason(): RoundResult['reason'] {
    return this.#reason;
  }

  /** Does `work` with `value`: at once, or when it is there and nothing has ended the turn meanwhile. */
  #with<Value>(value: Value | Promise<Value>, work: (value: Value) => void): void {
    const { failed, mailbox } = this.#turn;
    if (value instanceof Promise) value.then((settled) => mailbox.do(() => work(settled)), failed);
    else work(value);
  }

  /** Asks the model for the next round, unless the day's budget is spent by now. The budget of the first was checked before the turn opened. */
  ask(round: number): void {
    const { facts, spending } = this.#turn;
    const spent = round > 1 ? spending.overBudget() : null;
    this.#clock.begun(round === 1 ? facts.command.receivedAtMs : undefined);
    if (spent === null) {
      this.#with(this.#turn.requests.preparation(), () => this.#stream());
      return;
    }
    logOf(facts).info('the app’s model budget of the day is spent: ending the turn without another round');
    this.finish({ type: 'round.failed', failure: spent });
  }

  #stream(): void {
    const { answer, calls, mailbox, facts } = this.#turn;
    const { requestId } = facts.command;
    const request = section('turn: the request to the model', requestId, () => this.#turn.requests.next(answer.count));
    this.#clock.asked();
    this.#upstream = facts.services.model.stream(request, {
      text: (delta) => this.#heard(delta),
      toolCallStarted: (call) =>
        mailbox.do(() => {
          this.#clock.heard();
          if (!calls.drawsComponent(call.name)) return;
          answer.componentStarted(call);
          this.#goOn();
        }),
      finished: (result) => mailbox.do(() => section('turn: a round ends', requestId, () => this.#finishRound(result))),
      failed: (failure) => mailbox.do(() => this.#fail(failure)),
    });
    mailbox.upstreamBegan();
  }

  #heard(delta: string): void {
    const { answer, mailbox } = this.#turn;
    mailbox.do(() => {
      this.#clock.heard();
      this.#turn.requests.heard(delta);
      answer.text(delta);
      this.#goOn();
    }, delta.length);
    mailbox.read(delta.length);
  }

  #goOn(): void {
    const { advance, answer } = this.#turn;
    if (answer.isFull) this.#truncate();
    else if (answer.isWaiting) advance();
  }

  /** The answer is as long as one may be: the model is stopped, what was said stays, and the turn ends as any other. */
  #truncate(): void {
    logOf(this.#turn.facts).warn('the model’s answer is longer than the limit: stopping the model');
    this.#upstream?.abort();
    this.#upstream = null;
    this.#reason = 'length';
    this.finish({ type: 'round.finished', serverCalls: 0, waiting: { reads: 0, confirmations: 0 }, ...this.#clock.cost() });
  }

  #finishRound({ reason, toolCalls, usage }: RoundResult): void {
    const { calls, spending } = this.#turn;
    this.#upstream = null;
    this.#reason = reason;
    this.#clock.reported(usage);
    const argumentChars = toolCalls.reduce((sum, call) => sum + call.arguments.length, 0);
    spending.finished(usage, argumentChars);
    this.#with(calls.kept(toolCalls), (kept) => this.#sort(kept));
  }

  #sort(made: readonly ToolCall[]): void {
    const { answer, calls } = this.#turn;
    const { serverCalls, waiting } = calls.sort(made, this.#turn.requests.tellsOnly);
    if (serverCalls === 0) answer.finish();
    const isLast = serverCalls + waiting.reads + waiting.confirmations === 0;
    this.#close(isLast, { type: 'round.finished', serverCalls, waiting, ...this.#clock.cost() });
  }

  /** `isLast`: nothing more comes after this event. A turn in which nothing was said has failed, so that nobody looks at an empty answer. */
  #close(isLast: boolean, event: ChatTurnEvent): void {
    const { advance, answer, facts } = this.#turn;
    if (!isLast || answer.count > 0) {
      advance(event);
      return;
    }
    logOf(facts).warn({ reason: this.#reason }, 'the model’s answer was empty: the turn failed');
    advance({ type: 'round.failed', failure: nothingSaid(this.#reason), ...this.#clock.cost() });
  }

  #fail(failure: ModelFailure): void {
    const { answer, facts, spending } = this.#turn;
    this.#upstream = null;
    this.#clock.reported(failure.usage);
    spending.failed(failure);
    const saidNothing = answer.count === 0;
    logOf(facts).warn({ kind: failure.kind, detail: failure.detail }, 'the model server failed');
    this.finish({ type: 'round.failed', failure: failureOf(failure, saidNothing), ...this.#clock.cost() });
  }

  /** Tells the person plainly that the service does not know how a write ended. */
  warn(): void {
    const { answer, serverCalls } = this.#turn;
    for (const md of serverCalls.takeWarnings()) answer.place('text', { md });
  }

  /** Answers the calls of the round that are the server's. */
  runCalls(): void {
    const { calls, facts } = this.#turn;
    this.#with(calls.preparation(), () => section('turn: calls are settled', facts.command.requestId, () => this.#settleCalls()));
  }

  #settleCalls(): void {
    const { answer, calls, machine } = this.#turn;
    const { context } = machine.snapshot;
    this.warn();
    // None where a continuation handed confirmed writes over: they are rows, and the transcript tells of them.
    if (calls.ofRound.length > 0) this.#turn.requests.remember(calls.ofRound, (call) => calls.answerOf(call));
    const goesOn = asksAgain(context);
    if (!goesOn) answer.finish();
    this.#close(!goesOn && context.waiting.reads + context.waiting.confirmations === 0, { type: 'calls.settled' });
  }

  /** Nothing more is said: ends the answer wherever it is, and advances. */
  finish(event: ChatTurnEvent): void {
    const { advance, answer } = this.#turn;
    answer.finish();
    advance(event);
  }
}
