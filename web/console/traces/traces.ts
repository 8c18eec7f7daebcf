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
  /** What the person said first; '' where that is not known. */
  readonly words?: string;
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

/** What a step changed in a machine of regions, the last region first. */
export function changedRegions({
  from,
  to,
}: TraceStep): readonly { readonly region: string; readonly from: string; readonly to: string }[] {
  const before = new Set(activeOf(from));
  const regionOf = (state: string) => state.slice(0, state.indexOf('.'));
  const inside = (state: string | undefined) => state?.slice(state.indexOf('.') + 1) ?? '';
  if (!to.startsWith('{')) return [];
  return activeOf(to)
    .filter((state) => !before.has(state))
    .map((state) => {
      const region = regionOf(state);
      return { region, from: inside([...before].find((one) => regionOf(one) === region)), to: inside(state) };
    })
    .reverse();
}

/** `discover: pending → active`, `stays answering`, `new → answering`. */
export function wayWords(step: TraceStep): string {
  const { from, to } = step;
  if (!to.startsWith('{')) return from === to ? `stays ${to}` : `${from} → ${to}`;
  const changed = changedRegions(step);
  if (changed.length === 0) return 'no step changes';
  return changed.map((one) => `${one.region}: ${one.from} → ${one.to}`).join(', ');
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
