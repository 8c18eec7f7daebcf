/**
 * Several models as one (MODEL-41, MODEL-43): a round that fails before anything of it was heard is asked of the next in the list, or in the
 * order that an app chose. Owns the breaker of each: a model that keeps failing is passed over, and one round at a time looks whether it is back.
 */
import type { ModelChoice } from '../../protocol/setup/model-choice.ts';
import { isOfModel, type Model, type ModelFailure, type ModelRequest, type ModelRun, type ModelSink } from './model.ts';

/** So many failures within the window, and no answer between them, are about the model and not about one round. */
const FAILURES_MAX = 5;
const WINDOW_MS = 30_000;
/** How long a model is passed over before a round asks it again. */
const PAUSE_MS = 10_000;

export class Breaker {
  #failedAtMs: number[] = [];
  #openUntilMs: number | undefined;
  #isProbed = false;
  readonly #nowMs: () => number;

  /** `nowMs`: a clock that only rises. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Whether the model may be asked now. True for one round at a time once the pause is over: its outcome has to be noted, or given up. */
  admits(): boolean {
    if (this.#openUntilMs === undefined) return true;
    if (this.#isProbed || this.#nowMs() < this.#openUntilMs) return false;
    this.#isProbed = true;
    return true;
  }

  /** A round ended with neither an answer nor a failure. */
  givenUp(): void {
    this.#isProbed = false;
  }

  /** An answer has begun: a model that was passed over is back. */
  heard(): void {
    if (this.#openUntilMs !== undefined) this.answered();
  }

  answered(): void {
    this.#failedAtMs = [];
    this.#openUntilMs = undefined;
    this.#isProbed = false;
  }

  failed(): void {
    const nowMs = this.#nowMs();
    this.#isProbed = false;
    this.#failedAtMs = [...this.#failedAtMs.filter((atMs) => nowMs - atMs < WINDOW_MS), nowMs].slice(-FAILURES_MAX);
    if (this.#openUntilMs !== undefined || this.#failedAtMs.length >= FAILURES_MAX) this.#openUntilMs = nowMs + PAUSE_MS;
  }
}

/** How an app asks its model, and by which word a server that does not take one refuses it. */
const PARAMETERS = [
  ['temperature', /temperature/i],
  ['effort', /effort|output_config/i],
  ['max_output_tokens', /max\w{0,20}_tokens/i],
] as const;
type Parameter = (typeof PARAMETERS)[number][0];

/** Refused beside a long conversation, which is this round's alone: the next one may leave room for the longest answer. */
const OF_THE_ROUND = /context|prompt|inputs?[\W_]*(?:length|tokens)/i;

/** What of `choice`, as it was sent, the server refused the request for; undefined: something else. */
function refusedOf({ kind, detail }: ModelFailure, choice: ModelChoice = {}): Parameter | undefined {
  return kind === 'refused' ? PARAMETERS.find(([name, word]) => choice[name] != null && word.test(detail))?.[0] : undefined;
}

/** An app had it think for long: that it says nothing meanwhile is not held against it for others. */
function isLongThought({ kind }: ModelFailure, choice: ModelChoice = {}): boolean {
  return kind === 'silent' && /high|max/.test(choice.effort ?? '');
}

class Link {
  readonly model: Model;
  readonly breaker: Breaker;
  /** What its server does not take, by the choice that it was sent for: how one app asks changes nothing for another. */
  readonly #untaken = new WeakMap<ModelChoice, readonly Parameter[]>();

  constructor(model: Model, nowMs: () => number) {
    this.model = model;
    this.breaker = new Breaker(nowMs);
  }

  untaken(choice: ModelChoice | undefined): readonly Parameter[] {
    return (choice && this.#untaken.get(choice)) ?? [];
  }

  /** An answer came without `parameters`, so that they were why there was none before. */
  learn(choice: ModelChoice | undefined, parameters: readonly Parameter[]): void {
    if (choice && parameters.length > 0) this.#untaken.set(choice, [...new Set([...this.untaken(choice), ...parameters])]);
  }
}

type Links = readonly [Link, ...Link[]];
/** A server of this model does not take this parameter, which is left out. */
type LeftOut = (model: string, parameter: string) => void;

/** A round on its way through the list. */
class FallingRun implements ModelRun {
  readonly #request: ModelRequest;
  readonly #sink: ModelSink;
  readonly #left: Link[];
  readonly #leftOut: LeftOut;
  #sent: ModelRequest;
  /** What the model that is asked refused in this round, and what of it other rounds leave out as well. */
  #without: readonly Parameter[] = [];
  #learnt: Parameter[] = [];
  #run: ModelRun | undefined;
  #asked: Link | undefined;
  #isHeard = false;
  #isPaused = false;

  constructor(links: Links, request: ModelRequest, sink: ModelSink, leftOut: LeftOut) {
    this.#request = request;
    this.#sent = request;
    this.#leftOut = leftOut;
    this.#sink = sink;
    this.#left = [...links];
    // Where all are passed over, the first is asked as if it were alone.
    const asked = this.#nextLink() ?? links[0];
    if (asked !== links[0]) sink.passedOver?.(asked.model.name);
    this.#ask(asked);
  }

  pause(): void {
    this.#isPaused = true;
    this.#run?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#run?.resume();
  }

  abort(): void {
    this.#asked?.breaker.givenUp();
    this.#asked = undefined;
    this.#run?.abort();
  }

  /** The next model that is not passed over. */
  #nextLink(): Link | undefined {
    const found = this.#left.findIndex(({ breaker }) => breaker.admits());
    return found < 0 ? undefined : this.#left.splice(0, found + 1).at(-1);
  }

  #ask(link: Link, without = link.untaken(this.#request.choice)): void {
    this.#asked = link;
    this.#without = without;
    const kept = Object.entries(this.#request.choice ?? {}).filter(([name]) => !without.some((each) => each === name));
    this.#sent = without.length === 0 ? this.#request : { ...this.#request, choice: Object.fromEntries(kept) };
    this.#run = link.model.stream(this.#sent, this.#sinkOf(link));
    if (this.#isPaused) this.#run.pause();
  }

  #heard({ breaker }: Link): void {
    this.#isHeard = true;
    breaker.heard();
  }

  #failed(link: Link, failure: ModelFailure): void {
    const untaken = this.#isHeard ? undefined : refusedOf(failure, this.#sent.choice);
    if (untaken !== undefined) {
      this.#leftOut(link.model.name, untaken);
      if (!OF_THE_ROUND.test(failure.detail)) this.#learnt.push(untaken);
      this.#ask(link, [...this.#without, untaken]);
      return;
    }
    this.#learnt = [];
    this.#asked = undefined;
    const isOfRound = !isOfModel(failure);
    if (isOfRound || isLongThought(failure, this.#sent.choice)) link.breaker.givenUp();
    else link.breaker.failed();
    const next = this.#isHeard || isOfRound ? undefined : this.#nextLink();
    if (next === undefined) this.#sink.failed(failure);
    else if (this.#sink.fellBack?.(failure, next.model.name) ?? true) this.#ask(next);
    else {
      next.breaker.givenUp();
      this.#sink.failed(failure);
    }
  }

  #sinkOf(link: Link): ModelSink {
    const sink = this.#sink;
    const { name, mendAt } = link.model;
    const about = { model: name, ...(mendAt !== undefined && { mendAt }) };
    return {
      text: (delta) => {
        if (!this.#isHeard) this.#heard(link);
        sink.text(delta);
      },
      toolCallStarted: (call) => {
        if (!this.#isHeard) this.#heard(link);
        sink.toolCallStarted(call);
      },
      finished: (result) => {
        this.#asked = undefined;
        link.learn(this.#request.choice, this.#learnt);
        link.breaker.answered();
        sink.finished({ ...result, model: name });
      },
      failed: (failure) => this.#failed(link, { ...failure, ...about }),
    };
  }
}

/** The links in the order that `choice` has them asked. A name may be that of several, at other servers. */
function chosen(links: Links, { use, fallbacks }: ModelChoice): Links {
  const named = (name: string) => links.filter(({ model }) => model.name === name);
  const [first = links[0], ...same] = use === undefined ? [] : named(use);
  // What the operator took off the list since: the installation's order.
  if (use !== undefined && first.model.name !== use) return links;
  const others = fallbacks === undefined ? links : fallbacks.flatMap(named);
  const behind = new Set([...same, ...others]);
  behind.delete(first);
  return [first, ...behind];
}

/** `models`: the first choice first, whose name this has. One alone that is asked in no special way gets the request as it is. */
export function withFallbacks(
  models: readonly [Model, ...Model[]],
  nowMs: () => number = () => performance.now(),
  leftOut: LeftOut = () => {},
): Model {
  const [first, ...others] = models;
  const links: Links = [new Link(first, nowMs), ...others.map((model) => new Link(model, nowMs))];
  /** By the choice, of which there is one object for each revision of an app. */
  const orders = new WeakMap<ModelChoice, Links>();
  const orderOf = (choice: ModelChoice | undefined): Links => {
    if (choice === undefined) return links;
    const order = orders.get(choice) ?? chosen(links, choice);
    orders.set(choice, order);
    return order;
  };
  return {
    name: first.name,
    firstOf: (choice) => orderOf(choice)[0].model.name,
    stream(request, sink) {
      if (others.length === 0 && request.choice === undefined) return first.stream(request, sink);
      return new FallingRun(orderOf(request.choice), request, sink, leftOut);
    },
    async close(): Promise<void> {
      await Promise.all(models.map((model) => model.close()));
    },
  };
}
