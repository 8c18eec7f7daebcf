/**
 * What the model's calls become: blocks, rows of invocations that wait for the client or a person, reads and searches that the service
 * answers itself. Decides nothing about the turn's state; the machine does.
 */
import { checkParams } from '../../assistant/action-params.ts';
import { passageWords } from '../../assistant/fence.ts';
import type { Told } from '../../assistant/fetched-addresses.ts';
import type { Passage, ToolCall } from '../../assistant/models/model.ts';
import { numberStandIn } from '../../assistant/privacy/number-placeholder.ts';
import type { Waiting } from '../../machines/chat-turn.ts';
import { SEARCH_KNOWLEDGE } from '../../protocol/catalog/catalog.ts';
import { KNOWLEDGE_QUERIES_MAX, KNOWLEDGE_QUERIES_PER_ROUND_MAX } from '../../protocol/limits.ts';
import type { ManifestAction } from '../../protocol/runtime/manifest.ts';
import type { PendingInvocation, StreamEvent } from '../../protocol/runtime/stream-events.ts';
import type { Detail } from '../../protocol/schema/issues.ts';
import type { ActionDefinition } from '../../protocol/setup/action-rules.ts';
import type { NewInvocation } from '../../storage/conversations/invocations.ts';
import type { CallDefinition } from '../calls/call-definition.ts';
import { confirmCardBody } from '../calls/card-body.ts';
import { dispatch } from '../calls/invocation-step.ts';
import { isAskedAlready } from '../calls/pending-invocation.ts';
import { PASSAGES_PER_SEARCH } from '../knowledge/explained-search.ts';
import type { TurnAnswer } from './answer.ts';
import { mint, type TurnFacts } from './facts.ts';
import { keptCall } from './kept-answer.ts';
import { prepareSearch, searchPassages } from './passages.ts';
import type { ServerCalls, ServerRead } from './server-calls.ts';
import { waitsForPerson } from './transcript.ts';

/** What the calls of a round have to know of its request. */
export interface AskedWith {
  /** Only components were offered. */
  readonly tellsOnly: boolean;
  told(): Told;
}

export interface SortedCalls {
  /** Calls that the server answers itself, so that the model can go on. */
  readonly serverCalls: number;
  readonly waiting: Waiting;
}

/** What a call of the knowledge search looks for, the first few of more; `query` as models write it that were told of one. */
function queriesOf(call: ToolCall): readonly string[] {
  try {
    const { queries, query } = JSON.parse(call.arguments) as { readonly queries?: unknown; readonly query?: unknown };
    const given: readonly unknown[] = [...(Array.isArray(queries) ? queries : [queries]), query];
    return [...new Set(given)]
      .filter((each): each is string => typeof each === 'string' && each.trim() !== '')
      .slice(0, KNOWLEDGE_QUERIES_MAX);
  } catch {
    return [];
  }
}

/** What the queries find, the best of each first, and each passage once. */
function found(searches: readonly (readonly Passage[])[]): Passage[] {
  const passages = new Map<string, Passage>();
  for (let rank = 0; rank < PASSAGES_PER_SEARCH; rank++)
    for (const search of searches) {
      const passage = search[rank];
      if (passage !== undefined && passages.size < PASSAGES_PER_SEARCH) passages.set(`${passage.sourceId} ${passage.text}`, passage);
    }
  return [...passages.values()];
}

/** What was wrong, each thing once, and what to do. */
function refusal({ name }: ToolCall, details: readonly Detail[], done: string, whole: string): string {
  const faults = details.map(({ path, message }) => `${path === '' ? 'it' : path} ${message}`).join('; ');
  return `${done}. Fix this and call ${name} once more with ${whole}: ${faults}.`;
}

function passagesText(passages: readonly Passage[], languages: readonly string[]): string {
  const nothing =
    `Nothing was found with these words. ${languages.length === 0 ? '' : `The knowledge seems to be written in ${languages.join(', ')}.`}`.trim();
  return passages.length === 0 ? nothing : passages.map(passageWords).join('\n\n');
}

export class ToolCalls {
  readonly #turn: TurnFacts;
  readonly #answer: TurnAnswer;
  readonly #serverCalls: ServerCalls;
  #calls: readonly ToolCall[] = [];
  /** What the model is told about calls of this round, by call id. */
  #answers = new Map<string, () => string>();
  /** What this round searches for. */
  #queries: readonly string[] = [];
  #reads: ServerRead[] = [];
  /** Calls that the client or a person has to answer. */
  #waits: PendingInvocation[] = [];
  #newInvocations: NewInvocation[] = [];

  constructor(turn: TurnFacts, answer: TurnAnswer, serverCalls: ServerCalls) {
    this.#turn = turn;
    this.#answer = answer;
    this.#serverCalls = serverCalls;
  }

  drawsComponent(name: string): boolean {
    return this.#turn.toolset.components.has(name);
  }

  /** The calls in placeholder form: at once, or once new values are stored. */
  kept(made: readonly ToolCall[]): readonly ToolCall[] | Promise<readonly ToolCall[]> {
    const { redaction, toolset } = this.#turn;
    const calls = made.map((call) => {
      const action = toolset.actions.get(call.name);
      return action === undefined ? call : keptCall(call, action, redaction);
    });
    return calls.some((call) => call instanceof Promise) ? Promise.all(calls) : (calls as ToolCall[]);
  }

  /** Sorts a round's calls: blocks are completed, actions wait, and the rest is the server's to answer. `requests`: what the round was asked with. */
  sort(calls: readonly ToolCall[], requests: AskedWith): SortedCalls {
    this.#calls = calls;
    if (this.#answers.size > 0) this.#answers = new Map();
    this.#reads = [];
    this.#queries = [];
    const { toolset } = this.#turn;
    const components = calls.filter((call) => this.drawsComponent(call.name));
    for (const { call, details } of this.#answer.finishRound(components, requests))
      this.#answers.set(call.id, () => refusal(call, details, 'Not shown', 'the whole body'));
    for (const call of calls) {
      const action = requests.tellsOnly ? undefined : toolset.actions.get(call.name);
      if (action !== undefined) this.#callAction(call, action);
      else if (call.name === SEARCH_KNOWLEDGE && !requests.tellsOnly) this.#answers.set(call.id, this.#searching(queriesOf(call)));
      else if (!components.includes(call)) this.#answers.set(call.id, () => `There is no tool called ${JSON.stringify(call.name)}.`);
    }
    const reads = this.#waits.filter(({ risk }) => risk === 'read').length;
    return { serverCalls: this.#answers.size, waiting: { reads, confirmations: this.#waits.length - reads } };
  }

  /** What a search answers, once it is asked. */
  #searching(queries: readonly string[]): () => string {
    const all = new Set([...this.#queries, ...queries]);
    if (all.size > KNOWLEDGE_QUERIES_PER_ROUND_MAX)
      return () => `Not searched: at most ${KNOWLEDGE_QUERIES_PER_ROUND_MAX} queries at a time. Call ${SEARCH_KNOWLEDGE} again with these.`;
    this.#queries = [...all];
    return () => passagesText(found(queries.map((query) => searchPassages(this.#turn, query))), this.#turn.toolset.languages);
  }

  #callAction(call: ToolCall, action: ManifestAction): void {
    const { command, conversationId, db, redaction, services, toolset } = this.#turn;
    const check = checkParams(action.params, call.arguments, (text) => numberStandIn(text, (value) => redaction.restore(value)));
    if (!check.ok) {
      this.#answers.set(call.id, () => refusal(call, check.details, 'Not called', 'all parameters'));
      return;
    }
    const definition = toolset.httpActions.get(action.name) ?? null;
    const asked = { action, http: definition, params: check.params };
    if (
      action.risk !== 'read' &&
      isAskedAlready({ db, conversationId, caller: command.caller, nowMs: services.nowMs() }, asked, this.#newInvocations)
    ) {
      this.#answers.set(call.id, () => waitsForPerson(action.name));
      return;
    }
    command.listen?.action(action.name);
    if (definition !== null && action.risk === 'read') {
      this.#reads.push({ call, action, definition, params: check.params });
      // The answer takes its place once the app's server has given it.
      this.#answers.set(call.id, () => `${action.name} has not answered.`);
      return;
    }
    this.#await(call, action, definition, check.params);
  }

  /** A call that the client answers, or that a person decides on before the client or the service runs it. */
  #await(call: ToolCall, action: ManifestAction, http: ActionDefinition | null, params: Readonly<Record<string, unknown>>): void {
    const { command, services, toolset } = this.#turn;
    const { name, risk, timeoutMs } = action;
    const locale = command.body.client.locale ?? null;
    const id = mint(services, 'inv');
    const executor = http === null ? 'client' : 'server';
    const { state, expiresAtMs, trace } = dispatch(
      risk,
      executor,
      timeoutMs,
      command.caller.app.settings.confirmationTtlS,
      services.nowMs(),
    );
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
      trace,
    });
  }

  /** What answers have to wait for: writes to run, reads, the meanings of searches. Undefined when the calls can be answered at once. */
  preparation(): Promise<unknown> | undefined {
    if (this.#serverCalls.hasWrites) return this.#serverCalls.runWrites();
    const waits: Promise<unknown>[] = this.#reads.map((read) => this.#read(read));
    const meanings = this.#queries.length === 0 ? undefined : prepareSearch(this.#turn, ...this.#queries);
    if (meanings !== undefined) waits.push(meanings);
    return waits.length === 0 ? undefined : Promise.all(waits);
  }

  async #read(read: ServerRead): Promise<void> {
    const { row, answer } = await this.#serverCalls.read(read);
    this.#newInvocations.push(row);
    this.#answers.set(read.call.id, () => answer);
  }

  /** Calls of this round; none while writes run that a continuation handed over: these are rows, and the transcript tells of them. */
  get ofRound(): readonly ToolCall[] {
    return this.#calls;
  }

  answerOf(call: ToolCall): string {
    return this.#answers.get(call.id)?.() ?? 'Shown to the person.';
  }

  /** Calls that are not rows yet; the commit that is being made writes them. */
  takeNewInvocations(): readonly NewInvocation[] {
    const rows = this.#newInvocations;
    this.#newInvocations = [];
    return rows;
  }

  /** Calls that wait for the client or a person, those of earlier turns included. */
  pending(): readonly PendingInvocation[] {
    return [...this.#turn.work.left, ...this.#waits];
  }

  /** `action.execute` for every read of the client's. */
  executions(): StreamEvent[] {
    return this.#waits
      .filter(({ risk }) => risk === 'read')
      .map(({ invocation_id, name, params, timeout_ms }) => ({ type: 'action.execute', invocation_id, name, params, timeout_ms }));
  }
}
