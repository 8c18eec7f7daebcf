/** The service level objective: the maximum times of a good turn. */
import { CannotRun } from './usage.ts';

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
