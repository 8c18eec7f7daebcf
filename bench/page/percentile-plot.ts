/** Latency as an HDR plot: each further nine of the percentile has the same width. Pure. */
import { type Line, linePlot } from './line-plot.ts';
import type { Hue } from './palette.ts';
import { ticksScale } from './scale.ts';

export interface PercentileLine {
  readonly name: string;
  readonly hue?: Hue;
  /** How many were measured: no percentile is told that has none beyond it. */
  readonly count: number;
  readonly percentiles: readonly (readonly [share: number, value: number])[];
}

export interface PercentilePlot {
  readonly title: string;
  readonly unit: string;
  readonly lines: readonly PercentileLine[];
  readonly mayBeLog?: boolean;
  readonly limit?: { readonly at: number; readonly label: string } | undefined;
}

const TICKS = [0, 0.5, 0.9, 0.99, 0.999, 0.9999];
/** An axis that ends this soon after a tick has no other label there. */
const CROWDED = 0.45;

/** log10 of 1 ÷ (1 − share). */
export function percentilePlace(share: number): number {
  return -Math.log10(Math.max(1 - share, 1e-6)) || 0;
}

function reachOf(count: number): number {
  return percentilePlace(1 - 1 / Math.max(2, count));
}

function shown(share: number): string {
  return share === 0 ? 'least' : `p${Number((share * 100).toPrecision(6))}`;
}

/** A plot of percentiles; the slowest of all stands at the end of its line. */
export function percentilePlot({ lines, ...plot }: PercentilePlot): string {
  const end = Math.max(...lines.map(({ count }) => reachOf(count)));
  const marks = TICKS.filter((share) => percentilePlace(share) < end - CROWDED).map((share) => {
    return { at: percentilePlace(share), label: shown(share) };
  });
  const drawn: Line[] = lines.map(({ count, percentiles, ...line }) => {
    const reach = reachOf(count);
    const within = percentiles.filter(([share]) => share === 1 || percentilePlace(share) < reach);
    return { ...line, points: within.map(([share, value]) => ({ x: share === 1 ? reach : percentilePlace(share), y: value })) };
  });
  return linePlot({ ...plot, lines: drawn, x: ticksScale([...marks, { at: end, label: 'max' }]) });
}
