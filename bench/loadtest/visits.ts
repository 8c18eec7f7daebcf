/** Runs visits of each kind, and keeps the conversations that later visits continue. */
import type { PendingInvocation } from '../../protocol/runtime/stream-events.ts';
import type { Request } from './connections.ts';
import {
  ALL_COMPONENTS,
  type Asker,
  ask,
  FEW_COMPONENTS,
  failureOf,
  headersOf,
  jsonOf,
  mintDevice,
  mintRequestId,
  NoAnswer,
} from './service-api.ts';
import type { VisitKind } from './slo.ts';
import type { Texts } from './texts.ts';
import { type Question, Turn, type TurnContext, type TurnResult } from './turn.ts';

export type App = Omit<Asker, 'device'>;

interface Conversation {
  readonly asker: Asker;
  readonly id: string;
}

const KEPT_MAX = 20_000;
/** A model may call again after a result. */
const ROUNDS_MAX = 4;
/** A re-attach visit cuts its stream after 1 to this many events. */
const CUT_AFTER_MAX_EVENTS = 12;

export interface Beginning {
  readonly kind: VisitKind;
  readonly fromMs: number;
  readonly isRamp: boolean;
}

export class Visits {
  readonly #context: TurnContext;
  readonly #apps: readonly App[];
  readonly #texts: Texts;
  readonly #random: () => number;
  readonly #kept: Conversation[] = [];
  #count = 0;

  constructor(context: TurnContext, apps: readonly App[], texts: Texts, random: () => number = Math.random) {
    this.#context = context;
    this.#apps = apps;
    this.#texts = texts;
    this.#random = random;
  }

  /** Runs one visit. False when it failed. Never throws: the report of all others must not be lost. */
  async play(beginning: Beginning): Promise<boolean> {
    const { tally } = this.#context;
    tally.visitBegan(beginning.kind, Math.max(0, performance.now() - beginning.fromMs));
    try {
      return await this.#do(beginning);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      tally.asideFailed({ code: 'load_tester_fault', message }, 'none', beginning.isRamp);
      return false;
    } finally {
      tally.visitEnded(beginning.kind);
    }
  }

  #do(beginning: Beginning): Promise<boolean> {
    switch (beginning.kind) {
      case 'read':
      case 'confirm':
        return this.#called(beginning);
      case 'history':
        return this.#history(beginning);
      default:
        return this.#message(beginning);
    }
  }

  #newAsker(): Asker {
    const app = this.#apps[this.#count++ % this.#apps.length] as App;
    return { ...app, device: mintDevice() };
  }

  /** Takes the conversation that was idle longest. It is put back after the visit. */
  #take(): Conversation | undefined {
    return this.#kept.shift();
  }

  #keep(asker: Asker, { conversationId, isWhole }: Pick<TurnResult, 'conversationId' | 'isWhole'>): void {
    if (isWhole && conversationId !== undefined && this.#kept.length < KEPT_MAX) this.#kept.push({ asker, id: conversationId });
  }

  #question({ kind, fromMs, isRamp }: Beginning, known: Conversation | undefined): Question {
    return {
      kind,
      asker: known?.asker ?? this.#newAsker(),
      conversationId: known?.id,
      components: kind === 'components' ? ALL_COMPONENTS : FEW_COMPONENTS,
      say: { message: { text: this.#texts.pick(kind) } },
      fromMs,
      isRamp,
    };
  }

  async #message(beginning: Beginning): Promise<boolean> {
    const question = this.#question(beginning, beginning.kind === 'continue' ? this.#take() : undefined);
    const cut = beginning.kind === 'reattach' ? { cutAfter: 1 + Math.floor(this.#random() * CUT_AFTER_MAX_EVENTS) } : {};
    const result = await new Turn(this.#context, { ...question, ...cut }).play();
    this.#keep(question.asker, result);
    return result.isWhole;
  }

  /** A message that leads to a call: sends the result, and reads the continuation. */
  async #called(beginning: Beginning): Promise<boolean> {
    const question = this.#question(beginning, undefined);
    let result = await new Turn(this.#context, question).play();
    let hasAnswered = false;
    for (let round = 1; round < ROUNDS_MAX && result.isWhole && result.pending.length > 0; round++) {
      const results = await this.#answers(beginning, question.asker, result.pending);
      if (results === undefined) return false;
      if (results.length === 0) break;
      hasAnswered = true;
      const next = { ...question, conversationId: result.conversationId, say: { tool_results: results }, fromMs: performance.now() };
      result = await new Turn(this.#context, next).play();
    }
    if (!hasAnswered && result.isWhole) this.#context.tally.calledNoAction(beginning.kind);
    if (result.pending.length === 0) this.#keep(question.asker, result);
    return result.isWhole;
  }

  /** Results of the pending calls; undefined when a confirmation failed. */
  async #answers(beginning: Beginning, asker: Asker, pending: readonly PendingInvocation[]): Promise<readonly object[] | undefined> {
    const results: object[] = [];
    for (const { invocation_id, params, risk, executor } of pending) {
      const result = { ...params, status: 'shipped', eta: 'tomorrow' };
      if (risk === 'read') {
        if (executor === 'client') results.push({ invocation_id, status: 'ok', result });
      } else if (beginning.kind === 'confirm') {
        if (!(await this.#confirm(beginning, asker, invocation_id))) return undefined;
        results.push({ invocation_id, status: 'ok', confirmed: true, ...(executor === 'client' ? { result: { done: true } } : {}) });
      } else results.push({ invocation_id, status: 'declined' });
    }
    return results;
  }

  async #confirm({ isRamp }: Beginning, asker: Asker, invocationId: string): Promise<boolean> {
    const path = `/v1/invocations/${encodeURIComponent(invocationId)}/confirm`;
    const answer = await this.#ask(asker, isRamp, { method: 'POST', path, body: JSON.stringify({ decision: 'confirm' }) });
    if (answer === undefined) return false;
    const { status } = answer.json;
    if (status === 'confirmed') return true;
    const told = typeof status === 'string' ? status : 'of no status';
    this.#context.tally.asideFailed({ code: 'not_confirmed', message: `a card that was just shown is ${told}` }, answer.requestId, isRamp);
    return false;
  }

  async #history(beginning: Beginning): Promise<boolean> {
    const known = this.#take();
    // There is no conversation yet.
    if (known === undefined) return this.#message(beginning);
    const { isRamp } = beginning;
    const answer = await this.#ask(known.asker, isRamp, {
      method: 'GET',
      path: `/v1/conversations/${encodeURIComponent(known.id)}/messages`,
    });
    this.#keep(known.asker, { conversationId: known.id, isWhole: true });
    if (answer === undefined) return false;
    this.#context.tally.historyRead(performance.now() - beginning.fromMs, isRamp);
    const { messages } = answer.json;
    // A whole turn was read before: a message and its answer.
    if (Array.isArray(messages) && messages.length >= 2) return true;
    const message = `a conversation in which a turn was whole has ${Array.isArray(messages) ? messages.length : 'no'} messages`;
    this.#context.tally.asideFailed({ code: 'history_lost', message }, answer.requestId, isRamp);
    return false;
  }

  /** Sends a request that is no turn; undefined when it failed, which is counted. */
  async #ask(
    asker: Asker,
    isRamp: boolean,
    what: Omit<Request, 'headers'>,
  ): Promise<{ json: Readonly<Record<string, unknown>>; requestId: string } | undefined> {
    const { connections, silence, tally } = this.#context;
    const requestId = mintRequestId();
    tally.requests += 1;
    const request = { ...what, headers: headersOf(asker, requestId) };
    try {
      const answer = await ask(connections, request, silence.watch);
      if (answer.status === 200) return { json: jsonOf(answer), requestId };
      tally.asideFailed(failureOf(answer), requestId, isRamp);
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      tally.asideFailed(error.failure, requestId, isRamp);
    }
    return undefined;
  }
}
