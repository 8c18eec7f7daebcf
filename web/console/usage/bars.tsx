/** Bars beside each other, as wide as there is room, between a scale with units and what stands below them. */
import type { ComponentChildren } from 'preact';
import { roundTop } from './pace.ts';

export interface Bar {
  readonly key: string;
  readonly title: string;
  readonly height: number;
  /** On top of it. */
  readonly extra: number;
}

interface BarsProps {
  readonly bars: readonly Bar[];
  readonly most: number;
  readonly label: string;
  /** `is-low`: a strip; `is-cell`: in a cell of a table. `is-failing`: what is on top failed, and is red. */
  readonly look?: string;
  /** The height of a line across. */
  readonly line?: number | null;
}

const HEIGHT = 100;
const GAP = 0.16;

export function Bars({ bars, most, label, look = '', line = null }: BarsProps) {
  const high = (amount: number) => (amount / (most || 1)) * HEIGHT;
  return (
    <svg class={`plot ${look}`} viewBox={`0 0 ${bars.length} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
      {[0, HEIGHT / 2].map((y) => (
        <line key={y} class="plot-grid" x1={0} x2={bars.length} y1={y} y2={y} />
      ))}
      {bars.map(({ key, title, height, extra }, at) => {
        // What is there is seen, however little it is.
        const own = Math.max(high(height), height > 0 ? 1 : 0);
        const top = Math.max(high(extra), extra > 0 ? 2 : 0);
        const place = { x: at + GAP / 2, width: 1 - GAP };
        return (
          <g key={key}>
            <title>{title}</title>
            <rect class="plot-hover" x={at} y={0} width={1} height={HEIGHT} />
            <rect class="plot-bar" {...place} y={HEIGHT - own} height={own} />
            <rect class="plot-extra" {...place} y={Math.max(0, HEIGHT - own - top)} height={top} />
          </g>
        );
      })}
      {line !== null && <line class="plot-budget" x1={0} x2={bars.length} y1={HEIGHT - high(line)} y2={HEIGHT - high(line)} />}
    </svg>
  );
}

interface PlotProps extends Omit<BarsProps, 'most'> {
  /** What the highest bar has. */
  readonly peak: number;
  /** A value of the scale in words. */
  readonly words: (value: number) => string;
}

export function Plot({ peak, words, ...bars }: PlotProps) {
  const most = roundTop(peak);
  return (
    <div class="plot-frame">
      <div class="plot-scale" aria-hidden="true">
        <span>{words(most)}</span>
        {bars.look !== 'is-low is-failing' && <span>{words(most / 2)}</span>}
        <span>{words(0)}</span>
      </div>
      <Bars {...bars} most={most} />
    </div>
  );
}

/** One cell for each part of the width, of which some say something. */
export function Axis({ labels }: { readonly labels: readonly ComponentChildren[] }) {
  return (
    <div class="plot-axis" aria-hidden="true">
      {labels.map((label, at) => (
        <span key={`${at}`}>{label}</span>
      ))}
    </div>
  );
}
