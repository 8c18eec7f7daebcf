/** The meaning of a chat-completions stream. */

import { AnswerDecoder, usageOf } from '../stream/answer-decoder.ts';
import type { MakeDecoder } from '../stream/completion-run.ts';
import type { ToolCallFragment } from '../stream/tool-call-assembler.ts';

/** A chunk as it may come: every field may be missing, null or of another type. */
interface Chunk {
  readonly choices?: readonly Choice[] | null;
  readonly usage?: {
    readonly prompt_tokens?: unknown;
    readonly completion_tokens?: unknown;
    readonly prompt_tokens_details?: { readonly cached_tokens?: unknown } | null;
    readonly completion_tokens_details?: { readonly reasoning_tokens?: unknown } | null;
  } | null;
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

export class CompletionDecoder extends AnswerDecoder<Chunk> {
  constructor(started: Parameters<MakeDecoder>[0], apiKey?: string) {
    super(started, apiKey, 'content');
  }

  protected onlyContent(chunk: Chunk): string | undefined {
    if (chunk.choices?.length !== 1 || chunk.usage || chunk.error || chunk.object === 'error') return undefined;
    const choice = chunk.choices[0];
    if (!choice || (choice.index ?? 0) !== 0 || choice.finish_reason) return undefined;
    const delta = choice.delta;
    if (!delta || typeof delta.content !== 'string' || delta.refusal || delta.tool_calls || delta.function_call) return undefined;
    return delta.content;
  }

  protected take({ usage, choices }: Chunk): string | undefined {
    if (usage) {
      const { prompt_tokens_details: read, completion_tokens_details: written } = usage;
      const said = usageOf(usage.prompt_tokens, usage.completion_tokens, read?.cached_tokens, written?.reasoning_tokens);
      this.usage = said ?? this.usage;
    }
    if (!Array.isArray(choices)) return undefined;
    for (const choice of choices as readonly (Choice | null)[]) {
      if (choice === null || typeof choice !== 'object' || (choice.index ?? 0) !== 0) continue;
      const broken = this.takeDelta(choice.delta ?? {});
      if (broken !== undefined) return broken;
      if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') this.finishReason = choice.finish_reason;
    }
    return undefined;
  }

  private takeDelta(delta: Delta): string | undefined {
    if (typeof delta.content === 'string') this.append(delta.content);
    // The model's own "no" is what the person should read.
    if (typeof delta.refusal === 'string') this.append(delta.refusal);
    if (delta.function_call) return this.addCall({ index: 0, function: delta.function_call });
    if (!Array.isArray(delta.tool_calls)) return undefined;
    for (const fragment of delta.tool_calls as readonly (ToolCallFragment | null)[]) {
      if (fragment === null || typeof fragment !== 'object') continue;
      const broken = this.addCall(fragment);
      if (broken !== undefined) return broken;
    }
    return undefined;
  }
}
