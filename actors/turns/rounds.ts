/**
 * The rounds of one turn: asks the model, hears its answer, and has its calls answered. Owns what the model is asked, what that costs, and how
 * the last round ended. Decides nothing about states: what happens becomes an event of the `chat-turn` machine.
 */
import { failedSentence, isOfModel, type ModelFailure, type RoundResult, type ToolCall } from '../../assistant/models/model.ts';
import { asksAgain, type ChatTurnEvent, type chatTurn } from '../../machines/chat-turn.ts';
import type { Stepper } from '../../machines/step.ts';
import { section } from '../../watch/sections.ts';
import type { TurnAnswer } from './answer.ts';
import { failureOf, nothingSaid } from './events.ts';
import { logOf, type TurnFacts } from './facts.ts';
import type { MailboxOwner, TurnMailbox } from './mailbox.ts';
import { TurnRequests } from './requests.ts';
import { ServerCalls } from './server-calls.ts';
import { TurnSpending } from './spending.ts';
import { ToolCalls } from './tool-calls.ts';

/** The turn that the rounds belong to. */
export interface RoundsOwner extends MailboxOwner {
  /** Steps the machine over the blocks that are whole, and then over `event`. */
  advance(event?: ChatTurnEvent): void;
}

export class TurnRounds {
  readonly #owner: RoundsOwner;
  readonly #turn: TurnFacts;
  readonly #machine: Stepper<typeof chatTurn>;
  readonly #mailbox: TurnMailbox;
  readonly #answer: TurnAnswer;
  readonly #requests: TurnRequests;
  readonly spending: TurnSpending;
  readonly serverCalls: ServerCalls;
  readonly calls: ToolCalls;
  /** How the model's last round ended; `length` also where the answer grew beyond a bound of ours. */
  reason: RoundResult['reason'] = 'stop';

  constructor(owner: RoundsOwner, turn: TurnFacts, machine: Stepper<typeof chatTurn>, mailbox: TurnMailbox, answer: TurnAnswer) {
    this.#owner = owner;
    this.#turn = turn;
    this.#machine = machine;
    this.#mailbox = mailbox;
    this.#answer = answer;
    this.#requests = new TurnRequests(turn);
    this.spending = new TurnSpending(turn);
    this.serverCalls = new ServerCalls(turn);
    this.calls = new ToolCalls(turn, answer, this.serverCalls);
  }

  /** Does `work` with `value`: at once, or when it is there and nothing has ended the turn meanwhile. */
  #with<Value>(value: Value | Promise<Value>, work: (value: Value) => void): void {
    if (!(value instanceof Promise)) work(value);
    else
      value.then(
        (settled) => this.#mailbox.do(() => work(settled)),
        (error: unknown) => this.#owner.abandon(error),
      );
  }

  /** Asks the model for the next round, unless the day's budget is spent by now. The budget of the first was checked before the turn opened. */
  ask(round: number): void {
    const spent = round > 1 ? this.spending.overBudget() : null;
    this.spending.begun(round);
    if (spent === null) {
      this.#with(this.#requests.preparation(), () => this.#stream());
      return;
    }
    logOf(this.#turn).info('the app’s model budget of the day is spent: ending the turn without another round');
    this.finish({ type: 'round.failed', failure: spent });
  }

  #stream(): void {
    const { command, services } = this.#turn;
    const request = section('turn: the request to the model', command.requestId, () =>
      this.#requests.next(this.#answer.count, this.spending),
    );
    this.spending.asked(request);
    this.#mailbox.upstream = services.model.stream(request, {
      text: (delta) => this.#heard(delta),
      toolCallStarted: (call) =>
        this.#mailbox.do(() => {
          this.spending.heard(0);
          if (!this.calls.drawsComponent(call.name)) return;
          this.#answer.componentStarted(call);
          this.#goOn();
        }),
      finished: (result) => this.#mailbox.do(() => section('turn: a round ends', command.requestId, () => this.#finishRound(result))),
      failed: (failure) => this.#mailbox.do(() => this.#fail(failure)),
      passedOver: (next) => this.spending.passedOver(next),
      fellBack: (failure, next) => this.#fellBack(failure, next),
    });
  }

  #heard(delta: string): void {
    this.#mailbox.do(() => {
      this.spending.heard(delta.length);
      this.#requests.heard(delta);
      this.#answer.text(delta);
      this.#goOn();
    }, delta.length);
    this.#mailbox.read(delta.length);
  }

  #goOn(): void {
    if (this.#answer.isFull) this.#truncate();
    else if (this.#answer.isWaiting) this.#owner.advance();
  }

  /** The answer is as long as one may be: the model is stopped, what was said stays, and the turn ends as any other. */
  #truncate(): void {
    logOf(this.#turn).warn('the model’s answer is longer than the limit: stopping the model');
    this.#mailbox.upstream?.abort();
    this.#mailbox.upstream = null;
    this.reason = 'length';
    this.finish({ type: 'round.finished', serverCalls: 0, waiting: { reads: 0, confirmations: 0 }, ...this.spending.ofRound() });
  }

  /** Whether the turn may ask `next` after this. */
  #fellBack(failure: ModelFailure, next: string): boolean {
    if (!this.spending.mayFallBack()) return false;
    const { kind, detail, model } = failure;
    logOf(this.#turn).warn({ kind, detail, model, next }, 'a model failed before its first word: asking the next one');
    this.#mailbox.do(() => this.spending.fellBack(failure, next));
    return true;
  }

  #finishRound({ reason, toolCalls, usage, model }: RoundResult): void {
    this.#mailbox.upstream = null;
    this.#noteOutcome();
    this.reason = reason;
    const argumentChars = toolCalls.reduce((sum, call) => sum + call.arguments.length, 0);
    this.spending.finished({ usage, ...(model === undefined ? {} : { model }) }, argumentChars);
    this.#with(this.calls.kept(toolCalls), (kept) => this.#sort(kept));
  }

  #sort(made: readonly ToolCall[]): void {
    const { serverCalls, waiting } = this.calls.sort(made, this.#requests);
    const isLast = serverCalls + waiting.reads + waiting.confirmations === 0;
    if (serverCalls === 0) this.#answer.finish(isLast);
    this.#close(isLast, { type: 'round.finished', serverCalls, waiting, ...this.spending.ofRound() });
  }

  /** `isLast`: nothing more comes after this event. A turn in which nothing was said has failed: an empty answer helps no one. */
  #close(isLast: boolean, event: ChatTurnEvent): void {
    if (!isLast || this.#answer.count > 0) {
      this.#owner.advance(event);
      return;
    }
    logOf(this.#turn).warn({ reason: this.reason }, 'the model’s answer was empty: the turn failed');
    this.#owner.advance({ type: 'round.failed', failure: nothingSaid(this.reason), ...this.spending.ofRound() });
  }

  #fail(failure: ModelFailure): void {
    if (isOfModel(failure)) this.#noteOutcome(failure);
    this.#mailbox.upstream = null;
    this.spending.failed(failure);
    const saidNothing = this.#answer.count === 0;
    logOf(this.#turn).warn({ kind: failure.kind, detail: failure.detail }, 'the model server failed');
    this.finish({ type: 'round.failed', failure: failureOf(failure, saidNothing), ...this.spending.ofRound() });
  }

  /** For `model_failing`, of the app. What is wrong with one message (`refused`) is not about the model. */
  #noteOutcome(failure?: ModelFailure): void {
    const { command, services } = this.#turn;
    const { appId } = command.caller;
    services.storage.conditions.tried('model_failing', appId, failure && failedSentence(failure, failure.mendAt ?? services.model.mendAt));
  }

  /** Tells the person plainly that the service does not know how a write ended. */
  warn(): void {
    for (const md of this.serverCalls.takeWarnings()) this.#answer.place('text', { md });
  }

  /** Answers the calls of the round that are the server's. */
  runCalls(): void {
    const { requestId } = this.#turn.command;
    this.#with(this.calls.preparation(), () => section('turn: calls are settled', requestId, () => this.#settleCalls()));
  }

  #settleCalls(): void {
    const { context } = this.#machine.snapshot;
    this.warn();
    // None where a continuation handed confirmed writes over: they are rows, and the transcript tells of them.
    if (this.calls.ofRound.length > 0) this.#requests.remember(this.calls);
    const goesOn = asksAgain(context);
    if (!goesOn) this.#answer.finish();
    this.#close(!goesOn && context.waiting.reads + context.waiting.confirmations === 0, { type: 'calls.settled' });
  }

  /** Nothing more is said: ends the answer wherever it is, and advances. */
  finish(event: ChatTurnEvent): void {
    this.#answer.finish();
    this.#owner.advance(event);
  }

  /** The turn has ended, and its reads with it. Settles when it is known how a write ended that is still out. */
  end(): Promise<void> {
    this.serverCalls.abortReads();
    return this.serverCalls.written;
  }
}
