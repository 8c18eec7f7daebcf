/** The meaning of a Messages stream. Thinking and its signatures are passed over. */

import { AnswerDecoder, usageOf } from '../stream/answer-decoder.ts';
import type { MakeDecoder } from '../stream/completion-run.ts';

/** An event as it may come: every field may be missing, null or of another type. */
interface MessageEvent {
  readonly type?: unknown;
  readonly index?: unknown;
  readonly message?: { readonly usage?: Counts | null } | null;
  readonly content_block?: { readonly type?: unknown; readonly id?: unknown; readonly name?: unknown; readonly text?: unknown } | null;
  readonly delta?: {
    readonly type?: unknown;
    readonly text?: unknown;
    readonly partial_json?: unknown;
    readonly stop_reason?: unknown;
  } | null;
  readonly usage?: Counts | null;
}

interface Counts {
  readonly input_tokens?: unknown;
  readonly cache_creation_input_tokens?: unknown;
  readonly cache_read_input_tokens?: unknown;
  readonly output_tokens?: unknown;
}

/** Its words for an end that others are told by another word. */
const FINISH_REASONS: Readonly<Record<string, string>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content_filter',
};

/** What is null or missing in the later counts stands in the earlier. */
function merged(earlier: Counts, later: Counts): Counts {
  const told = (name: keyof Counts) => (typeof later[name] === 'number' ? later[name] : earlier[name]);
  return {
    input_tokens: told('input_tokens'),
    cache_creation_input_tokens: told('cache_creation_input_tokens'),
    cache_read_input_tokens: told('cache_read_input_tokens'),
    output_tokens: told('output_tokens'),
  };
}

export class MessageDecoder extends AnswerDecoder<MessageEvent> {
  private counts: Counts = {};

  constructor(started: Parameters<MakeDecoder>[0], apiKey?: string) {
    super(started, apiKey, 'text');
  }

  protected onlyContent({ type, delta }: MessageEvent): string | undefined {
    const isText = type === 'content_block_delta' && delta?.type === 'text_delta';
    return isText && typeof delta.text === 'string' ? delta.text : undefined;
  }

  protected take(event: MessageEvent): string | undefined {
    switch (event.type) {
      case 'message_start':
        this.counts = merged({}, event.message?.usage ?? {});
        return undefined;
      case 'content_block_start':
        return this.begin(event);
      case 'content_block_delta':
        if (event.delta?.type !== 'input_json_delta') return undefined;
        return this.addCall({ index: event.index, function: { arguments: event.delta.partial_json } });
      case 'message_delta':
        this.note(event);
        return undefined;
      case 'message_stop':
        this.done = true;
        return undefined;
      default:
        return undefined;
    }
  }

  private begin({ index, content_block: block }: MessageEvent): string | undefined {
    if (block?.type === 'text' && typeof block.text === 'string') this.append(block.text);
    return block?.type === 'tool_use' ? this.addCall({ index, id: block.id, function: { name: block.name } }) : undefined;
  }

  /** The sums are told last; the first ones do not know what was written. */
  private note({ delta, usage }: MessageEvent): void {
    const reason = delta?.stop_reason;
    if (typeof reason === 'string' && reason !== '') this.finishReason = FINISH_REASONS[reason] ?? reason;
    this.counts = merged(this.counts, usage ?? {});
    const { input_tokens: fresh, cache_creation_input_tokens: kept = 0, cache_read_input_tokens: read = 0, output_tokens } = this.counts;
    // A count that is missing makes the sum NaN, which is no count.
    this.usage = usageOf(Number(fresh) + Number(kept) + Number(read), output_tokens, read, 0);
  }
}
