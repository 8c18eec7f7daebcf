/** What the rest of the service asks of a language model: one streamed round, delivered through callbacks. */
import type { ModelChoice } from '../../protocol/setup/model-choice.ts';
import type { Sender } from './stream/sending-budget.ts';

/** One passage of the app's knowledge that may answer the message, best first. Untrusted data. */
export interface Passage {
  readonly sourceId: string;
  readonly externalKey: string;
  readonly title: string;
  readonly headings: readonly string[];
  readonly text: string;
  /** Relevance, larger is better; comparable within one search only. */
  readonly score: number;
}

/** A call the model made, with the JSON text of its arguments as it wrote them. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** A picture that goes with a message. Untrusted data, which stays on the disk until it is sent. */
export interface ImagePart {
  readonly mediaType: string;
  readonly bytes: number;
  /** The picture from its beginning; may be asked for again. @throws Error when it is gone or cannot be read. */
  pieces(): AsyncIterable<Uint8Array>;
}

export type ChatMessage =
  | { readonly role: 'user'; readonly content: string; readonly images?: readonly ImagePart[] }
  | { readonly role: 'assistant'; readonly content: string; readonly toolCalls?: readonly ToolCall[] }
  | { readonly role: 'tool'; readonly toolCallId: string; readonly name: string; readonly content: string };

export interface ToolDefinition {
  readonly kind: 'component' | 'action' | 'knowledge';
  readonly name: string;
  readonly description: string;
  /** JSON Schema, `type: object` at the top. */
  readonly parameters: Record<string, unknown>;
}

export interface ModelRequest {
  /** Trusted instructions: persona, guardrails, rules of the house. */
  readonly system: string;
  /** Oldest first; ends with the message (or tool results) to answer. */
  readonly messages: readonly ChatMessage[];
  /** The day, the time and the zone; '' tells none. It changes with each turn, so a wire writes it behind all that stays. */
  readonly now: string;
  /** Passages found for the message; already fenced in by whoever renders them for a remote model. */
  readonly passages: readonly Passage[];
  readonly tools: readonly ToolDefinition[];
  readonly requestId: string;
  /** For whom it is asked: pictures wait until their share of what is sent at once has room. */
  readonly sender: Sender;
  /** Which models the app is to be answered by, and how they are asked; absent: it leaves that to the installation. */
  readonly choice?: ModelChoice;
}

export interface Usage {
  /** All that was read, from a prompt cache or not. */
  readonly inputTokens: number;
  /** All that was written, reasoning that nobody sees included. */
  readonly outputTokens: number;
  /** How many of the input came from the upstream's prompt cache; absent: none, or it does not say. */
  readonly cachedTokens?: number;
  /** How many of the output were reasoning; absent: none, or it does not say. */
  readonly reasoningTokens?: number;
}

export interface RoundResult {
  /** `length`: the upstream's own bound on an answer, or on what it may read, cut it off. `filtered`: its content filter did. */
  readonly reason: 'stop' | 'tool_calls' | 'length' | 'filtered';
  readonly toolCalls: readonly ToolCall[];
  /** Undefined when the upstream reports none. */
  readonly usage: Usage | undefined;
  /** Which of several models answered; absent: the one that was asked. */
  readonly model?: string;
}

/**
 * `busy`: no output yet, or pictures waited too long. `exhausted` (a quota or what was paid for is used up), `misconfigured` (the operator
 * has to act) and `refused` fail again.
 */
export type ModelFailureKind = 'busy' | 'exhausted' | 'silent' | 'broken' | 'misconfigured' | 'refused';

export interface ModelFailure {
  readonly kind: ModelFailureKind;
  /** For the log, never for the person: no secrets, no message text. */
  readonly detail: string;
  /** The HTTP status, and the upstream's own code, where it said them. */
  readonly status?: number;
  readonly code?: string;
  /** What the upstream reported before the round failed; absent: nothing. */
  readonly usage?: Usage;
  /** The answer had begun: characters of calls' arguments that came, which no delta told. Absent: nothing of an answer came. */
  readonly argumentChars?: number;
  /** When the upstream takes requests again, as it says itself; of `busy` only. */
  readonly retryAfterS?: number;
  /** It is this process that could not: nothing is wrong with the model, and another one would not be asked either. */
  readonly isOurs?: true;
  /** Which of several models failed, and where that is mended; absent: the one that was asked. */
  readonly model?: string;
  readonly mendAt?: MendAt;
}

/** What is wrong with one message, or with this process, says nothing of the model. */
export function isOfModel({ kind, isOurs }: ModelFailure): boolean {
  return kind !== 'refused' && isOurs !== true;
}

/** Where an operator mends what is wrong with a model. */
export interface MendAt {
  readonly key: string;
  readonly address: string;
  readonly model: string;
}

const AT_OPENAI: MendAt = { key: 'OPENAI_API_KEY', address: 'OPENAI_BASE_URL', model: 'MODEL' };

/** What an operator can do about it. */
export function hintFor({ kind, status }: ModelFailure, { key, address, model }: MendAt = AT_OPENAI): string {
  if (kind === 'silent') return `Raise MODEL_SILENCE_S where it has to be loaded first, else check ${address}.`;
  if (kind === 'exhausted') return `Its account has to be paid, or its quota raised: the key is in ${key}.`;
  if (kind === 'misconfigured' && (status === 401 || status === 403)) return `Check ${key}.`;
  if (kind === 'misconfigured') return `Check ${model} and ${address}.`;
  return kind === 'refused' ? `Check ${model}.` : `Check ${address}, and whether the server is up.`;
}

/** What fails at the model's server, and what to do, for the operator. */
export function failedSentence(failure: ModelFailure, mendAt?: MendAt): string {
  return `The last questions all failed (${failure.kind}): ${failure.detail.replace(/\.$/, '')}. ${hintFor(failure, mendAt)}`;
}

/** Called synchronously from the model's stream, in order; nothing is called after `finished` or `failed`. */
export interface ModelSink {
  text(delta: string): void;
  /** The name of a call is known; its arguments are still being written. */
  toolCallStarted(call: { readonly id: string; readonly name: string }): void;
  finished(result: RoundResult): void;
  failed(failure: ModelFailure): void;
  /** `next` is asked in place of the first, which keeps failing. Before anything else, if at all. */
  passedOver?(next: string): void;
  /** One of several models failed before anything of the round was heard, and `next` could be asked. False: it is not to be, and the round has failed. */
  fellBack?(failure: ModelFailure, next: string): boolean;
}

export interface ModelRun {
  /** Stops reading from the upstream until `resume`: the consumer is behind. */
  pause(): void;
  resume(): void;
  /** Ends the round; the sink is not called any more. Idempotent. */
  abort(): void;
}

export interface Model {
  /** Reported as `turn.start.model` and priced by this name. */
  readonly name: string;
  readonly mendAt?: MendAt;
  /** Which of several is asked first for this choice; absent: there is one. */
  firstOf?(choice: ModelChoice): string;
  /** Starts one round. Never throws: failures reach the sink, asynchronously. */
  stream(request: ModelRequest, sink: ModelSink): ModelRun;
  close(): Promise<void>;
}
