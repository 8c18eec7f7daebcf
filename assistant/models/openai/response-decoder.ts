/** The meaning of a Responses stream. Reasoning and its summaries are passed over. */
import { isObject } from '../../../protocol/schema/bounded.ts';
import { AnswerDecoder, usageOf } from '../stream/answer-decoder.ts';
import type { MakeDecoder } from '../stream/completion-run.ts';

/** An event as it may come: every field may be missing, null or of another type. */
interface ResponseEvent {
  readonly type?: unknown;
  readonly delta?: unknown;
  readonly output_index?: unknown;
  readonly item?: unknown;
  readonly response?: unknown;
}

/** More items than a round may have calls: those beyond are dropped whatever they hold. */
const PIECES_MAX = 256;

/** It rises with each event, so that no two deltas would be alike. */
const NUMBER_KEY = '"sequence_number":';
const [ZERO, NINE] = [48, 57];

/** `payload` with its number as 0: the same document to whoever does not read the number. As it is where no number that JSON takes stands there. */
export function unnumbered(payload: string): string {
  // Within a string of JSON the quotes would be escaped.
  const key = payload.indexOf(NUMBER_KEY);
  if (key < 0) return payload;
  const start = key + NUMBER_KEY.length;
  let end = start;
  while (payload.charCodeAt(end) >= ZERO && payload.charCodeAt(end) <= NINE) end++;
  if (end === start || (end > start + 1 && payload.charCodeAt(start) === ZERO)) return payload;
  return `${payload.slice(0, start)}0${payload.slice(end)}`;
}

export class ResponseDecoder extends AnswerDecoder<ResponseEvent> {
  /** Items whose arguments came in pieces, by their index; they come once more at the end. */
  private readonly inPieces = new Set<unknown>();

  constructor(started: Parameters<MakeDecoder>[0], apiKey?: string) {
    super(started, apiKey, 'delta');
  }

  override data(payload: string): boolean {
    return super.data(unnumbered(payload));
  }

  protected onlyContent({ type, delta }: ResponseEvent): string | undefined {
    return type === 'response.output_text.delta' && typeof delta === 'string' ? delta : undefined;
  }

  protected take(event: ResponseEvent): string | undefined {
    switch (event.type) {
      case 'response.refusal.delta':
        // The model's own "no" is what the person should read.
        if (typeof event.delta === 'string') this.append(event.delta);
        return undefined;
      case 'response.output_item.added':
        return this.call(event, '');
      case 'response.function_call_arguments.delta':
        if (typeof event.output_index !== 'number') return undefined;
        if (this.inPieces.size < PIECES_MAX) this.inPieces.add(event.output_index);
        return this.addCall({ index: event.output_index, function: { arguments: event.delta } });
      case 'response.output_item.done':
        return this.inPieces.delete(event.output_index) || !isObject(event.item) ? undefined : this.call(event, event.item.arguments);
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        this.end(event.type, isObject(event.response) ? event.response : {});
        return undefined;
      case 'error':
        this.failed(event);
        return undefined;
      default:
        return undefined;
    }
  }

  private call({ item, output_index: index }: ResponseEvent, written: unknown): string | undefined {
    if (!isObject(item) || item.type !== 'function_call') return undefined;
    return this.addCall({ index, id: item.call_id ?? item.id, function: { name: item.name, arguments: written } });
  }

  private end(type: string, { usage, error, incomplete_details: details }: Record<string, unknown>): void {
    if (isObject(usage)) {
      const { input_tokens_details: read, output_tokens_details: written } = usage;
      const cached = isObject(read) ? read.cached_tokens : undefined;
      const reasoning = isObject(written) ? written.reasoning_tokens : undefined;
      this.usage = usageOf(usage.input_tokens, usage.output_tokens, cached, reasoning);
    }
    if (type === 'response.failed') {
      this.failed(error);
      return;
    }
    const filtered = isObject(details) && details.reason === 'content_filter';
    this.finishReason = type === 'response.completed' ? 'stop' : filtered ? 'content_filter' : 'length';
    this.done = true;
  }
}
