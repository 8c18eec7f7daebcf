/** Owns the counters of a run: turns, latency histograms, errors by code, faults of streams, each with an example request id. */
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import type { Fault, FaultKind } from '../../tools/turn-checker/faults.ts';
import { type Failure, shown } from './failure.ts';
import type { VisitKind } from './slo.ts';
import { keepsSlo, MEASURES, type Measure, type Slo } from './slo.ts';

export interface Example {
  readonly requestId: string;
  readonly message: string;
}

export interface Counted {
  count: number;
  readonly example: Example;
}

export interface EndedTurn {
  readonly kind: VisitKind;
  readonly requestId: string;
  /** It started during the ramp, so that percentiles and goodput leave it out. */
  readonly isRamp: boolean;
  readonly taken: Readonly<Partial<Record<Measure, number>>>;
  readonly failures: readonly Failure[];
  readonly faults: readonly Fault[];
  /** The connection broke, and the turn was whole after re-attaching. */
  readonly hasRecovered: boolean;
}

export type Tick = ReturnType<typeof newTick>;

/** Microseconds up to an hour, with three significant figures. */
const HISTOGRAM = { lowest: 1, highest: 3_600_000_000, figures: 3 } as const;
/** Bounds the memory for codes that a proxy makes up. */
const CODES_MAX = 200;
/** The longest code of the service has half of this. */
const CODE_MAX_CHARS = 80;
const MESSAGE_MAX_CHARS = 300;
const OTHERS = 'others';

function count(into: Map<string, Counted>, given: string, example: () => Example): void {
  const name = shown(given, CODE_MAX_CHARS);
  const known = into.get(name) ?? (into.size >= CODES_MAX ? into.get(OTHERS) : undefined);
  if (known !== undefined) known.count += 1;
  else into.set(into.size >= CODES_MAX ? OTHERS : name, { count: 1, example: example() });
}

/** `peakOpen`: the most streams that were open at once. */
function newTick() {
  return { begun: 0, ended: 0, good: 0, failed: 0, chars: 0, peakOpen: 0, firstDeltasMs: [] as number[] };
}

export class Tally {
  readonly #slo: Slo;
  readonly times: Readonly<Record<Measure, RecordableHistogram>>;
  /** Reads of a conversation's history, from their time to their last byte. */
  readonly historyReads: RecordableHistogram = createHistogram(HISTOGRAM);
  /** Delay between the scheduled and the actual start of visits: the load tester's own. */
  readonly late: RecordableHistogram = createHistogram(HISTOGRAM);
  readonly errors = new Map<string, Counted>();
  readonly faults = new Map<FaultKind, Counted>();
  readonly visits = new Map<VisitKind, { begun: number; ended: number }>();
  readonly withoutCall = new Map<VisitKind, number>();
  readonly pauses: { count: number; longestMs: number; example: Example | undefined } = { count: 0, longestMs: 0, example: undefined };
  requests = 0;
  notStartedCount = 0;
  open = 0;
  peakOpen = 0;
  begun = 0;
  ended = 0;
  whole = 0;
  recovered = 0;
  faulty = 0;
  events = 0;
  chars = 0;
  /** Turns that count for the goodput, and the good ones. */
  judged = 0;
  good = 0;
  #tick = newTick();

  constructor(slo: Slo) {
    this.#slo = slo;
    this.times = Object.fromEntries(MEASURES.map((measure) => [measure, createHistogram(HISTOGRAM)])) as Record<
      Measure,
      RecordableHistogram
    >;
  }

  visitBegan(kind: VisitKind, lateMs: number): void {
    record(this.late, lateMs);
    this.#visit(kind).begun += 1;
  }

  notStarted(message: string, isRamp: boolean): void {
    this.failure({ code: 'not_started', message }, 'none');
    if (!isRamp) this.notStartedCount += 1;
  }

  /** A request beside the turns failed: a confirmation, a history. The goodput counts it as a turn that was not good. */
  asideFailed(failure: Failure, requestId: string, isRamp: boolean): void {
    this.failure(failure, requestId);
    if (!isRamp) this.judged += 1;
  }

  visitEnded(kind: VisitKind): void {
    this.#visit(kind).ended += 1;
  }

  calledNoAction(kind: VisitKind): void {
    this.withoutCall.set(kind, (this.withoutCall.get(kind) ?? 0) + 1);
  }

  turnBegan(): void {
    this.begun += 1;
    this.#tick.begun += 1;
    this.open += 1;
    this.peakOpen = Math.max(this.peakOpen, this.open);
    this.#tick.peakOpen = Math.max(this.#tick.peakOpen, this.open);
  }

  delta(chars: number): void {
    this.chars += chars;
    this.#tick.chars += chars;
  }

  /** Called at once, for the live view. */
  firstDelta(ms: number): void {
    this.#tick.firstDeltasMs.push(ms);
  }

  between(ms: number, isRamp: boolean): void {
    if (!isRamp) record(this.times.between_deltas, ms);
  }

  historyRead(ms: number, isRamp: boolean): void {
    if (!isRamp) record(this.historyReads, ms);
  }

  pause(ms: number, requestId: string, seq: number): void {
    this.pauses.count += 1;
    if (ms <= this.pauses.longestMs) return;
    this.pauses.longestMs = ms;
    this.pauses.example = { requestId, message: `${Math.round(ms)} ms before event ${seq}` };
  }

  failure({ code, message }: Failure, requestId: string): void {
    count(this.errors, code, () => ({ requestId, message: shown(message, MESSAGE_MAX_CHARS) }));
    this.#tick.failed += 1;
  }

  turnEnded(turn: EndedTurn): void {
    this.open -= 1;
    this.ended += 1;
    this.#tick.ended += 1;
    for (const failure of turn.failures) this.failure(failure, turn.requestId);
    for (const { kind, seq, problem } of turn.faults) {
      const at = seq === undefined ? '' : `event ${seq}: `;
      count(this.faults as Map<string, Counted>, kind, () => ({
        requestId: turn.requestId,
        message: shown(`${at}${problem}`, MESSAGE_MAX_CHARS),
      }));
    }
    const isWhole = turn.failures.length === 0 && turn.faults.length === 0;
    if (turn.faults.length > 0) this.faulty += 1;
    if (turn.hasRecovered && turn.faults.length === 0) this.recovered += 1;
    if (isWhole) this.whole += 1;
    const isGood = isWhole && keepsSlo(this.#slo, turn.taken);
    if (isGood) this.#tick.good += 1;
    if (turn.isRamp) return;
    this.judged += 1;
    if (isGood) this.good += 1;
    // The times of failed turns would measure how fast the service fails.
    if (!isWhole) return;
    for (const measure of MEASURES) {
      const ms = turn.taken[measure];
      if (ms !== undefined && measure !== 'between_deltas') record(this.times[measure], ms);
    }
  }

  takeTick(): Tick {
    const tick = this.#tick;
    this.#tick = newTick();
    this.#tick.peakOpen = this.open;
    return tick;
  }

  #visit(kind: VisitKind): { begun: number; ended: number } {
    let visit = this.visits.get(kind);
    if (visit === undefined) {
      visit = { begun: 0, ended: 0 };
      this.visits.set(kind, visit);
    }
    return visit;
  }
}

function record(histogram: RecordableHistogram, ms: number): void {
  histogram.record(Math.min(HISTOGRAM.highest, Math.max(1, Math.round(ms * 1_000))));
}
