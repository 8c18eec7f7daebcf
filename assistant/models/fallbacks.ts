/**
 * Several models as one (MODEL-41): a round that fails before anything of it was heard is asked of the next in the list. Owns the breaker of each:
 * a model that keeps failing is passed over, and one round at a time looks whether it is back.
 */
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

interface Link {
  readonly model: Model;
  readonly breaker: Breaker;
}

/** A round on its way through the list. */
class FallingRun implements ModelRun {
  readonly #request: ModelRequest;
  readonly #sink: ModelSink;
  readonly #left: Link[];
  #run: ModelRun | undefined;
  #asked: Link | undefined;
  #isHeard = false;
  #isPaused = false;

  constructor(links: readonly Link[], first: Link, request: ModelRequest, sink: ModelSink) {
    this.#request = request;
    this.#sink = sink;
    this.#left = [...links];
    // Where all are passed over, the first is asked as if it were alone.
    this.#ask(this.#nextLink() ?? first);
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

  #ask(link: Link): void {
    this.#asked = link;
    this.#run = link.model.stream(this.#request, this.#sinkOf(link));
    if (this.#isPaused) this.#run.pause();
  }

  #heard({ breaker }: Link): void {
    this.#isHeard = true;
    breaker.heard();
  }

  #failed(link: Link, failure: ModelFailure): void {
    this.#asked = undefined;
    const isOfRound = !isOfModel(failure);
    if (isOfRound) link.breaker.givenUp();
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
        link.breaker.answered();
        sink.finished({ ...result, model: name });
      },
      failed: (failure) => this.#failed(link, { ...failure, ...about }),
    };
  }
}

/** `models`: the first choice first. Has its name; one model alone stays as it is. */
export function withFallbacks(models: readonly [Model, ...Model[]], nowMs: () => number = () => performance.now()): Model {
  const [first, ...others] = models;
  if (others.length === 0) return first;
  const linkOf = (model: Model): Link => ({ model, breaker: new Breaker(nowMs) });
  const firstLink = linkOf(first);
  const links = [firstLink, ...others.map(linkOf)];
  return {
    name: first.name,
    stream: (request, sink) => new FallingRun(links, firstLink, request, sink),
    async close(): Promise<void> {
      await Promise.all(models.map((model) => model.close()));
    },
  };
}
