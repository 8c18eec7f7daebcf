/** Bars beside each other, as wide as there is room, and what stands below them. Of what failed a part is red, on top. */
import type { ComponentChildren } from 'preact';

export interface Bar {
  readonly key: string;
  readonly title: string;
  readonly height: number;
  /** On top of it. */
  readonly failed: number;
}

interface BarsProps {
  readonly bars: readonly Bar[];
  readonly most: number;
  readonly label: string;
  readonly look?: 'is-low' | '';
  /** The height of a line across. */
  readonly line?: number | null;
}

const HEIGHT = 100;
const GAP = 0.16;

export function Bars({ bars, most, label, look = '', line = null }: BarsProps) {
  const high = (amount: number) => (amount / (most || 1)) * HEIGHT;
  return (
    <svg class={`plot ${look}`} viewBox={`0 0 ${bars.length} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
      {bars.map(({ key, title, height, failed }, at) => {
        // What is there is seen, however little it is.
        const own = Math.max(high(height), height > 0 ? 1 : 0);
        const top = Math.max(high(failed), failed > 0 ? 2 : 0);
        const place = { x: at + GAP / 2, width: 1 - GAP };
        return (
          <g key={key}>
            <title>{title}</title>
            <rect class="plot-hover" x={at} y={0} width={1} height={HEIGHT} />
            <rect class="plot-bar" {...place} y={HEIGHT - own} height={own} />
            <rect class="plot-failed" {...place} y={Math.max(0, HEIGHT - own - top)} height={top} />
          </g>
        );
      })}
      {line !== null && <line class="plot-budget" x1={0} x2={bars.length} y1={HEIGHT - high(line)} y2={HEIGHT - high(line)} />}
    </svg>
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
