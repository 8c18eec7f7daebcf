/** Spend by day as bars, with the day's budget as a line where there is one; the same as a table below it. Where nothing cost anything, turns by day. */

import type { DayOfUse } from '../../../protocol/console/answers.ts';
import { Scrolling, Table } from '../parts/table.tsx';
import { dateOf, monthName } from '../parts/times.ts';
import { Axis, Bars } from './bars.tsx';
import { daysOf, usd } from './pace.ts';

const HEADROOM = 1.1;
const LABEL_EVERY = 5;

interface DayPlotProps {
  readonly month: string;
  readonly days: readonly DayOfUse[];
  readonly budget?: number | null;
}

function useOfDays(month: string, days: readonly DayOfUse[]) {
  return daysOf(month).map((day) => {
    const own = days.filter((each) => each.day === day);
    const sum = (of: (each: DayOfUse) => number) => own.reduce((all, each) => all + of(each), 0);
    return { day, spent: sum((each) => each.spent_usd), failed: sum((each) => each.failed_usd), turns: sum((each) => each.turns) };
  });
}

export function DayPlot({ month, days, budget = null }: DayPlotProps) {
  const used = useOfDays(month, days);
  // A model without a price, or one that costs nothing: what was used shows in the turns.
  const isFree = used.some(({ turns }) => turns > 0) && used.every(({ spent, failed }) => spent + failed === 0);
  const bars = used.map(({ day, spent, failed, turns }) => ({
    key: day,
    title: `${dateOf(day)}: ${usd(spent)}, ${turns} turns${failed > 0 ? `, ${usd(failed)} for failed attempts` : ''}`,
    ...{ height: isFree ? turns : spent, failed },
  }));
  const peak = Math.max(...bars.map(({ height, failed }) => height + failed));
  const line = isFree ? null : budget;
  const most = Math.max(peak, line ?? 0) * HEADROOM;
  const total = used.reduce((sum, { spent }) => sum + spent, 0);
  return (
    <>
      {peak > 0 && (
        <p class="plot-note">
          At most {isFree ? `${peak.toLocaleString('en')} turns` : usd(peak)} a day
          {line !== null && `; the line is the budget, ${usd(line)}`}
        </p>
      )}
      <Bars bars={bars} most={most} label={`Spend by day in ${monthName(month)}: ${usd(total)} in all`} line={line} />
      <Axis labels={used.map(({ day }, at) => (at % LABEL_EVERY === 0 ? Number(day.slice(-2)) : ''))} />
      {isFree && <p class="plot-note">Nothing was spent: the bars are turns. Prices of models are set where the service is started.</p>}
      <details class="more-colours">
        <summary>As a table</summary>
        <Scrolling label={`Days of ${monthName(month)}`}>
          <Table
            rows={used.filter(({ spent, failed, turns }) => spent + failed + turns > 0)}
            keyOf={({ day }) => day}
            columns={[
              { title: 'Day', of: ({ day }) => dateOf(day) },
              { title: 'Spent', of: ({ spent }) => usd(spent), look: 'number' },
              { title: 'Failed attempts', of: ({ failed }) => usd(failed), look: 'number' },
              { title: 'Turns', of: ({ turns }) => turns, look: 'number' },
            ]}
          />
        </Scrolling>
      </details>
    </>
  );
}
