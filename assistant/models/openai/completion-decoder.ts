/** The meaning of a completion stream: payloads of data lines in; text (until it is taken), calls, usage and the finish reason out. */

import type { ModelFailure, RoundResult, ToolCall, Usage } from '../model.ts';
import type { SsePayloadSink } from '../stream/sse-decoder.ts';
import { errorIn, streamedFailure } from '../stream/upstream-failure.ts';
import { DeltaTemplate } from './delta-template.ts';
import { ToolCallAssembler, type ToolCallFragment } from './tool-call-assembler.ts';

/** A chunk as it may come: every field may be missing, null or of another type. */
interface Chunk {
  readonly choices?: readonly Choice[] | null;
  readonly usage?: { readonly prompt_tokens?: unknown; readonly completion_tokens?: unknown } | null;
  readonly error?: unknown;
  readonly object?: unknown;
}

interface Choice {
  readonly index?: unknown;
  readonly delta?: Delta | null;
  readonly finish_reason?: unknown;
}

interface Delta {
  readonly content?: unknown;
  readonly refusal?: unknown;
  readonly tool_calls?: readonly ToolCallFragment[] | null;
  readonly function_call?: ToolCallFragment['function'];
}

function isTokenCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** The content of a chunk that says nothing else, else undefined. */
function onlyContent(chunk: Chunk): string | undefined {
  if (chunk.choices?.length !== 1 || chunk.usage || chunk.error || chunk.object === 'error') return undefined;
  const choice = chunk.choices[0];
  if (!choice || (choice.index ?? 0) !== 0 || choice.finish_reason) return undefined;
  const delta = choice.delta;
  if (!delta || typeof delta.content !== 'string' || delta.refusal || delta.tool_calls || delta.function_call) return undefined;
  return delta.content;
}

function onlyContentOf(payload: string): string | undefined {
  try {
    return onlyContent(JSON.parse(payload) as Chunk);
  } catch {
    return undefined;
  }
}

export class CompletionDecoder implements SsePayloadSink {
  text = '';
  done = false;
  failure: ModelFailure | undefined;
  /** The upstream's own word for why it ended, once it said so. */
  finishReason: string | undefined;
  private hasOutput = false;
  usage: Usage | undefined;
  private readonly template = new DeltaTemplate();
  private readonly calls: ToolCallAssembler;
  private readonly apiKey: string | undefined;

  /** `onCallStarted` is called as soon as a call's name is known, before text that comes after it. `apiKey` is kept out of details. */
  constructor(onCallStarted: (call: { readonly id: string; readonly name: string }) => void, apiKey?: string) {
    this.calls = new ToolCallAssembler((call) => {
      this.hasOutput = true;
      onCallStarted(call);
    });
    this.apiKey = apiKey;
  }

  /** The hot path: nothing but a comparison and an append for the usual delta. */
  data(payload: string): boolean {
    const content = this.template.match(payload);
    if (content === undefined) return this.parse(payload);
    this.text += content;
    return true;
  }

  error(payload: string): boolean {
    let error: unknown;
    try {
      error = JSON.parse(payload);
    } catch {
      error = undefined;
    }
    return this.fail(streamedFailure(errorIn(error) ?? error, this.hasOutput, this.apiKey));
  }

  /** Calls left out because a round may make no more. */
  get droppedCalls(): number {
    return this.calls.dropped;
  }

  get argumentChars(): number | undefined {
    return this.hasOutput ? this.calls.argumentChars : undefined;
  }

  takeText(): string {
    const text = this.text;
    this.text = '';
    return text;
  }

  /** What the round came to. Only after `done`, or at the end of a stream that gave a finish reason. */
  result(): RoundResult {
    const cutOff = this.finishReason === 'length';
    const toolCalls: ToolCall[] = this.calls.calls(cutOff);
    // The calls decide, not the word: servers say `stop` after a call, or `tool_calls` after none.
    const reason = cutOff ? 'length' : toolCalls.length > 0 ? 'tool_calls' : this.finishReason === 'content_filter' ? 'filtered' : 'stop';
    return { reason, toolCalls, usage: this.usage };
  }

  private fail(failure: ModelFailure): false {
    this.failure = failure;
    return false;
  }

  private parse(payload: string): boolean {
    if (payload.trim() === '[DONE]') {
      this.done = true;
      return false;
    }
    let chunk: Chunk | null;
    try {
      chunk = JSON.parse(payload) as Chunk | null;
    } catch {
      return this.fail({ kind: 'broken', detail: 'a line of the stream is not JSON' });
    }
    if (typeof chunk !== 'object' || chunk === null) return this.fail({ kind: 'broken', detail: 'a line of the stream is not an object' });
    const error = errorIn(chunk);
    if (error !== undefined) return this.fail(streamedFailure(error, this.hasOutput, this.apiKey));
    const content = onlyContent(chunk);
    if (content !== undefined) {
      this.append(content);
      this.template.learn(payload, content, onlyContentOf);
      return true;
    }
    return this.take(chunk);
  }

  private append(text: string): void {
    if (text === '') return;
    this.hasOutput = true;
    this.text += text;
  }

  private take(chunk: Chunk): boolean {
    const { usage } = chunk;
    if (usage && isTokenCount(usage.prompt_tokens) && isTokenCount(usage.completion_tokens)) {
      this.usage = { inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens };
    }
    if (!Array.isArray(chunk.choices)) return true;
    for (const choice of chunk.choices as readonly (Choice | null)[]) {
      if (choice === null || typeof choice !== 'object' || (choice.index ?? 0) !== 0) continue;
      const broken = this.takeDelta(choice.delta ?? {});
      if (broken !== undefined) return this.fail({ kind: 'broken', detail: broken });
      if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') this.finishReason = choice.finish_reason;
    }
    return true;
  }

  private takeDelta(delta: Delta): string | undefined {
    if (typeof delta.content === 'string') this.append(delta.content);
    // The model's own "no" is what the person should read.
    if (typeof delta.refusal === 'string') this.append(delta.refusal);
    if (delta.function_call) return this.calls.add({ index: 0, function: delta.function_call });
    if (!Array.isArray(delta.tool_calls)) return undefined;
    for (const fragment of delta.tool_calls as readonly (ToolCallFragment | null)[]) {
      if (fragment === null || typeof fragment !== 'object') continue;
      const broken = this.calls.add(fragment);
      if (broken !== undefined) return broken;
    }
    return undefined;
  }
}
