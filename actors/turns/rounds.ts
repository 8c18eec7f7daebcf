/**
 * The rounds of one turn: what the model is asked, and what its calls become. Owns the words of the turn that are not rows yet (search
 * results, repairs). Decides nothing about states; the machine does.
 */
import { checkParams } from '../../assistant/action-params.ts';
import type { ChatMessage, ModelRequest, Passage, RoundResult, ToolCall } from '../../assistant/models/model.ts';
import { numberStandIn } from '../../assistant/privacy/number-placeholder.ts';
import { modelRequest, systemPrompt } from '../../assistant/prompt.ts';
import { SEARCH_KNOWLEDGE } from '../../assistant/toolset.ts';
import type { Waiting } from '../../machines/chat-turn.ts';
import type { ManifestAction } from '../../protocol/runtime/manifest.ts';
import type { PendingInvocation, StreamEvent } from '../../protocol/runtime/stream-events.ts';
import type { ActionDefinition } from '../../protocol/setup/action-rules.ts';
import { readPersona } from '../../storage/apps/drafts.ts';
import type { NewInvocation } from '../../storage/conversations/invocations.ts';
import { searchKnowledge } from '../../storage/knowledge/knowledge-search.ts';
import { passagesText, queryOf, refusal } from '../calls/call-words.ts';
import type { CallDefinition } from '../calls/card.ts';
import { confirmCardBody } from '../calls/card-body.ts';
import { dispatch } from '../calls/invocation-step.ts';
import type { TurnAnswer } from './answer.ts';
import { keptCall } from './kept-answer.ts';
import { mint, type TurnScope } from './scope.ts';
import type { ServerCalls, ServerRead } from './server-calls.ts';
import type { TurnSpending } from './spending.ts';
import { readTranscript, readWritten } from './transcript.ts';
import { attachedMessage } from './words.ts';

export interface RoundOutcome {
  /** Calls that the server answers itself, so that the model can go on. */
  readonly serverCalls: number;
  readonly waiting: Waiting;
}

/** Passages looked up for a message: enough to answer from, few enough not to drown the question. */
const PASSAGES_PER_SEARCH = 6;
/** What the model said in a round is in memory up to here, and read from rows beyond. Hardly any round that calls something says as much. */
const HELD_CHARS = 2_000;

export class TurnRounds {
  readonly #scope: TurnScope;
  readonly #answer: TurnAnswer;
  readonly #serverCalls: ServerCalls;
  readonly #spending: TurnSpending;
  /** Trusted instructions. */
  readonly #system: string;
  /** Rounds of this turn so far, behind the transcript. */
  readonly #said: ChatMessage[] = [];
  #transcript: ChatMessage[] | null = null;
  #passages: Passage[] | null = null;
  /** What the model said for the person in this round; null once it is too much to hold. */
  #words: string | null = '';
  /** The block of the answer that this round began with. */
  #firstBlock = 0;
  #calls: readonly ToolCall[] = [];
  #answers = new Map<string, () => string>();
  #reads: ServerRead[] = [];
  /** Calls that the client or a person has to answer. */
  #waits: PendingInvocation[] = [];
  #newInvocations: NewInvocation[] = [];
  /** The day's budget is spent, and this round only tells how a write ended: it is offered nothing that leads to another one. */
  #tellsOnly = false;

  constructor(scope: TurnScope, answer: TurnAnswer, serverCalls: ServerCalls, spending: TurnSpending) {
    const { app, body, channel } = scope.command;
    this.#scope = scope;
    this.#answer = answer;
    this.#serverCalls = serverCalls;
    this.#spending = spending;
    this.#system = systemPrompt(app.name, readPersona(scope.db, app, channel), body.client.locale ?? null);
  }

  drawsComponent(name: string): boolean {
    return this.#scope.toolset.components.has(name) && !this.#scope.toolset.actions.has(name);
  }

  heard(delta: string): void {
    this.#words = this.#words === null || this.#words.length + delta.length > HELD_CHARS ? null : this.#words + delta;
    this.#spending.heard(delta.length);
  }

  /** What the next request has to wait for: the meaning of its question. Undefined when it can be made at once. */
  preparation(): Promise<void> | undefined {
    return this.#passages === null ? this.#meaning(this.#question()) : undefined;
  }

  /** Settles when the meaning of `text` is known or will not be; undefined when a search need not wait for it. */
  #meaning(text: string | undefined): Promise<void> | undefined {
    const { hasKnowledge, services } = this.#scope;
    return hasKnowledge && text !== undefined ? services.meanings?.prepare(text) : undefined;
  }

  #search(text: string): Passage[] {
    const { command, db, hasKnowledge, services } = this.#scope;
    const found = hasKnowledge ? searchKnowledge(db, command.app.id, text, PASSAGES_PER_SEARCH, services.meanings?.get(text)) : [];
    if (found.length > 0) command.onPassages?.(found);
    return found;
  }

  #question(): string | undefined {
    this.#transcript ??= this.#readTranscript();
    return this.#transcript.findLast((message) => message.role === 'user')?.content;
  }

  /** The conversation so far, ending with what is to be answered. */
  #readTranscript(): ChatMessage[] {
    const { conversationId, db, isNew, services, words, work } = this.#scope;
    const attached = attachedMessage(words.attachments);
    const { message } = words.body;
    // What was said in a new conversation is what the command says; reading it back would cost more than all the rest.
    if (isNew && message !== undefined) return [...attached, { role: 'user', content: message.text }];
    return readTranscript(db, conversationId, services.nowMs(), attached, work.question);
  }

  /** The next round's request. Passages are looked up once, for the message the turn answers. */
  request(): ModelRequest {
    const { command, toolset, words, work } = this.#scope;
    const { app, deviceId, requestId } = command;
    if (this.#passages === null) {
      const question = this.#question();
      this.#passages = question === undefined ? [] : this.#search(question);
    }
    this.#tellsOnly = work.tellsWrite && this.#said.length === 0 && this.#spending.overBudget() !== null;
    const { definitions } = toolset;
    const request = modelRequest({
      system: this.#system,
      messages: [...(this.#transcript ?? []), ...this.#said],
      passages: this.#passages,
      context: words.body.context,
      traits: words.traits,
      tools: this.#tellsOnly ? definitions.filter(({ kind }) => kind === 'component') : definitions,
      requestId,
      sender: { app: app.id, device: deviceId },
    });
    this.#words = '';
    this.#firstBlock = this.#answer.count;
    this.#spending.asked(request);
    return request;
  }

  /** Counts what a round cost, and answers its calls as they are kept: at once, or once new values are stored. */
  kept(result: RoundResult): readonly ToolCall[] | Promise<readonly ToolCall[]> {
    const argumentChars = result.toolCalls.reduce((sum, call) => sum + call.arguments.length, 0);
    this.#spending.finished(result.usage, argumentChars);
    const { concealment, toolset } = this.#scope;
    const calls = result.toolCalls.map((call) => {
      const action = toolset.actions.get(call.name);
      return action === undefined ? call : keptCall(call, action, concealment);
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
        this.#answers.set(call.id, () => passagesText(this.#search(queryOf(call))));
      else if (!components.includes(call)) this.#answers.set(call.id, () => `There is no tool called ${JSON.stringify(call.name)}.`);
    }
    return { serverCalls: this.#answers.size, waiting: this.#waiting() };
  }

  #waiting(): Waiting {
    const reads = this.#waits.filter(({ risk }) => risk === 'read').length;
    return { reads, confirmations: this.#waits.length - reads };
  }

  #callAction(call: ToolCall, action: ManifestAction): void {
    const { command, concealment, toolset } = this.#scope;
    const checked = checkParams(action.params, call.arguments, (text) => numberStandIn(text, (value) => concealment.restore(value)));
    if (!checked.ok) {
      this.#answers.set(call.id, () => refusal(checked.details));
      return;
    }
    const definition = toolset.httpActions.get(action.name) ?? null;
    command.onAction?.(action.name);
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
    const { command, services, toolset } = this.#scope;
    const { name, risk, timeoutMs } = action;
    const locale = command.body.client.locale ?? null;
    const id = mint(services, 'inv');
    const executor = http === null ? 'client' : 'server';
    const { state, expiresAtMs } = dispatch(risk, executor, timeoutMs, command.app.settings.confirmationTtlS, services.nowMs());
    const drawsCard = risk !== 'read' && toolset.components.has('confirm_card');
    const blockId = drawsCard
      ? this.#answer.place('confirm_card', confirmCardBody(action, { invocationId: id, params, expiresAtMs }, locale))
      : null;
    const definition: CallDefinition = { action, locale, http };
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
    for (const call of this.#calls) {
      if (call.name !== SEARCH_KNOWLEDGE || !this.#answers.has(call.id)) continue;
      const meaning = this.#meaning(queryOf(call));
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
    const content = this.#words ?? readWritten(this.#scope.db, this.#scope.messageId, this.#firstBlock);
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
    return [...this.#scope.work.left, ...this.#waits];
  }

  /** `action.execute` for every read of the client's. */
  executions(): StreamEvent[] {
    return this.#waits
      .filter(({ risk }) => risk === 'read')
      .map(({ invocation_id, name, params, timeout_ms }) => ({ type: 'action.execute', invocation_id, name, params, timeout_ms }));
  }
}
