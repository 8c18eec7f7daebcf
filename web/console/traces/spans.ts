/** Where the time of traces went, as rows of a waterfall: phases of turns, work of calls, visits of states, and what was kept on disk. */
import { PHASE_WORDS, type PhaseKind, phasesOf } from './phases.ts';
import { changedRegions, NAME_CHARS, type Scene, type Trace, wayWords } from './traces.ts';

export type SpanKind = PhaseKind | 'commit';

export interface Bar {
  /** Unix time, and how long. */
  readonly fromMs: number;
  readonly tookMs: number;
}

export interface Span {
  readonly kind: SpanKind;
  readonly name: string;
  /** Behind its name. */
  readonly note: string;
  readonly bars: readonly [Bar, ...Bar[]];
  /** What it says when it is opened. */
  readonly facts: readonly (readonly [what: string, words: string])[];
}

/** What the time in a state goes to; a machine that waits is being admitted. */
const STATES: Readonly<Record<string, SpanKind>> = {
  answering: 'model',
  indexing: 'find',
  open: 'admit',
  requested: 'admit',
  pending: 'admit',
};

/** In these somebody is waited for: it is not the service's time, and would hide it. */
const isWait = (machine: string, state: string) =>
  (machine === 'chat-turn' || machine === 'invocation') &&
  (state.startsWith('awaiting') || state.startsWith('pending') || state === 'confirmed');

export function tookOf({ bars }: Pick<Span, 'bars'>): number {
  return bars.reduce((sum, { tookMs }) => sum + tookMs, 0);
}

function phaseSpans(trace: Trace): Span[] {
  const phases = phasesOf(trace);
  const hasRounds = phases.some(({ round }) => round > 1);
  return phases.map(({ kind, round, fromMs, tookMs, fallbacks, tokens }) => ({
    kind,
    name: PHASE_WORDS[kind],
    note: [...(hasRounds && round > 0 ? [`round ${round}`] : []), ...(fallbacks === undefined ? [] : [`after ${fallbacks}`])].join(', '),
    bars: [{ fromMs, tookMs }],
    facts: [...(round > 0 ? [['Round', String(round)] as const] : []), ...(tokens === undefined ? [] : [['Tokens', tokens] as const])],
  }));
}

/** The time that led to each change of a region: of its steps a panel says only when they are done. */
function regionSpans(changes: Trace['steps']): Span[] {
  return changes.slice(1).map((step, at) => {
    const fromMs = changes[at]?.atMs ?? step.atMs;
    const facts = [
      ['Led to', wayWords(step)],
      ['Ended by', step.event.type],
    ] as const;
    const name = changedRegions(step)
      .map(({ region }) => region)
      .join(', ');
    return { kind: 'call', name, note: '', bars: [{ fromMs, tookMs: step.atMs - fromMs }], facts };
  });
}

/** One for each visit of a state, as far as the trace goes. */
function visitSpans({ machine, steps }: Trace): Span[] {
  const changes = steps.filter(({ from, to }, at) => at === 0 || from !== to);
  if (changes[0]?.to.startsWith('{')) return regionSpans(changes);
  return changes.flatMap((step, at): Span[] => {
    const next = changes[at + 1];
    const tookMs = (next ?? steps.at(-1) ?? step).atMs - step.atMs;
    if ((next === undefined && tookMs === 0) || isWait(machine, step.to)) return [];
    const facts = [
      ['Began by', step.event.type],
      ['Ended by', next?.event.type ?? 'nothing yet'],
    ] as const;
    const note = [...(machine === 'invocation' ? ['a call'] : []), ...(next === undefined ? ['so far'] : [])].join(', ');
    return [{ kind: STATES[step.to.split('.')[0] ?? ''] ?? 'call', name: step.to, note, bars: [{ fromMs: step.atMs, tookMs }], facts }];
  });
}

/** All commits of an instance as one row: each is short, and there are many. */
function commitSpan({ steps }: Trace): Span[] {
  const kept = steps.flatMap(({ atMs, event, committed }, at) =>
    committed === undefined || steps[at + 1]?.committed?.commit === committed.commit
      ? []
      : [{ fromMs: atMs, tookMs: Math.max(0, committed.atMs - atMs), event: event.type, commit: committed.commit }],
  );
  const [first, ...others] = kept;
  if (first === undefined) return [];
  const facts = kept.map(({ commit, event, tookMs }) => [`Commit ${commit}`, `${event}, ${msWords(tookMs)}`] as const);
  return [{ kind: 'commit', name: 'Saved', note: kept.length === 1 ? '' : `${kept.length} writes`, bars: [first, ...others], facts }];
}

/** Where a row stands; commits go on all the time, and stand at their last. */
function beginOf({ kind, bars }: Span): number {
  return (kind === 'commit' ? (bars.at(-1) ?? bars[0]) : bars[0]).fromMs;
}

/** In the order of their beginnings; of several turns one after the other. */
export function spansOf(traces: readonly Trace[]): readonly Span[] {
  const turns = traces.filter(({ machine }) => machine === 'chat-turn').length;
  return traces
    .flatMap((trace) => {
      const phases = trace.machine === 'chat-turn' ? phaseSpans(trace) : [];
      const own = [...(phases.length === 0 ? visitSpans(trace) : phases), ...(trace.machine === 'invocation' ? [] : commitSpan(trace))];
      const of = turns > 1 ? [`${trace.machine === 'chat-turn' ? 'turn' : 'call'} ${trace.instance.slice(-NAME_CHARS)}`] : [];
      return own.map((span) => ({ ...span, note: [span.note, ...of].filter((words) => words !== '').join(', ') }));
    })
    .sort((one, other) => beginOf(one) - beginOf(other));
}

/** `402 ms`, `1.84 s`, `2 min 5 s`, `3 h 4 min`. */
export function msWords(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${(ms / 1_000).toFixed(2)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A silence longer than this is cut: people take minutes to press a button, and nothing happens meanwhile. */
const SILENCE_MAX_MS = 1_000;
/** A cut takes this share of the scale. */
const CUT_SHARE = 0.05;
const TICKS_MAX = 6;
/** Words of two ticks need so much of the scale. */
const TICK_APART = 0.09;

export interface Scale {
  /** 0 to 1. */
  placeOf(ms: number): number;
  /** How long after the beginning a time is, in words. */
  clockOf(ms: number): string;
  /** Where a silence is cut out, and how long all of them are. */
  readonly cuts: readonly number[];
  readonly cutMs: number;
  readonly ticks: readonly { readonly place: number; readonly words: string }[];
  readonly wholeMs: number;
}

interface Piece {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Stretches in which something went on, silences between them bridged where they are short. */
function piecesOf(spans: readonly Span[], moments: readonly number[]): Piece[] {
  const all = [
    ...spans.flatMap(({ bars }) => bars.map(({ fromMs, tookMs }) => ({ fromMs, toMs: fromMs + tookMs }))),
    ...moments.map((ms) => ({ fromMs: ms, toMs: ms })),
  ].sort((one, other) => one.fromMs - other.fromMs);
  const pieces: { fromMs: number; toMs: number }[] = [];
  for (const { fromMs, toMs } of all) {
    const last = pieces.at(-1);
    if (last === undefined || fromMs - last.toMs > SILENCE_MAX_MS) pieces.push({ fromMs, toMs });
    else last.toMs = Math.max(last.toMs, toMs);
  }
  return pieces;
}

/** 1, 2 or 5 times a power of ten, so that at most `TICKS_MAX` steps make the whole. */
function tickStep(wholeMs: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(wholeMs / TICKS_MAX, 1)));
  return [1, 2, 5, 10].map((times) => times * power).find((step) => wholeMs / step <= TICKS_MAX) ?? wholeMs;
}

/** The one clock of a story: its bars, its steps and its playhead have their places on it, and its zero is the earliest of them. */
export function scaleOf(spans: readonly Span[], story: readonly Scene[] = []): Scale {
  const moments = story.map(({ step }) => step.atMs);
  const pieces = piecesOf(spans, moments);
  const startMs = pieces[0]?.fromMs ?? 0;
  const goingMs = Math.max(
    1,
    pieces.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0),
  );
  const cutAs = goingMs * CUT_SHARE;
  const shownMs = goingMs + cutAs * (pieces.length - 1);
  const begins = pieces.map((_, at) => pieces.slice(0, at).reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs + cutAs, 0));
  const placeOf = (ms: number) => {
    const at = Math.max(
      0,
      pieces.findLastIndex(({ fromMs }) => fromMs <= ms),
    );
    const piece = pieces[at] ?? { fromMs: 0, toMs: 0 };
    return ((begins[at] ?? 0) + Math.min(Math.max(ms, piece.fromMs), piece.toMs) - piece.fromMs) / shownMs;
  };
  const clockOf = (ms: number) => msWords(ms - startMs);
  const step = tickStep(goingMs);
  const ticks = pieces.flatMap(({ fromMs, toMs }, at) => {
    const own = Array.from({ length: Math.floor((toMs - fromMs) / step) + 1 }, (_, nth) => fromMs + nth * step);
    return (pieces.length > TICKS_MAX && at > 0 ? [] : own).map((ms) => ({ place: placeOf(ms), words: clockOf(ms) }));
  });
  const apart: { place: number; words: string }[] = [];
  for (const tick of ticks) if (tick.place - (apart.at(-1)?.place ?? -1) >= TICK_APART) apart.push(tick);
  const cutMs = pieces.slice(1).reduce((sum, { fromMs }, at) => sum + fromMs - (pieces[at]?.toMs ?? fromMs), 0);
  const cuts = begins.slice(1).map((begin) => (begin - cutAs / 2) / shownMs);
  return { placeOf, clockOf, cuts, cutMs, ticks: apart, wholeMs: goingMs };
}
