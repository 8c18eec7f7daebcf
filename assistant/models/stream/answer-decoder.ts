/**
 * What the decoders of all wires have in common: payloads of data lines in; text (until it is taken), calls, usage and the finish reason out.
 * A wire says which payloads are a delta and nothing else, and what the others mean.
 */
import type { ModelFailure, RoundResult, Usage } from '../model.ts';
import type { StreamDecoder } from './completion-run.ts';
import { DeltaTemplate } from './delta-template.ts';
import { ToolCallAssembler, type ToolCallFragment } from './tool-call-assembler.ts';
import { errorIn, streamedFailure } from './upstream-failure.ts';

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Undefined unless both sums are counts of tokens. What is none of the other two is left out. */
export function usageOf(input: unknown, output: unknown, cached: unknown, reasoning: unknown): Usage | undefined {
  const [inputTokens, outputTokens] = [count(input), count(output)];
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  const [cachedTokens, reasoningTokens] = [count(cached) ?? 0, count(reasoning) ?? 0];
  return { inputTokens, outputTokens, ...(cachedTokens > 0 && { cachedTokens }), ...(reasoningTokens > 0 && { reasoningTokens }) };
}

export abstract class AnswerDecoder<Chunk extends object> implements StreamDecoder {
  text = '';
  done = false;
  failure: ModelFailure | undefined;
  /** Why it ended, once the upstream said so: `length`, `content_filter`, or any other word. */
  finishReason: string | undefined;
  usage: Usage | undefined;
  private hasOutput = false;
  private readonly template: DeltaTemplate;
  private readonly calls: ToolCallAssembler;
  private readonly apiKey: string | undefined;

  /**
   * `onCallStarted` is called as soon as a call's name is known, before text that comes after it. `apiKey` is kept out of details.
   * `deltaKey`: the key of a delta's text.
   */
  constructor(onCallStarted: (call: { readonly id: string; readonly name: string }) => void, apiKey: string | undefined, deltaKey: string) {
    this.calls = new ToolCallAssembler((call) => {
      this.hasOutput = true;
      onCallStarted(call);
    });
    this.apiKey = apiKey;
    this.template = new DeltaTemplate(deltaKey);
  }

  /** The content of a chunk that says nothing else, else undefined. */
  protected abstract onlyContent(chunk: Chunk): string | undefined;

  /** Any other chunk. What it returns is why the stream has broken. */
  protected abstract take(chunk: Chunk): string | undefined;

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
    return this.failed(errorIn(error) ?? error);
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
    const toolCalls = this.calls.calls(cutOff);
    // The calls decide, not the word: servers say `stop` after a call, or `tool_calls` after none.
    const reason = cutOff ? 'length' : toolCalls.length > 0 ? 'tool_calls' : this.finishReason === 'content_filter' ? 'filtered' : 'stop';
    return { reason, toolCalls, usage: this.usage };
  }

  protected append(text: string): void {
    if (text === '') return;
    this.hasOutput = true;
    this.text += text;
  }

  protected addCall(fragment: ToolCallFragment): string | undefined {
    return this.calls.add(fragment);
  }

  /** The upstream says that it failed. */
  protected failed(error: unknown): false {
    return this.fail(streamedFailure(error, this.hasOutput, this.apiKey));
  }

  private fail(failure: ModelFailure): false {
    this.failure = failure;
    return false;
  }

  protected parse(payload: string): boolean {
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
    if (error !== undefined) return this.failed(error);
    const content = this.onlyContent(chunk);
    if (content !== undefined) {
      this.append(content);
      this.template.learn(payload, content, (line) => this.onlyContentOf(line));
      return true;
    }
    const broken = this.take(chunk);
    if (broken !== undefined) return this.fail({ kind: 'broken', detail: broken });
    return !this.done && this.failure === undefined;
  }

  private onlyContentOf(payload: string): string | undefined {
    try {
      return this.onlyContent(JSON.parse(payload) as Chunk);
    } catch {
      return undefined;
    }
  }
}
