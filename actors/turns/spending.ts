/**
 * What an attempt at a turn costs, where the time of its rounds went, and the check of its app's model budget of the day (LIMIT-18): before a turn opens, before a retry, and
 * between rounds. The round that tells a person how a confirmed write ended is asked whatever was spent.
 */
import type { ModelFailure, ModelRequest, RoundResult, Usage } from '../../assistant/models/model.ts';
import { costMicroUsd } from '../../assistant/prices.ts';
import { charsOf } from '../../assistant/prompt.ts';
import type { RoundCost, TurnFailure } from '../../machines/chat-turn.ts';
import { toMicroUsd } from '../../protocol/money.ts';
import { type Charge, spentToday } from '../../storage/billing/usage-ledger.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { capRefusal } from './admission.ts';
import type { AnyCommand } from './command.ts';
import type { TurnFacts } from './facts.ts';

/** OpenAI's rule of thumb for English. It is used where the upstream reports no usage. */
export const CHARS_PER_TOKEN = 4;

/** Models that are asked beyond the first in all rounds of an attempt: what fails for long is not paid for, or waited for, six times over. */
const FALLBACKS_PER_TURN_MAX = 4;

/** Whether the day's budget is spent; `moreMicroUsd`: what the turn has cost so far, which is no row yet. The service's own questions have no budget. */
function isSpent({ caller, purpose }: AnyCommand, db: Connection, nowMs: number, moreMicroUsd: number): boolean {
  const { dailyModelBudgetUsd } = caller.app.settings;
  if (purpose !== 'person' || dailyModelBudgetUsd === null) return false;
  return spentToday(db, caller.app.id, nowMs) + moreMicroUsd >= toMicroUsd(dailyModelBudgetUsd);
}

/** Before a turn asks the model at all. @throws Refusal as capRefusal when the day is spent. */
export function requireBudget(command: AnyCommand, db: Connection, nowMs: number): void {
  if (isSpent(command, db, nowMs, 0)) throw capRefusal(command, 'daily_model_budget', nowMs);
}

export class TurnSpending {
  readonly #turn: TurnFacts;
  /** By the name of the model, in the order in which they were asked. */
  readonly #usage = new Map<string, Usage>();
  #triesLeft = FALLBACKS_PER_TURN_MAX;
  #fallbacks: { readonly askedFirst: string; readonly kind: string }[] = [];
  #answeredBy: string | undefined;
  #askedChars = 0;
  /** A round was asked that has not reported its usage. */
  #isAsked = false;
  /** Written in a round that has not reported its usage. */
  #unreportedChars = 0;
  /** How long the request took to get to its first round. */
  #admittedMs: number | undefined;
  #begunAtMs = 0;
  #askedAtMs: number | undefined;
  #firstMs: number | undefined;
  /** How long the person waited for the attempt's first word, from the request on. */
  #firstWordMs: number | undefined;
  /** The upstream's own count of the round; undefined: it reports none. */
  #reported: Usage | undefined;

  constructor(turn: TurnFacts) {
    this.#turn = turn;
  }

  begun(round: number): void {
    const { command, services } = this.#turn;
    const nowMs = services.nowMs();
    const receivedAtMs = round === 1 ? command.receivedAtMs : undefined;
    this.#admittedMs = receivedAtMs === undefined ? undefined : Math.max(0, nowMs - receivedAtMs);
    this.#begunAtMs = nowMs;
    this.#askedAtMs = undefined;
    this.#firstMs = undefined;
    this.#reported = undefined;
    this.#fallbacks = [];
    this.#answeredBy = undefined;
  }

  asked(request: ModelRequest): void {
    this.#askedChars = charsOf(request);
    this.#isAsked = true;
    this.#askedAtMs = this.#turn.services.nowMs();
  }

  heard(chars: number): void {
    this.#unreportedChars += chars;
    const { command, services } = this.#turn;
    if (this.#firstMs === undefined && this.#askedAtMs !== undefined) this.#firstMs = Math.max(0, services.nowMs() - this.#askedAtMs);
    if (this.#firstWordMs === undefined && chars > 0 && command.receivedAtMs !== undefined)
      this.#firstWordMs = Math.max(0, services.nowMs() - command.receivedAtMs);
  }

  /** A round ended; `usage` as the upstream reports it, `argumentChars` of the calls in it. */
  finished({ usage, model }: Pick<RoundResult, 'usage' | 'model'>, argumentChars: number): void {
    this.#reported = usage;
    this.#answeredBy = model;
    this.#add(usage ?? this.#guessed(argumentChars), model);
  }

  /** A round failed. It cost what the upstream reported; without a report that is guessed for a round that broke off, or never answered. */
  failed({ kind, usage, argumentChars, model }: ModelFailure): void {
    this.#reported = usage;
    this.#answeredBy = model;
    if (usage !== undefined) this.#add(usage, model);
    else if (kind === 'silent' || argumentChars !== undefined) this.#add(this.#guessed(argumentChars), model);
  }

  /** `next` is asked in place of the model that was chosen. */
  passedOver(next: string): void {
    this.#answeredBy = next;
  }

  /** Another model could be asked in this round: true while the attempt may still ask one. */
  mayFallBack(): boolean {
    this.#triesLeft -= 1;
    return this.#triesLeft >= 0;
  }

  /** A model failed before anything was heard, and `next` is asked. */
  fellBack(failure: ModelFailure, next: string): void {
    this.failed(failure);
    this.#answeredBy = next;
    this.#reported = undefined;
    this.#isAsked = true;
    this.#fallbacks.push({ askedFirst: failure.model ?? this.#turn.modelName, kind: failure.kind });
  }

  /** What the round cost, where the model was asked. */
  ofRound(): { readonly cost?: RoundCost } {
    if (this.#askedAtMs === undefined) return {};
    // Every turn makes one: put together of others it would leave four times as much garbage.
    const cost: { -readonly [Name in keyof RoundCost]: RoundCost[Name] } = { preparedMs: Math.max(0, this.#askedAtMs - this.#begunAtMs) };
    if (this.#admittedMs !== undefined) cost.admittedMs = this.#admittedMs;
    if (this.#firstMs !== undefined) cost.firstMs = this.#firstMs;
    if (this.#reported !== undefined) Object.assign(cost, this.#reported);
    if (this.#answeredBy !== undefined) cost.answeredBy = this.#answeredBy;
    if (this.#fallbacks.length > 0) cost.fallbacks = this.#fallbacks;
    return { cost };
  }

  /** What the round cost where the upstream does not say: by the length of what it was asked and wrote. */
  #guessed(argumentChars = 0): Usage {
    return {
      inputTokens: Math.ceil(this.#askedChars / CHARS_PER_TOKEN),
      outputTokens: Math.ceil((this.#unreportedChars + argumentChars) / CHARS_PER_TOKEN),
    };
  }

  #add({ inputTokens, outputTokens }: Usage, model = this.#answeredBy ?? this.#turn.modelName): void {
    this.#unreportedChars = 0;
    this.#isAsked = false;
    const before = this.#usage.get(model);
    // The one that answered last stands last.
    this.#usage.delete(model);
    this.#usage.set(model, {
      inputTokens: inputTokens + (before?.inputTokens ?? 0),
      outputTokens: outputTokens + (before?.outputTokens ?? 0),
    });
  }

  /** What the attempt has cost so far: each model at its own price. */
  #spent(): Usage & { readonly costMicroUsd: number } {
    const { prices } = this.#turn.services;
    let [inputTokens, outputTokens, cost] = [0, 0, 0];
    for (const [model, usage] of this.#usage) {
      inputTokens += usage.inputTokens;
      outputTokens += usage.outputTokens;
      cost += costMicroUsd(prices, model, usage);
    }
    return { inputTokens, outputTokens, costMicroUsd: cost };
  }

  /** The failure that ends the turn when the day's budget is spent; null while another round may be asked. */
  overBudget(): TurnFailure | null {
    const { command, db, services } = this.#turn;
    const nowMs = services.nowMs();
    if (!isSpent(command, db, nowMs, this.#spent().costMicroUsd)) return null;
    const { message, notice } = capRefusal(command, 'daily_model_budget', nowMs);
    return { code: 'quota_exceeded', message, retryable: false, cause: { kind: 'budget' }, ...(notice === undefined ? {} : { notice }) };
  }

  /** The attempt has ended, and is counted for whoever looks (CONSOLE-31). */
  ended(outcome: string): void {
    const { command, services } = this.#turn;
    if (command.purpose !== 'person') return;
    const { organisationId, appId, channel } = command.caller;
    const firstWordMs = this.#firstWordMs;
    services.billing.ended({ organisationId, appId, channel, failed: outcome === 'error', firstWordMs });
    const wholeMs = command.receivedAtMs === undefined ? undefined : services.nowMs() - command.receivedAtMs;
    const cost = this.#spent().costMicroUsd;
    services.measures?.turnEnded({ outcome, channel, wholeMs, firstWordMs, costMicroUsd: cost });
  }

  /**
   * What the attempt costs; null when it is not charged, or when it failed without a known cost. When an attempt ended well, the cost of a
   * round that was stopped before the upstream could report is guessed.
   */
  charge(endedWell: boolean): Charge | null {
    const { command, modelName } = this.#turn;
    if (command.purpose !== 'person') return null;
    if (endedWell && this.#isAsked) this.#add(this.#guessed());
    const spent = this.#spent();
    if (!endedWell && spent.inputTokens + spent.outputTokens === 0) return null;
    // The one that answered last stands for all in the row; the cost is that of each.
    return { model: [...this.#usage.keys()].at(-1) ?? modelName, ...spent, billed: endedWell };
  }
}
