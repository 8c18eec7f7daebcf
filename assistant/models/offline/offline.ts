/** The embedded default model: no network, no key, the same stream for the same request. It only repeats, so it makes nothing up. */
import { createHash } from 'node:crypto';
import type { Model, ModelRequest, ModelRun, ModelSink, ToolCall, ToolDefinition, Usage } from '../model.ts';
import { planRound, type Round } from './round.ts';

export const OFFLINE_MODEL_NAME = 'offline';

/** What one delta carries: about what a fast language model sends at once. */
const DELTA_WORDS = 3;
/** The usual estimate for tokens of English text. */
const CHARS_PER_TOKEN = 4;
/** Call ids must be unlike each other in a conversation and fit every upstream's 40 characters. */
const CALL_ID_HEX_CHARS = 24;

type Step = (sink: ModelSink) => void;

const schemaSizes = new WeakMap<ToolDefinition['parameters'], number>();

function schemaSize(parameters: ToolDefinition['parameters']): number {
  const known = schemaSizes.get(parameters);
  if (known !== undefined) return known;
  const size = JSON.stringify(parameters).length;
  schemaSizes.set(parameters, size);
  return size;
}

function estimateUsage(request: ModelRequest, round: Round): Usage {
  let input = request.system.length;
  for (const message of request.messages) {
    input += message.content.length;
    if (message.role !== 'assistant') continue;
    for (const call of message.toolCalls ?? []) input += call.name.length + call.arguments.length;
  }
  for (const passage of request.passages) input += passage.title.length + passage.text.length;
  for (const tool of request.tools) input += tool.name.length + tool.description.length + schemaSize(tool.parameters);
  const output = round.calls.reduce((sum, call) => sum + call.name.length + call.arguments.length, round.text.length);
  return { inputTokens: Math.ceil(input / CHARS_PER_TOKEN), outputTokens: Math.ceil(output / CHARS_PER_TOKEN) };
}

/** The id of a round's call: the same for the same place in the same request. */
function callId(request: ModelRequest, index: number): string {
  const digest = createHash('sha256').update(`${request.requestId}\n${request.messages.length}\n${index}`).digest('hex');
  return `call_${digest.slice(0, CALL_ID_HEX_CHARS)}`;
}

function deltasOf(text: string): string[] {
  const words = text.match(/^\s+|\S+\s*/g) ?? [];
  const deltas: string[] = [];
  for (let i = 0; i < words.length; i += DELTA_WORDS) deltas.push(words.slice(i, i + DELTA_WORDS).join(''));
  return deltas;
}

function stepsOf(request: ModelRequest): Step[] {
  const round = planRound(request);
  const toolCalls = round.calls.map((call, index): ToolCall => ({ id: callId(request, index), ...call }));
  const usage = estimateUsage(request, round);
  return [
    ...deltasOf(round.text).map(
      (delta): Step =>
        (sink) =>
          sink.text(delta),
    ),
    ...toolCalls.map(
      ({ id, name }): Step =>
        (sink) =>
          sink.toolCallStarted({ id, name }),
    ),
    (sink) => sink.finished({ reason: toolCalls.length > 0 ? 'tool_calls' : 'stop', toolCalls, usage }),
  ];
}

class OfflineRun implements ModelRun {
  readonly #request: ModelRequest;
  readonly #sink: ModelSink;
  #steps: readonly Step[] | undefined;
  #next = 0;
  #isPaused = false;
  #isOver = false;
  #scheduled: NodeJS.Immediate | undefined;

  constructor(request: ModelRequest, sink: ModelSink) {
    this.#request = request;
    this.#sink = sink;
    this.#schedule();
  }

  pause(): void {
    this.#isPaused = true;
    this.#unschedule();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#schedule();
  }

  abort(): void {
    this.#isOver = true;
    this.#unschedule();
  }

  #schedule(): void {
    if (this.#isOver || this.#isPaused || this.#scheduled !== undefined) return;
    this.#scheduled = setImmediate(() => this.#step());
  }

  #unschedule(): void {
    if (this.#scheduled !== undefined) clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
  }

  #step(): void {
    this.#scheduled = undefined;
    let step: Step | undefined;
    try {
      this.#steps ??= stepsOf(this.#request);
      step = this.#steps[this.#next++];
    } catch (error) {
      this.#isOver = true;
      // The kind of error only: its message may quote what the person wrote.
      this.#sink.failed({ kind: 'broken', detail: `offline model: ${error instanceof Error ? error.name : typeof error}` });
      return;
    }
    if (step === undefined) return;
    // Marked as over before the sink is called, so that nothing follows whatever it does.
    if (this.#next === this.#steps.length) this.#isOver = true;
    step(this.#sink);
    this.#schedule();
  }
}

/** The `offline` model. Usage is estimated at four characters a token. Runs hold no resource, so `close` is immediate. */
export function createOfflineModel(): Model {
  return {
    name: OFFLINE_MODEL_NAME,
    stream: (request, sink) => new OfflineRun(request, sink),
    close: () => Promise.resolve(),
  };
}
