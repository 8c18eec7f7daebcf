/**
 * What turns, rounds of the model, searches and calls of apps' servers came to, as histograms and sums (RUN-43): what a service level is
 * promised and watched by. Labels are outcomes, the channel and the models of the configuration, so that the number of series is bounded.
 */
import { Counter, Histogram, Registry } from 'prom-client';

/** What people wait for has bounds of its own: half a second is felt as at once, ten are too many. */
const WORDS_S = [0.25, 0.5, 1, 2, 3, 5, 10, 20, 30];
const WHOLE_S = [0.5, 1, 2, 5, 10, 20, 40, 60, 120, 300];
const CALL_S = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30];
const SEARCH_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2];

/** From the start on there is a zero of each: of what appears with its first event, Prometheus takes that one for no increase. */
const OUTCOMES = ['completed', 'stopped', 'awaiting_tool_results', 'awaiting_confirmation', 'error'];
const CHANNELS = ['live', 'sandbox'];

export interface EndedTurn {
  readonly outcome: string;
  readonly channel: string;
  /** From the request on; undefined: the turn was taken up again, and nobody knows for how long it was waited. */
  readonly wholeMs: number | undefined;
  /** From the request to the first words; undefined: none were said. */
  readonly firstWordMs: number | undefined;
  readonly costMicroUsd: number;
}

export interface EndedRound {
  readonly model: string;
  readonly outcome: string;
  readonly wholeMs: number;
  /** Null: nothing of an answer came. */
  readonly firstMs: number | null;
  readonly tokensIn: number;
  /** Those of `tokensIn` that came from the upstream's prompt cache. */
  readonly tokensCached: number;
  readonly tokensOut: number;
}

/** One for each service that is composed: what the warm-up does with another one is not seen here. */
export class Measures {
  readonly #registry = new Registry();
  readonly #turns = this.#counter('assistant_turns_total', 'Turns of people that ended, by outcome and channel.', ['outcome', 'channel']);
  readonly #whole = this.#histogram('assistant_turn_seconds', 'Turns from the request to their end, by channel.', WHOLE_S, ['channel']);
  readonly #words = this.#histogram(
    'assistant_turn_first_words_seconds',
    'Turns from the request to their first words, by channel.',
    WORDS_S,
    ['channel'],
  );
  readonly #rounds = this.#histogram('assistant_model_round_seconds', 'Rounds of the model by model and outcome.', WHOLE_S, [
    'model',
    'outcome',
  ]);
  readonly #firsts = this.#histogram(
    'assistant_model_first_words_seconds',
    'Rounds of the model up to the first of their answer.',
    WORDS_S,
    ['model'],
  );
  readonly #actions = this.#histogram('assistant_action_seconds', 'Calls of HTTP actions by outcome.', CALL_S, ['outcome']);
  readonly #searches = this.#histogram(
    'assistant_retrieval_seconds',
    'Looking up passages: the search itself, and how long a turn waited for the meaning of its question.',
    SEARCH_S,
    ['step'],
  );
  readonly #tokens = this.#counter(
    'assistant_model_tokens_total',
    'Tokens that the model reported, by model and direction; cached ones are counted in those in as well.',
    ['model', 'direction'],
  );
  readonly #cost = this.#counter('assistant_cost_usd_total', 'US dollars that turns cost, by MODEL_PRICES.', ['channel']);

  /** `parserDeaths`: how many parser processes of this one died of a document, by how; it is read when asked for. */
  constructor(parserDeaths: Readonly<Record<string, number>> = {}) {
    for (const outcome of OUTCOMES) for (const channel of CHANNELS) this.#turns.inc({ outcome, channel }, 0);
    new Counter({
      name: 'assistant_parser_deaths_total',
      help: 'Parser processes that died of a document, or could not be started, by how.',
      labelNames: ['how'],
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const [how, count] of Object.entries(parserDeaths)) this.inc({ how }, count);
      },
    });
  }

  #histogram<Label extends string>(name: string, help: string, buckets: number[], labelNames: Label[]): Histogram<Label> {
    return new Histogram({ name, help, buckets, labelNames, registers: [this.#registry] });
  }

  #counter<Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  turnEnded({ outcome, channel, wholeMs, firstWordMs, costMicroUsd }: EndedTurn): void {
    this.#turns.inc({ outcome, channel });
    if (wholeMs !== undefined) this.#whole.observe({ channel }, Math.max(0, wholeMs) / 1e3);
    if (firstWordMs !== undefined) this.#words.observe({ channel }, firstWordMs / 1e3);
    this.#cost.inc({ channel }, costMicroUsd / 1e6);
  }

  roundEnded({ model, outcome, wholeMs, firstMs, tokensIn, tokensCached, tokensOut }: EndedRound): void {
    this.#rounds.observe({ model, outcome }, wholeMs / 1e3);
    if (firstMs !== null) this.#firsts.observe({ model }, firstMs / 1e3);
    this.#tokens.inc({ model, direction: 'in' }, tokensIn);
    this.#tokens.inc({ model, direction: 'cached' }, tokensCached);
    this.#tokens.inc({ model, direction: 'out' }, tokensOut);
  }

  actionEnded(outcome: string, wholeMs: number): void {
    this.#actions.observe({ outcome }, wholeMs / 1e3);
  }

  searched(step: 'meaning' | 'search', ms: number): void {
    this.#searches.observe({ step }, ms / 1e3);
  }

  /** Prometheus text. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** The same as values, to be added to those of other processes. */
  values(): Promise<object[]> {
    return this.#registry.getMetricsAsJSON();
  }
}
