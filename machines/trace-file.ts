/** A trace as a file: everything that a replay needs, in JSON. Owns the format; whatever is in a file from outside is hostile text. */
import * as v from 'valibot';
import type { MachineGraph } from './graph.ts';
import type { Kept, KeptEvent, TraceStep } from './trace.ts';

/** `format` and `format_version` of every such file. */
const FORMAT = 'machine-trace';
const FORMAT_VERSION = 1;

/** A turn takes some kilobytes and a setup session of a day some hundreds; more is no trace of this service. */
export const TRACE_FILE_MAX_BYTES = 16_000_000;
const STEPS_MAX = 100_000;
const EFFECTS_MAX = 64;
/** Runs of frames: an answer has at most 256 blocks, of some runs each. */
const FRAMES_MAX = 2_000;
const NAME_MAX = 200;
/** States of the panel's thirteen regions are some hundred characters. */
const STATE_MAX = 4_000;
/** Deeper than any payload that is kept. */
const DEPTH_MAX = 8;

/** A trace and the machine that made it. */
export interface TraceFile {
  readonly machine: string;
  /** 16 hex digits of its definition. */
  readonly version: string;
  readonly instance: string;
  /** The machine as it was. A file that was made by hand may lack it. */
  readonly definition?: MachineGraph;
  readonly input?: Kept;
  readonly steps: readonly TraceStep[];
}

/** The file is no trace, or not a whole one; the message is one sentence for people. */
export class TraceFileError extends Error {}

function isKept(value: unknown, depth = 0): value is Kept {
  if (value === null || typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string') return true;
  if (typeof value !== 'object' || depth >= DEPTH_MAX) return false;
  return Object.values(value).every((field) => isKept(field, depth + 1));
}

const name = (what: string) => v.pipe(v.string(`${what} is missing`), v.maxLength(NAME_MAX, `${what} is too long`));
const state = (what: string) =>
  v.pipe(v.string(`${what} is missing`), v.minLength(1, `${what} is empty`), v.maxLength(STATE_MAX, `${what} is too long`));

const event = v.custom<KeptEvent>(
  (value) => typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string' && isKept(value),
  'an event or effect has no type, or holds what no trace does',
);

const whole = v.pipe(v.number('a number is missing'), v.safeInteger('a number is no whole one'), v.minValue(0, 'a number is below 0'));

const committed = v.strictObject(
  {
    commit: whole,
    at_ms: whole,
    frames: v.pipe(
      v.array(v.strictObject({ type: name('the type of a frame'), seq: whole, count: whole }, 'a frame has another field, or lacks one')),
      v.maxLength(FRAMES_MAX, 'it has too many frames'),
    ),
  },
  'its commit has another field, or lacks one',
);

const step = v.strictObject(
  {
    at_ms: v.pipe(v.number('its time is missing'), v.safeInteger('its time is no whole number of milliseconds')),
    event,
    from: state('the state before'),
    to: state('the state after'),
    effects: v.pipe(v.array(event, 'its effects are missing'), v.maxLength(EFFECTS_MAX, 'it has too many effects')),
    committed: v.optional(committed),
  },
  'it is no step, or has a field that steps do not have',
);

const graph = v.custom<MachineGraph>(
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Array.isArray((value as MachineGraph).nodes) &&
    Array.isArray((value as MachineGraph).edges),
  'the definition is no machine',
);

const file = v.strictObject(
  {
    format: v.literal(FORMAT),
    format_version: v.literal(FORMAT_VERSION),
    machine: name('the name of the machine'),
    version: v.pipe(v.string('the version is missing'), v.regex(/^[0-9a-f]{16}$/, 'the version is not 16 hex digits')),
    instance: name('the id of the instance'),
    definition: v.optional(graph),
    input: v.optional(v.custom<Kept>((value) => isKept(value), 'the input holds what no trace does')),
    steps: v.pipe(
      v.array(step, 'the steps are missing'),
      v.minLength(1, 'it has no steps'),
      v.maxLength(STEPS_MAX, `it has more than ${STEPS_MAX} steps`),
    ),
  },
  'it has a field that traces do not have, or lacks one',
);

/** Where in the file an issue is, for people: `step 4: `; '' outside the steps. */
function placeOf(path: readonly { readonly key?: unknown }[] | undefined): string {
  const [first, second] = path ?? [];
  return first?.key === 'steps' && typeof second?.key === 'number' ? `step ${second.key + 1}: ` : '';
}

/** Steps follow each other: each begins where the one before has ended. */
function requireChain(steps: readonly TraceStep[]): void {
  for (const [index, { from }] of steps.entries()) {
    const before = steps[index - 1];
    if (before === undefined || before.to === from) continue;
    throw new TraceFileError(`The trace is damaged: step ${index + 1} begins in another state than step ${index} has ended in.`);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new TraceFileError('The file is no trace: it is not JSON.');
  }
}

function stepOf({ at_ms: atMs, committed: kept, ...rest }: v.InferOutput<typeof step>): TraceStep {
  if (kept === undefined) return { atMs, ...rest };
  const { commit, at_ms: committedAtMs, frames } = kept;
  return { atMs, ...rest, committed: { commit, atMs: committedAtMs, frames } };
}

export function stepJson({ atMs, event: sent, from, to, effects, committed: kept }: TraceStep) {
  return {
    ...{ at_ms: atMs, event: sent, from, to, effects },
    ...(kept === undefined ? {} : { committed: { commit: kept.commit, at_ms: kept.atMs, frames: kept.frames } }),
  };
}

/** The trace in the text of a file. @throws TraceFileError with one sentence about the first thing that is wrong. */
export function readTraceFile(text: string): TraceFile {
  if (text.length > TRACE_FILE_MAX_BYTES)
    throw new TraceFileError(`The file is no trace: it has more than ${TRACE_FILE_MAX_BYTES / 1_000_000} MB.`);
  const json = parsed(text);
  const given = (json ?? {}) as { readonly format?: unknown; readonly format_version?: unknown };
  if (given.format !== FORMAT) throw new TraceFileError(`The file is no trace: its format is not "${FORMAT}".`);
  if (given.format_version !== FORMAT_VERSION) {
    throw new TraceFileError(`The trace is of another release: this one reads version ${FORMAT_VERSION} of the format.`);
  }
  const read = v.safeParse(file, json);
  if (!read.success) {
    const [issue] = read.issues;
    throw new TraceFileError(`The trace is damaged: ${placeOf(issue.path)}${issue.message}.`);
  }
  const { machine, version, instance, definition, input } = read.output;
  const steps = read.output.steps.map(stepOf);
  requireChain(steps);
  return {
    machine,
    version,
    instance,
    ...(definition === undefined ? {} : { definition }),
    ...(input === undefined ? {} : { input }),
    steps,
  };
}

/** The JSON of a file, for whoever sends it in something larger. */
export function traceFileJson({ steps, machine, version, instance, definition, input }: TraceFile) {
  return {
    ...{ format: FORMAT, format_version: FORMAT_VERSION, machine, version, instance },
    ...(definition === undefined ? {} : { definition }),
    ...(input === undefined ? {} : { input }),
    steps: steps.map(stepJson),
  };
}

/** The text of a file. A step a line, so that two traces can be compared by any tool. */
export function writeTraceFile(trace: TraceFile): string {
  const { steps, ...head } = traceFileJson(trace);
  const lines = steps.map((each) => JSON.stringify(each));
  return `${JSON.stringify(head).slice(0, -1)},\n"steps":[\n${lines.join(',\n')}\n]}\n`;
}
