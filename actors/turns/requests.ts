/**
 * What the model is asked, round after round of one turn. Owns the words of the turn that are not rows yet: what the model said in
 * earlier rounds, and what its calls were answered.
 */
import type { Told } from '../../assistant/fetched-addresses.ts';
import { appended } from '../../assistant/growing-text.ts';
import type { ChatMessage, ModelRequest, Passage } from '../../assistant/models/model.ts';
import { nowLine } from '../../assistant/now.ts';
import { modelRequest, systemPrompt } from '../../assistant/prompt.ts';
import { readPersona } from '../../storage/apps/drafts.ts';
import type { Channel } from '../../storage/organisations/organisations.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { TurnFacts } from './facts.ts';
import { prepareSearch, searchPassages } from './passages.ts';
import type { TurnSpending } from './spending.ts';
import type { ToolCalls } from './tool-calls.ts';
import { readTranscript, readWritten, saidWith, type Transcript } from './transcript.ts';
import { attachedMessage } from './words.ts';

type ReadApp = Parameters<typeof readPersona>[1] & { readonly name: string };

/** The trusted instructions of a turn on this channel, for a device that names no language. Drafts count for the sandbox, what was published for live keys. */
export function instructionsOf(db: Connection, app: ReadApp, channel: Channel): string {
  return systemPrompt(app.name, readPersona(db, app, channel), null);
}

/** Text of a round up to this length is kept in memory; longer text is read from rows. Rounds that call something rarely say as much. */
const HELD_CHARS = 2_000;

export class TurnRequests {
  readonly #turn: TurnFacts;
  readonly #said: ChatMessage[] = [];
  /** Read for the first round: writes that a person confirmed come before it. */
  #transcript: Transcript | null = null;
  /** Looked up once, for the message that the turn answers. */
  #passages: readonly Passage[] | null = null;
  /** What the model said for the person in this round; null once it is too much to hold. */
  #words: string | null = '';
  #firstBlock = 0;
  #tellsOnly = false;
  #startedMs: number | undefined;

  constructor(turn: TurnFacts) {
    this.#turn = turn;
  }

  /** The day's budget is spent, and this round only tells how a write ended: it is offered nothing that leads to another one. */
  get tellsOnly(): boolean {
    return this.#tellsOnly;
  }

  /** Text of the model's answer to the last request. */
  heard(delta: string): void {
    this.#words = this.#words === null || this.#words.length + delta.length > HELD_CHARS ? null : appended(this.#words, delta);
  }

  /** What the next request has to wait for: the meaning of its question. Undefined when it can be made at once. */
  preparation(): Promise<unknown> | undefined {
    const question = this.#passages === null ? this.#question() : undefined;
    return question === undefined ? undefined : prepareSearch(this.#turn, question);
  }

  #question(): string | undefined {
    this.#transcript ??= this.#readTranscript();
    if (this.#transcript.isLate) return undefined;
    const said = this.#transcript.messages.findLast((message) => message.role === 'user')?.content;
    // A picture or a document alone asks nothing that could be looked up.
    return said === attachedMessage(this.#turn.attachments)[0]?.content ? undefined : said;
  }

  /** The same in all rounds of the turn. */
  #now(): string {
    const { command, services } = this.#turn;
    this.#startedMs ??= command.receivedAtMs ?? services.nowMs();
    return nowLine(this.#startedMs, [command.body.client.time_zone, command.caller.app.settings.timeZone]);
  }

  /** The conversation so far, ending with what is to be answered. */
  #readTranscript(): Transcript {
    const { attachments, command, conversationId, db, isNew, mayHaveCalls, opened, services, unstored, work } = this.#turn;
    const attached = attachedMessage(attachments);
    const { message } = command.body;
    // In a new conversation the command holds all that was said. Reading it back would cost more than everything else here.
    if (isNew && message !== undefined) return { messages: saidWith(attached, message.text), fromQuestion: 0, isLate: false };
    const told = command.body.tool_results?.map(({ invocation_id }) => invocation_id);
    const { recent } = services.storage;
    const asked = { attached, question: work.question, unstored, recent, mayHaveCalls, turn: opened?.turn, told };
    return readTranscript(db, conversationId, services.nowMs(), asked);
  }

  /** The next round's request. `firstBlock`: the block of the answer that the round begins with. */
  next(firstBlock: number, spending: TurnSpending): ModelRequest {
    const { command, persona, toolset, traits, work } = this.#turn;
    const { body, caller, requestId } = command;
    if (this.#passages === null) {
      const question = this.#question();
      this.#passages = question === undefined ? [] : searchPassages(this.#turn, question);
    }
    this.#tellsOnly = work.tellsWrite && this.#said.length === 0 && spending.overBudget() !== null;
    const { definitions } = toolset;
    const request = modelRequest({
      system: systemPrompt(caller.app.name, persona, body.client.locale ?? null),
      messages: [...(this.#transcript?.messages ?? []), ...this.#said],
      now: this.#now(),
      passages: this.#passages,
      context: body.context,
      traits,
      tools: this.#tellsOnly ? definitions.filter(({ kind }) => kind === 'component') : definitions,
      requestId,
      sender: { app: caller.app.id, device: caller.deviceId },
    });
    this.#words = '';
    this.#firstBlock = firstBlock;
    return persona.model === null ? request : { ...request, choice: persona.model };
  }

  /** Keeps the round for the next request: what the model said and called, and what it is told about each call. */
  remember(calls: ToolCalls): void {
    const content = this.#words ?? readWritten(this.#turn.db, this.#turn.messageId, this.#firstBlock);
    this.#said.push({ role: 'assistant', content, toolCalls: calls.ofRound });
    for (const call of calls.ofRound)
      this.#said.push({ role: 'tool', toolCallId: call.id, name: call.name, content: calls.answerOf(call) });
  }

  /** What the round that is under way was told: what an answer shows that is fetched by itself has to stand in it. */
  told(): Told {
    const { actions, routes } = this.#turn.toolset;
    const { messages = [], fromQuestion = 0 } = this.#transcript ?? {};
    return {
      messages: [...messages, ...this.#said],
      fromQuestion,
      passages: this.#passages ?? [],
      configuration: JSON.stringify([this.#turn.persona, ...actions.values(), ...routes.values()]),
    };
  }
}
