/** Spend by day as bars, with the day's budget as a line where there is one; the same as a table below it. Where nothing cost anything, turns by day. */

import type { DayOfUse } from '../../../protocol/console/answers.ts';
import { Table } from '../parts/table.tsx';
import { daysOf, usd } from './usage.ts';

const WIDTH = 720;
const HEIGHT = 160;
const GAP = 4;
const FLOOR = 18;
const HEADROOM = 1.1;
const LABEL_EVERY = 5;

interface DayPlotProps {
  readonly month: string;
  readonly days: readonly DayOfUse[];
  readonly budget?: number | null;
}

interface Bar {
  readonly day: string;
  readonly spent: number;
  readonly failed: number;
  readonly turns: number;
}

function barsOf(month: string, days: readonly DayOfUse[]): Bar[] {
  return daysOf(month).map((day) => {
    const own = days.filter((each) => each.day === day);
    const sum = (of: (each: DayOfUse) => number) => own.reduce((all, each) => all + of(each), 0);
    return { day, spent: sum((each) => each.spent_usd), failed: sum((each) => each.failed_usd), turns: sum((each) => each.turns) };
  });
}

export function DayPlot({ month, days, budget = null }: DayPlotProps) {
  const bars = barsOf(month, days);
  // A model without a price, or one that costs nothing: what was used shows in the turns.
  const isFree = bars.some(({ turns }) => turns > 0) && bars.every(({ spent, failed }) => spent + failed === 0);
  const heightOf = ({ spent, turns }: Bar) => (isFree ? turns : spent);
  const peak = Math.max(...bars.map((bar) => heightOf(bar) + bar.failed));
  const most = Math.max(peak, isFree ? 0 : (budget ?? 0)) * HEADROOM || 1;
  const width = WIDTH / bars.length;
  const high = (amount: number) => (amount / most) * (HEIGHT - FLOOR);
  const total = bars.reduce((sum, { spent }) => sum + spent, 0);
  return (
    <>
      <svg class="plot" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`Spend by day in ${month}: ${usd(total)} in all`}>
        {bars.map((bar, at) => {
          const { day, spent, failed, turns } = bar;
          const height = high(heightOf(bar));
          return (
            <g key={day}>
              <title>{`${day}: ${usd(spent)}, ${turns} turns${failed > 0 ? `, ${usd(failed)} for failed attempts` : ''}`}</title>
              <rect class="plot-hover" x={at * width} y={0} width={width} height={HEIGHT - FLOOR} />
              <rect
                class="plot-bar"
                x={at * width + GAP / 2}
                y={HEIGHT - FLOOR - height}
                width={width - GAP}
                height={Math.max(height, height > 0 ? 1 : 0)}
                rx={2}
              />
              <rect
                class="plot-failed"
                x={at * width + GAP / 2}
                y={HEIGHT - FLOOR - height - high(failed)}
                width={width - GAP}
                height={high(failed)}
                rx={2}
              />
              {at % LABEL_EVERY === 0 && (
                <text class="plot-label" x={at * width + GAP / 2} y={HEIGHT - 4}>
                  {day.slice(-2)}
                </text>
              )}
            </g>
          );
        })}
        {peak > 0 && (
          <text class="plot-label" x={0} y={HEIGHT - FLOOR - high(peak) - 4}>
            {isFree ? `${peak.toLocaleString('en')} turns` : usd(peak)}
          </text>
        )}
        <line class="plot-floor" x1={0} x2={WIDTH} y1={HEIGHT - FLOOR} y2={HEIGHT - FLOOR} />
        {budget !== null && !isFree && (
          <line class="plot-budget" x1={0} x2={WIDTH} y1={HEIGHT - FLOOR - high(budget)} y2={HEIGHT - FLOOR - high(budget)} />
        )}
      </svg>
      {isFree && <p class="plot-note">Nothing was spent: the bars are turns. Prices of models are set where the service is started.</p>}
      <details class="more-colours">
        <summary>As a table</summary>
        <Table
          rows={bars.filter(({ spent, failed, turns }) => spent + failed + turns > 0)}
          keyOf={({ day }) => day}
          columns={[
            { title: 'Day', of: ({ day }) => day },
            { title: 'Spent', of: ({ spent }) => usd(spent), look: 'number' },
            { title: 'Failed attempts', of: ({ failed }) => usd(failed), look: 'number' },
            { title: 'Turns', of: ({ turns }) => turns, look: 'number' },
          ]}
        />
      </details>
    </>
  );
}
