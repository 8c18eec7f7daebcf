/**
 * The rounds of one turn: what the model is asked, what its calls become, and what they cost. Owns the words of the
 * turn that are not rows yet (search results, repairs). Decides nothing about states; the machine does.
 */
import { checkParams } from '../../assistant/action-params.ts';
import type { ChatMessage, ModelFailure, ModelRequest, Passage, RoundResult, ToolCall, Usage } from '../../assistant/models/model.ts';
import { costMicroUsd } from '../../assistant/prices.ts';
import { numberStandIn } from '../../assistant/privacy/number-placeholder.ts';
import { modelRequest } from '../../assistant/prompt.ts';
import { charsOf } from '../../assistant/request-size.ts';
import { SEARCH_KNOWLEDGE } from '../../assistant/toolset.ts';
import type { TurnFailure, Waiting } from '../../machines/chat-turn.ts';
import type { ManifestAction } from '../../protocol/runtime/manifest.ts';
import type { PendingInvocation, StreamEvent } from '../../protocol/runtime/stream-events.ts';
import type { ActionDefinition } from '../../protocol/setup/action-rules.ts';
import type { Charge } from '../../storage/billing/usage-ledger.ts';
import type { NewInvocation } from '../../storage/conversations/invocations.ts';
import { passagesText, queryOf, refusal } from '../calls/call-words.ts';
import type { CallDefinition } from '../calls/card.ts';
import { confirmCardBody } from '../calls/card-body.ts';
import { dispatch } from '../calls/invocation-step.ts';
import type { TurnAnswer } from './answer.ts';
import { keptCall } from './kept-answer.ts';
import { RoundWords } from './round-words.ts';
import type { TurnScope } from './scope.ts';
import type { ServerCalls, ServerRead } from './server-calls.ts';

export interface RoundOutcome {
  /** Calls that the server answers itself, so that the model can go on. */
  readonly serverCalls: number;
  readonly waiting: Waiting;
}

/** OpenAI's rule of thumb for English: what an upstream that reports no usage is charged by. */
const CHARS_PER_TOKEN = 4;

export class TurnRounds {
  readonly #scope: TurnScope;
  readonly #answer: TurnAnswer;
  readonly #serverCalls: ServerCalls;
  /** Rounds of this turn so far, behind the transcript. */
  readonly #said: ChatMessage[] = [];
  #transcript: ChatMessage[] | null = null;
  #passages: Passage[] | null = null;
  readonly #words = new RoundWords();
  #calls: readonly ToolCall[] = [];
  #answers = new Map<string, () => string>();
  #reads: ServerRead[] = [];
  /** Calls that the client or a person has to answer. */
  #waits: PendingInvocation[] = [];
  #newInvocations: NewInvocation[] = [];
  #usage: Usage = { inputTokens: 0, outputTokens: 0 };
  #askedChars = 0;
  /** A round was asked that has not reported its usage. */
  #isAsked = false;
  /** The day's budget is spent, and this round only tells how a write ended: it is offered nothing that leads to another one. */
  #tellsOnly = false;
  /** Written in a round that has not reported its usage. */
  #unreportedChars = 0;

  constructor(scope: TurnScope, answer: TurnAnswer, serverCalls: ServerCalls) {
    this.#scope = scope;
    this.#answer = answer;
    this.#serverCalls = serverCalls;
  }

  drawsComponent(name: string): boolean {
    return this.#scope.toolset.components.has(name) && !this.#scope.toolset.actions.has(name);
  }

  heard(delta: string): void {
    this.#words.heard(delta);
    this.#unreportedChars += delta.length;
  }

  /** What the next request has to wait for: the meaning of its question. Undefined when it can be made at once. */
  preparation(): Promise<void> | undefined {
    if (this.#scope.prepareSearch === undefined || this.#passages !== null) return undefined;
    const question = this.#question();
    return question === undefined ? undefined : this.#scope.prepareSearch(question);
  }

  #question(): string | undefined {
    this.#transcript ??= this.#scope.transcript();
    return this.#transcript.findLast((message) => message.role === 'user')?.content;
  }

  /** The next round's request. Passages are looked up once, for the message the turn answers. */
  request(): ModelRequest {
    const scope = this.#scope;
    if (this.#passages === null) {
      const question = this.#question();
      this.#passages = question === undefined ? [] : scope.search(question);
    }
    this.#tellsOnly = scope.tellsWrite && this.#said.length === 0 && this.overBudget() !== null;
    const { definitions } = scope.toolset;
    const request = modelRequest({
      system: scope.system,
      messages: [...(this.#transcript ?? []), ...this.#said],
      passages: this.#passages,
      context: scope.context,
      traits: scope.traits,
      tools: this.#tellsOnly ? definitions.filter(({ kind }) => kind === 'component') : definitions,
      requestId: scope.requestId,
      sender: scope.sender,
    });
    this.#words.begin(this.#answer.count);
    this.#askedChars = charsOf(request);
    this.#isAsked = true;
    return request;
  }

  /** Counts what a round cost, and answers its calls as they are kept: at once, or once new values are stored. */
  kept(result: RoundResult): readonly ToolCall[] | Promise<readonly ToolCall[]> {
    this.#add(result.usage ?? this.#guessed(result.toolCalls.reduce((sum, call) => sum + call.arguments.length, 0)));
    const { concealOwn, toolset } = this.#scope;
    const calls = result.toolCalls.map((call) => {
      const action = toolset.actions.get(call.name);
      return action === undefined ? call : keptCall(call, action, concealOwn);
    });
    return calls.some((call) => call instanceof Promise) ? Promise.all(calls) : (calls as ToolCall[]);
  }

  /** Sorts a round's calls: blocks are completed, actions wait, and the rest is the server's to answer. */
  finish(calls: readonly ToolCall[]): RoundOutcome {
    this.#calls = calls;
    this.#answers = new Map();
    this.#reads = [];
    const { toolset } = this.#scope;
    const components = calls.filter((call) => this.drawsComponent(call.name));
    for (const { call, details } of this.#answer.finishRound(components)) this.#answers.set(call.id, () => refusal(details));
    for (const call of calls) {
      const action = this.#tellsOnly ? undefined : toolset.actions.get(call.name);
      if (action !== undefined) this.#callAction(call, action);
      else if (call.name === SEARCH_KNOWLEDGE && !this.#tellsOnly)
        this.#answers.set(call.id, () => passagesText(this.#scope.search(queryOf(call))));
      else if (!components.includes(call)) this.#answers.set(call.id, () => `There is no tool called ${JSON.stringify(call.name)}.`);
    }
    return { serverCalls: this.#answers.size, waiting: this.#waiting() };
  }

  /** What the round cost where the upstream does not say: by the length of what it was asked and wrote. */
  #guessed(argumentChars = 0): Usage {
    return {
      inputTokens: Math.ceil(this.#askedChars / CHARS_PER_TOKEN),
      outputTokens: Math.ceil((this.#unreportedChars + argumentChars) / CHARS_PER_TOKEN),
    };
  }

  #add(usage: Usage): void {
    this.#unreportedChars = 0;
    this.#isAsked = false;
    this.#usage = {
      inputTokens: this.#usage.inputTokens + usage.inputTokens,
      outputTokens: this.#usage.outputTokens + usage.outputTokens,
    };
  }

  /** A round failed: what the upstream reported of it was spent. Of one that broke off in its answer, or never gave one, that is guessed. */
  failed({ kind, usage, argumentChars }: ModelFailure): void {
    if (usage !== undefined) this.#add(usage);
    else if (kind === 'silent' || argumentChars !== undefined) this.#add(this.#guessed(argumentChars));
  }

  /** What the turn ends with when the day's budget is spent; null while another round may be asked. */
  overBudget(): TurnFailure | null {
    const { model, prices, overBudget } = this.#scope;
    return overBudget(costMicroUsd(prices, model.name, this.#usage));
  }

  #waiting(): Waiting {
    const reads = this.#waits.filter(({ risk }) => risk === 'read').length;
    return { reads, confirmations: this.#waits.length - reads };
  }

  #callAction(call: ToolCall, action: ManifestAction): void {
    const { restore } = this.#scope;
    const checked = checkParams(action.params, call.arguments, (text) => numberStandIn(text, restore));
    if (!checked.ok) {
      this.#answers.set(call.id, () => refusal(checked.details));
      return;
    }
    const definition = this.#scope.toolset.httpActions.get(action.name) ?? null;
    this.#scope.onAction(action.name);
    if (definition !== null && action.risk === 'read') {
      this.#reads.push({ call, action, definition, params: checked.params });
      // The answer takes its place once the app's server has given it.
      this.#answers.set(call.id, () => `${action.name} has not answered.`);
      return;
    }
    this.#await(call, action, definition, checked.params);
  }

  /** A call that somebody else answers: the client, or a person before the client or the service runs it. */
  #await(call: ToolCall, action: ManifestAction, http: ActionDefinition | null, params: Readonly<Record<string, unknown>>): void {
    const scope = this.#scope;
    const { name, risk, timeoutMs } = action;
    const id = scope.mint('inv');
    const executor = http === null ? 'client' : 'server';
    const { state, expiresAtMs } = dispatch(risk, executor, timeoutMs, scope.app.settings.confirmationTtlS, scope.nowMs());
    const drawsCard = risk !== 'read' && scope.toolset.components.has('confirm_card');
    const blockId = drawsCard
      ? this.#answer.place('confirm_card', confirmCardBody(action, { invocationId: id, params, expiresAtMs }, scope.locale))
      : null;
    const definition: CallDefinition = { action, locale: scope.locale, http };
    this.#waits.push({
      invocation_id: id,
      name,
      params,
      risk,
      timeout_ms: timeoutMs,
      executor,
      ...(blockId === null ? {} : { block_id: blockId }),
    });
    this.#newInvocations.push({
      id,
      callId: call.id,
      name,
      params: JSON.stringify(params),
      risk,
      executor,
      timeoutMs,
      state,
      blockId,
      expiresAtMs,
      definition: risk === 'read' ? null : JSON.stringify(definition),
    });
  }

  /** What runCalls has to wait for: writes to run, reads, the meanings of searches. Undefined when the calls can be answered at once. */
  callsPreparation(): Promise<unknown> | undefined {
    if (this.#serverCalls.hasWrites) return this.#serverCalls.runWrites();
    const waits: Promise<unknown>[] = this.#reads.map((read) => this.#read(read));
    const { prepareSearch } = this.#scope;
    for (const call of this.#calls) {
      if (call.name !== SEARCH_KNOWLEDGE || !this.#answers.has(call.id)) continue;
      const meaning = prepareSearch?.(queryOf(call));
      if (meaning !== undefined) waits.push(meaning);
    }
    return waits.length === 0 ? undefined : Promise.all(waits);
  }

  async #read(read: ServerRead): Promise<void> {
    const { row, told } = await this.#serverCalls.read(read);
    this.#newInvocations.push(row);
    this.#answers.set(read.call.id, () => told);
  }

  /** Answers the server's own calls and remembers the round, so that the model can be asked again. */
  runCalls(): void {
    // Confirmed writes that a continuation handed over are rows: the transcript tells of them.
    if (this.#calls.length === 0) return;
    const content = this.#words.all((fromBlock) => this.#scope.written(fromBlock));
    this.#said.push({ role: 'assistant', content, toolCalls: this.#calls });
    for (const call of this.#calls) {
      const answer = this.#answers.get(call.id);
      this.#said.push({
        role: 'tool',
        toolCallId: call.id,
        name: call.name,
        content: answer === undefined ? 'Shown to the person.' : answer(),
      });
    }
  }

  /** Calls that are not rows yet; the commit that is being made writes them. */
  takeNewInvocations(): readonly NewInvocation[] {
    const rows = this.#newInvocations;
    this.#newInvocations = [];
    return rows;
  }

  pending(): readonly PendingInvocation[] {
    return [...this.#scope.left, ...this.#waits];
  }

  /** `action.execute` for every read of the client's. */
  executions(): StreamEvent[] {
    return this.#waits
      .filter(({ risk }) => risk === 'read')
      .map(({ invocation_id, name, params, timeout_ms }) => ({ type: 'action.execute', invocation_id, name, params, timeout_ms }));
  }

  /**
   * What the attempt costs, null when nobody is charged for it, or it failed and cost nothing that is known. Of one that ended well, a
   * round that was stopped before the upstream could report is guessed.
   */
  charge(endedWell: boolean): Charge | null {
    const { model, prices, isCharged } = this.#scope;
    if (!isCharged) return null;
    if (endedWell && this.#isAsked) this.#add(this.#guessed());
    const usage = this.#usage;
    if (!endedWell && usage.inputTokens + usage.outputTokens === 0) return null;
    return { model: model.name, ...usage, costMicroUsd: costMicroUsd(prices, model.name, usage), billed: endedWell };
  }
}
