/** The live view of a run: lines that are redrawn on a terminal, plain lines everywhere else. */

import { formatNumber, formatTime } from './failure.ts';
import type { Point } from './series.ts';
import type { Tally } from './tally.ts';

const BARS = '▁▂▃▄▅▆▇█';
const PLOT_POINTS = 60;
/** Plain lines go to logs, so they are rare. */
const PLAIN_EVERY_S = 5;

export interface Output {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

/** Values as a row of bars, scaled to the highest. */
export function sparkline(values: readonly number[]): string {
  const max = Math.max(...values, 0);
  return values.map((value) => (max === 0 ? BARS[0] : BARS[Math.min(BARS.length - 1, Math.floor((value / max) * BARS.length))])).join('');
}

/** 75 → 1:15 */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

function errorsLine(tally: Tally): string {
  const errors = [...tally.errors].map(([code, { count }]) => `${formatNumber(count)} × ${code}`);
  const faults = [...tally.faults].map(([kind, { count }]) => `${formatNumber(count)} × ${kind}`);
  return [...faults, ...errors].join(', ') || 'none';
}

export class LiveView {
  readonly #out: Output;
  readonly #tally: Tally;
  readonly #expectedS: number;
  readonly #recent: Point[] = [];
  #drawnLines = 0;
  #plainAtS = 0;

  constructor(out: Output, tally: Tally, expectedS: number) {
    this.#out = out;
    this.#tally = tally;
    this.#expectedS = expectedS;
  }

  show(point: Point): void {
    this.#recent.push(point);
    if (this.#recent.length > PLOT_POINTS) this.#recent.shift();
    if (this.#out.isTTY) this.#draw(point);
    else if (point.atS >= this.#plainAtS) {
      this.#plainAtS = point.atS + PLAIN_EVERY_S - 0.5;
      this.#out.write(`${this.#plain(point)}\n`);
    }
  }

  say(line: string): void {
    this.#clear();
    this.#out.write(`${line}\n`);
  }

  close(): void {
    this.#clear();
  }

  #clear(): void {
    if (this.#drawnLines > 0) this.#out.write(`\x1b[${this.#drawnLines}A\x1b[J`);
    this.#drawnLines = 0;
  }

  #plain(point: Point): string {
    const { ended, open, requests } = this.#tally;
    return [
      clock(point.atS),
      `requests ${formatNumber(requests)}`,
      `turns ${formatNumber(ended)}`,
      `open ${formatNumber(open)}`,
      `first delta p50 ${formatTime(point.firstDeltaP50Ms)} p99 ${formatTime(point.firstDeltaP99Ms)}`,
      `${formatNumber(point.tokensPerS)} tokens/s`,
      `errors: ${errorsLine(this.#tally)}`,
    ].join(' · ');
  }

  #draw(point: Point): void {
    const { ended, open, peakOpen, requests } = this.#tally;
    const width = Math.max(20, (this.#out.columns ?? 80) - 1);
    const rates = this.#recent.map(({ ended: count, seconds }) => count / seconds);
    const firsts = this.#recent.map(({ firstDeltaP99Ms }) => firstDeltaP99Ms ?? 0);
    const isDraining = point.atS > this.#expectedS + 0.5;
    const lines = [
      `${clock(point.atS)}${isDraining ? ', waiting for the last streams' : ` of ${clock(this.#expectedS)}`}   Ctrl-C ends it with its report`,
      `requests     ${formatNumber(requests)}   turns ended ${formatNumber(ended)}, ${(point.ended / point.seconds).toFixed(1)} a second`,
      `streams open ${formatNumber(open)}   (${formatNumber(peakOpen)} at most)`,
      `first delta  p50 ${formatTime(point.firstDeltaP50Ms)}   p99 ${formatTime(point.firstDeltaP99Ms)}`,
      `tokens/s     ${formatNumber(point.tokensPerS)}`,
      `errors       ${errorsLine(this.#tally)}`,
      `turns/s      ${sparkline(rates)}`,
      `p99          ${sparkline(firsts)}`,
    ];
    this.#clear();
    this.#out.write(`${lines.map((line) => line.slice(0, width)).join('\n')}\n`);
    this.#drawnLines = lines.length;
  }
}
