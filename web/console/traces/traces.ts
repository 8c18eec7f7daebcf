/** Traces as pages have them: read from the interface, from its stream, or from a file; steps in one story by their times. */
import type { MachineGraph } from '../../../machines/graph.ts';
import type { FrameRun, Kept, KeptEvent, TraceStep } from '../../../machines/trace.ts';
import type { TraceFile } from '../../../machines/trace-file.ts';
import { activeOf } from '../machines/highlights.ts';

export interface TracedStep extends TraceStep {
  /** The process that committed it; '' where it is not known. */
  readonly node: string;
}

export interface Trace {
  readonly machine: string;
  readonly version: string;
  readonly instance: string;
  readonly definition?: MachineGraph;
  readonly input?: Kept;
  readonly requestId: string | null;
  readonly steps: readonly TracedStep[];
}

interface WireStep {
  readonly at_ms: number;
  readonly event: KeptEvent;
  readonly from: string;
  readonly to: string;
  readonly effects: readonly KeptEvent[];
  readonly committed?: { readonly commit: number; readonly at_ms: number; readonly frames: readonly FrameRun[] };
}

export interface TracesAnswer {
  readonly traces: readonly {
    readonly request_id: string | null;
    readonly nodes: readonly string[];
    readonly trace: {
      readonly machine: string;
      readonly version: string;
      readonly instance: string;
      readonly definition?: MachineGraph;
      readonly input?: Kept;
      readonly steps: readonly WireStep[];
    };
  }[];
}

export interface StreamedStep extends WireStep {
  readonly machine: string;
  readonly instance: string;
  readonly version: string;
  readonly step: number;
  readonly node: string;
}

function stepOf({ at_ms: atMs, event, from, to, effects, committed }: WireStep, node: string): TracedStep {
  const step = { atMs, event, from, to, effects, node };
  if (committed === undefined) return step;
  const { commit, at_ms: committedAtMs, frames } = committed;
  return { ...step, committed: { commit, atMs: committedAtMs, frames } };
}

export function tracesOf({ traces }: TracesAnswer): Trace[] {
  return traces.map(({ request_id: requestId, nodes, trace: { steps, ...about } }) => ({
    ...about,
    requestId,
    steps: steps.map((step, index) => stepOf(step, nodes[index] ?? '')),
  }));
}

export function traceOfFile({ steps, ...about }: TraceFile): Trace {
  return { ...about, requestId: null, steps: steps.map((step) => ({ ...step, node: '' })) };
}

/** The traces with one more step; one that is there already changes nothing, because a stream begins with what is kept. */
export function withStep(traces: readonly Trace[], streamed: StreamedStep): readonly Trace[] {
  const { machine, instance, version, step, node } = streamed;
  const found = traces.find((trace) => trace.machine === machine && trace.instance === instance);
  if (found === undefined) {
    return step === 1 ? [...traces, { machine, version, instance, requestId: null, steps: [stepOf(streamed, node)] }] : traces;
  }
  if (step !== found.steps.length + 1) return traces;
  return traces.map((trace) => (trace === found ? { ...trace, steps: [...trace.steps, stepOf(streamed, node)] } : trace));
}

export interface Scene {
  readonly trace: Trace;
  readonly index: number;
  readonly step: TracedStep;
}

export function storyOf(traces: readonly Trace[]): readonly Scene[] {
  return traces
    .flatMap((trace) => trace.steps.map((step, index): Scene => ({ trace, index, step })))
    .sort((one, other) => one.step.atMs - other.step.atMs);
}

export type Places = ReadonlyMap<string, readonly string[]>;

/** Ids begin alike: their ends tell them apart. */
export const NAME_CHARS = 6;

export function placesOf(story: readonly Scene[], at: number): Places {
  const machine = story[at]?.trace.machine;
  const states = new Map<string, string>();
  for (const { trace, step } of story.slice(0, at + 1)) if (trace.machine === machine) states.set(trace.instance, step.to);
  const places = new Map<string, string[]>();
  if (states.size < 2) return places;
  for (const [instance, path] of states) {
    for (const state of activeOf(path)) places.set(state, [...(places.get(state) ?? []), instance.slice(-NAME_CHARS)]);
  }
  return places;
}

/** A silence is shown no longer than this; people take minutes to press a button, and nothing happens meanwhile. */
const SILENCE_MAX_MS = 3_000;
/** Steps of one millisecond are told apart all the same. */
const APART_MS = 2;

/** `timesMs` in ascending order. */
export function edgesOfTime(timesMs: readonly number[], width: number) {
  let sum = 0;
  const raw = timesMs.map((at, index) => {
    const since = at - (timesMs[index - 1] ?? at);
    const isCut = since > SILENCE_MAX_MS;
    const before = sum;
    if (index > 0) sum += Math.min(since, SILENCE_MAX_MS) + APART_MS;
    return { place: sum, ...(isCut ? { gap: (before + sum) / 2 } : {}) };
  });
  const scale = sum === 0 ? 0 : width / sum;
  return { places: raw.map(({ place }) => place * scale), gaps: raw.flatMap(({ gap }) => (gap === undefined ? [] : [gap * scale])) };
}
