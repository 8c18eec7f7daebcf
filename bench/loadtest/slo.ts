/** The service level objective: the maximum times of a good turn. */
import { CannotRun } from './usage.ts';

export const VISIT_KINDS = ['new', 'continue', 'components', 'read', 'confirm', 'reattach', 'history'] as const;
export type VisitKind = (typeof VISIT_KINDS)[number];
/** Weights; a kind that is left out never comes. */
type Mix = ReadonlyMap<VisitKind, number>;

const WEIGHT_MAX = 1_000_000;

function isKind(name: string): name is VisitKind {
  return VISIT_KINDS.some((kind) => kind === name);
}

export function parseMix(given: string): Mix {
  const mix = new Map<VisitKind, number>();
  for (const part of given.split(',')) {
    const [name = '', weight = '1', ...rest] = part.split('=').map((each) => each.trim());
    if (!isKind(name)) throw new CannotRun(`--mix knows ${VISIT_KINDS.join(', ')}, not "${name}".`);
    const value = Number(weight);
    if (rest.length > 0 || weight === '' || !(value >= 0 && value <= WEIGHT_MAX)) {
      throw new CannotRun(`--mix takes weights such as ${name}=10, not "${part.trim()}".`);
    }
    if (mix.has(name)) throw new CannotRun(`--mix names ${name} twice.`);
    if (value > 0) mix.set(name, value);
  }
  if (mix.size === 0) throw new CannotRun('--mix leaves nothing to do: give one kind a weight above 0.');
  return mix;
}

/** The kind of the next visit; `random` is in [0, 1). */
export function pickKind(mix: Mix, random: number): VisitKind {
  let total = 0;
  for (const weight of mix.values()) total += weight;
  let left = random * total;
  for (const [kind, weight] of mix) {
    left -= weight;
    if (left < 0) return kind;
  }
  // A rounding of the sum: the last one.
  return [...mix.keys()].at(-1) as VisitKind;
}

export const MEASURES = ['first_event', 'first_delta', 'between_deltas', 'turn'] as const;
/** The times of a turn. `between_deltas` is its longest in an SLO. */
export type Measure = (typeof MEASURES)[number];
export type Slo = ReadonlyMap<Measure, number>;

export const MEASURE_WORDS: Readonly<Record<Measure, string>> = {
  first_event: 'first event',
  first_delta: 'first delta',
  between_deltas: 'between deltas',
  turn: 'whole turn',
};

/** `first_delta=500,turn=5000`, in milliseconds. @throws CannotRun */
export function parseSlo(given: string): Slo {
  const slo = new Map<Measure, number>();
  if (given.trim() === '') return slo;
  for (const part of given.split(',')) {
    const [name = '', limit = '', ...rest] = part.split('=').map((each) => each.trim());
    const measure = MEASURES.find((each) => each === name);
    if (measure === undefined) throw new CannotRun(`--slo knows ${MEASURES.join(', ')}, not "${name}".`);
    const value = Number(limit.replace(/ms$/, ''));
    if (rest.length > 0 || limit === '' || !(value > 0))
      throw new CannotRun(`--slo takes milliseconds such as ${measure}=500, not "${part.trim()}".`);
    slo.set(measure, value);
  }
  return slo;
}

/** Whether a turn with these times meets the SLO. A time that it does not have counts as met. */
export function keepsSlo(slo: Slo, taken: Readonly<Partial<Record<Measure, number>>>): boolean {
  for (const [measure, limit] of slo) if ((taken[measure] ?? 0) > limit) return false;
  return true;
}
