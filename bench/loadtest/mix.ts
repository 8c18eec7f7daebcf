/** What visits do, and how often each: `new=70,continue=30`. */
import { CannotRun } from './usage.ts';

export const VISIT_KINDS = ['new', 'continue', 'components', 'read', 'confirm', 'reattach', 'history'] as const;
export type VisitKind = (typeof VISIT_KINDS)[number];
/** Weights; a kind that is left out never comes. */
export type Mix = ReadonlyMap<VisitKind, number>;

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
