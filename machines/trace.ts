/**
 * The trace of an instance of a machine: its steps as they are kept. Owns what of a payload may be kept (TRACE-3), the bounds, and the packed
 * text that a commit writes. A payload is reduced by a list of what is kept, so that a field that somebody adds is left out until it is listed.
 */

/** A value as a trace keeps it: JSON in which whatever somebody wrote is replaced by `WRITTEN`. */
export type Kept = null | boolean | number | string | readonly Kept[] | { readonly [name: string]: Kept };

/** An event or an effect as a trace keeps it. */
export interface KeptEvent {
  readonly type: string;
  readonly [name: string]: Kept;
}

/** A step as the machine made it, with payloads as they were: not to be kept. */
export interface MadeStep {
  /** Unix time. */
  readonly atMs: number;
  readonly event: { readonly type: string };
  /** The machine's context before. */
  readonly context: unknown;
  /** As in `Step`. */
  readonly from: string;
  readonly to: string;
  readonly effects: readonly { readonly type: string }[];
}

export interface FrameRun {
  readonly type: string;
  /** The number of the first of them. */
  readonly seq: number;
  readonly count: number;
}

/** The commit that kept a step. */
export interface StepCommit {
  /** 1 for the first commit of the instance; one commit may keep several steps. */
  readonly commit: number;
  /** Unix time. */
  readonly atMs: number;
  /** What a turn's last attempt sent since the step before, the last of it after the commit. */
  readonly frames: readonly FrameRun[];
}

export interface TraceStep {
  readonly atMs: number;
  readonly event: KeptEvent;
  readonly from: string;
  readonly to: string;
  readonly effects: readonly KeptEvent[];
  /** What rows tell of its commit; absent where nobody looked. */
  readonly committed?: StepCommit;
}

/** Steps that one commit wrote, in their order. */
export interface TracePiece {
  /** What the machine began with; only in the first piece of one that takes an input. */
  readonly input?: Kept;
  readonly steps: readonly TraceStep[];
}

/** Stands for a text that is not kept. Reduced once more it stays what it is, so that a replay of what was kept reduces to the same. */
export const WRITTEN = '[text]';
/** The same where the machine's context has another text at the same place: guards compare the two, as those of an agent's names do. */
const OTHER_WRITTEN = '[other text]';

/** Fields whose texts are words of the service itself or ids that it minted. All other texts may be a person's, an agent's or a backend's. */
const OWN_WORDS: ReadonlySet<string> = new Set([
  'type',
  'code',
  'status',
  'outcome',
  'step',
  'blockId',
  'kind',
  'risk',
  'executor',
  'answeredBy',
  'askedFirst',
]);
/** A field of the list is trusted for what it holds, and still only if it looks like it. */
const WORD = /^[A-Za-z0-9_.:-]{0,64}$/;

/** Payloads of today's machines are some levels deep with a few fields each; these keep a hostile or a future one small. */
const DEPTH_MAX = 4;
const FIELDS_MAX = 16;
const ITEMS_MAX = 16;
/** A step has few effects: the panel's thirteen regions may each have one. */
const EFFECTS_MAX = 16;
/** A commit has at most the 256 blocks of an answer and some rounds; of more steps the first are kept, and the piece shows that it was cut. */
const STEPS_MAX = 320;

/** `known`: what the machine's context has at the same place. */
function keptValue(value: unknown, name: string, depth: number, known?: unknown): Kept {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'string') return OWN_WORDS.has(name) && WORD.test(value) ? value : standIn(value, known);
  if (typeof value !== 'object' || depth >= DEPTH_MAX) return null;
  if (Array.isArray(value)) return value.slice(0, ITEMS_MAX).map((item) => keptValue(item, name, depth + 1));
  return keptFields(value, depth, known);
}

function standIn(text: string, known: unknown): string {
  return typeof known === 'string' && known !== text ? OTHER_WRITTEN : WRITTEN;
}

function keptFields(value: object, depth: number, known?: unknown): Record<string, Kept> {
  const around = typeof known === 'object' && known !== null ? (known as Readonly<Record<string, unknown>>) : undefined;
  const fields: Record<string, Kept> = {};
  let count = 0;
  for (const name in value) {
    if (count >= FIELDS_MAX) break;
    const field = (value as Readonly<Record<string, unknown>>)[name];
    // Names come from the machines' own types, but values of `unknown` payloads may bring any.
    if (field === undefined || !WORD.test(name) || name === '__proto__') continue;
    fields[name] = keptValue(field, name, depth + 1, around?.[name]);
    count += 1;
  }
  return fields;
}

export function keptEvent(event: { readonly type: string }, context?: unknown): KeptEvent {
  const kept = keptFields(event, 0, context);
  kept.type = WORD.test(event.type) ? event.type : WRITTEN;
  return kept as KeptEvent;
}

export function keptInput(input: unknown): Kept {
  return keptValue(input, '', 0);
}

export function keptEffects(effects: readonly { readonly type: string }[]): KeptEvent[] {
  return effects.slice(0, EFFECTS_MAX).map((effect) => keptEvent(effect));
}

/** An event without a payload is its type alone. */
type PackedEvent = string | KeptEvent;
/** Milliseconds since the piece began, the event, then the new state, or 0 where it stayed, and effects, where there are any. */
type PackedStep = readonly [sinceMs: number, event: PackedEvent, to: string | 0, ...effects: PackedEvent[]];

interface PackedPiece {
  readonly at: number;
  readonly from: string;
  readonly input?: Kept;
  readonly steps: readonly PackedStep[];
}

function packedEvent(event: { readonly type: string }, context?: unknown): PackedEvent {
  const kept = keptEvent(event, context);
  for (const name in kept) if (name !== 'type') return kept;
  return kept.type;
}

function unpackedEvent(event: PackedEvent): KeptEvent {
  return typeof event === 'string' ? { type: event } : event;
}

function packedStep({ atMs, context, effects, event, from, to }: MadeStep, firstMs: number): PackedStep {
  const packed: [number, PackedEvent, string | 0, ...PackedEvent[]] = [atMs - firstMs, packedEvent(event, context), to === from ? 0 : to];
  for (let at = 0; at < effects.length && at < EFFECTS_MAX; at++) packed.push(packedEvent(effects[at] as MadeStep['effects'][number]));
  return packed;
}

/** Steps as text for one commit, null when there are none. A state is written where it changes, because most steps of a turn leave it. */
export function packSteps(made: readonly MadeStep[], input?: unknown): string | null {
  const [first] = made;
  if (first === undefined) return null;
  const steps = made.slice(0, STEPS_MAX).map((step) => packedStep(step, first.atMs));
  const { atMs: at, from } = first;
  const piece: PackedPiece = input === undefined ? { at, from, steps } : { at, from, input: keptInput(input), steps };
  return JSON.stringify(piece);
}

/** The steps of a packed piece. @throws SyntaxError on text that `packSteps` did not make. */
export function unpackSteps(packed: string): TracePiece {
  const { at, from, input, steps } = JSON.parse(packed) as PackedPiece;
  let state = from;
  const unpacked = steps.map(([sinceMs, event, to, ...effects]): TraceStep => {
    const before = state;
    if (to !== 0) state = to;
    return { atMs: at + sinceMs, event: unpackedEvent(event), from: before, to: state, effects: effects.map(unpackedEvent) };
  });
  return { ...(input === undefined ? {} : { input }), steps: unpacked };
}
