/** What the service aims at on the workloads, as values: shown in the tables, and held against what was measured. Pure. */

/** What can be aimed at, each a figure of a summary; the relay is the other server of the same workload and run. */
type Aimed = 'ratio' | 'peak_ratio' | 'added_p50_ms' | 'added_p99_ms' | 'first_p99_ms' | 'refused';

/** A row of the report, as far as it is held against aims. */
type Aimable = { readonly workload: string; readonly candidate: string } & { readonly [Figure in Aimed]: number | undefined };

export interface Aim {
  readonly of: Aimed;
  readonly most: number;
}

interface Wording {
  /** The aim in a table. */
  readonly aim: (most: string) => string;
  /** What was measured, in a sentence. */
  readonly measured: (value: string) => string;
}

const WORDING: Readonly<Record<Aimed, Wording>> = {
  ratio: { aim: (most) => `≤ ${most} ×`, measured: (value) => `${value} × the CPU of the relay` },
  peak_ratio: { aim: (most) => `peak memory ≤ ${most} ×`, measured: (value) => `${value} × the peak memory of the relay` },
  added_p50_ms: {
    aim: (most) => `first delta p50 ≤ relay + ${most} ms`,
    measured: (value) => `first delta ${value} ms after the relay's at p50`,
  },
  added_p99_ms: {
    aim: (most) => `first delta p99 ≤ relay + ${most} ms`,
    measured: (value) => `first delta ${value} ms after the relay's at p99`,
  },
  first_p99_ms: { aim: (most) => `first delta p99 ≤ ${most} ms`, measured: (value) => `first delta after ${value} ms at p99` },
  refused: { aim: (most) => `refused ≤ ${most}`, measured: (value) => `${Number(value)} streams refused` },
};

/** The sentence for an aim that a question misses; none where it is reached. */
export function missedBy(what: string, value: number, most: number, unit: string): string[] {
  return value > most ? [`${what}: ${shown(value, most)} ${unit} (aim: ≤ ${most.toLocaleString('en-US')}).`] : [];
}

/** A sentence where turns or streams were not whole: their figures are not to be quoted. */
export function brokenAmong(who: string, broken: number, what = 'streams'): string[] {
  return broken === 0 ? [] : [`${who}: ${broken.toLocaleString('en-US')} ${what} were not whole.`];
}

export function aimsShown(aims: readonly Aim[]): string {
  return aims.map(({ of, most }) => WORDING[of].aim(`${most}`)).join(', ');
}

/** Two decimals, more where they are needed to tell the figure from the aim that it misses. */
function shown(value: number, most: number): string {
  const decimals = [2, 3, 4, 5].find((each) => Number(value.toFixed(each)) > most) ?? 2;
  return value.toFixed(decimals);
}

/** The aims that a server misses, a sentence each. A figure that there is not, as without the relay, misses nothing. */
export function missed(aims: readonly Aim[], summary: Aimable): string[] {
  return aims.flatMap((aim) => {
    const value = summary[aim.of];
    if (value === undefined || value <= aim.most) return [];
    const { measured, aim: aimed } = WORDING[aim.of];
    return [`${summary.workload}, ${summary.candidate}: ${measured(shown(value, aim.most))}; the aim is ${aimed(`${aim.most}`)}.`];
  });
}
