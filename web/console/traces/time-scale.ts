/** Where moments lie on a line: by their times, with long silences cut, and never two on one spot. */

/** A silence is shown no longer than this; people take minutes to press a button, and nothing happens meanwhile. */
const SILENCE_MAX_MS = 3_000;
/** Steps of one millisecond are told apart all the same. */
const APART_MS = 2;

export interface TimeScale {
  /** One for each moment, from 0 to `width`. */
  readonly places: readonly number[];
  readonly gaps: readonly number[];
}

/** `timesMs` in ascending order. */
export function edgesOfTime(timesMs: readonly number[], width: number): TimeScale {
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
