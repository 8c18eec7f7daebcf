/** Spend by day as bars, with the day's budget as a line where there is one, and the same as a table. Where nothing cost anything, turns by day. */

import type { DayOfUse } from '../../../protocol/console/answers.ts';
import { NONE } from '../overview/glance-parts.tsx';
import { Card } from '../parts/card.tsx';
import { Scrolling, Table } from '../parts/table.tsx';
import { dateOf, monthName } from '../parts/times.ts';
import { Axis, Plot } from './bars.tsx';
import { daysOf, usd } from './pace.ts';

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
    const [spent, uncharged] = [sum((each) => each.spent_usd), sum((each) => each.failed_usd)];
    return { day, spent, uncharged, turns: sum((each) => each.turns), tests: sum((each) => each.sandbox_turns) };
  });
}

export function DayPlot({ month, days, budget = null }: DayPlotProps) {
  const used = useOfDays(month, days);
  // A model without a price, or one that costs nothing: what was used shows in the turns.
  const isFree = used.some(({ turns }) => turns > 0) && used.every(({ spent, uncharged }) => spent + uncharged === 0);
  const bars = used.map(({ day, spent, uncharged, turns }) => ({
    key: day,
    title: `${dateOf(day)}: ${usd(spent)}, ${turns} turns${uncharged > 0 ? `, ${usd(uncharged)} not charged` : ''}`,
    ...{ height: isFree ? turns : spent, extra: uncharged },
  }));
  const line = isFree ? null : budget;
  const peak = Math.max(...bars.map(({ height, extra }) => height + extra), line ?? 0);
  const total = used.reduce((sum, { spent }) => sum + spent, 0);
  const hasUncharged = used.some(({ uncharged }) => uncharged > 0);
  if (peak === 0) return <p class="card-empty">Nothing was used in this month.</p>;
  return (
    <>
      <Plot
        bars={bars}
        peak={peak}
        words={isFree ? (value) => (Number.isInteger(value) ? value.toLocaleString('en') : '') : usd}
        label={`Spend by day in ${monthName(month)}: ${usd(total)} in all`}
        line={line}
      />
      <Axis labels={used.map(({ day }, at) => (at % LABEL_EVERY === 0 ? dateOf(day).replace(/ \d{4}$/, '') : ''))} />
      {(isFree || hasUncharged || line !== null) && (
        <p class="plot-note">
          {isFree && 'Nothing was spent: the bars are turns. Prices of models are set where the service is started.'}
          {line !== null && `Dashed: the budget of a day, ${usd(line)}. `}
          {hasUncharged && 'Grey: attempts that did not end well, or were stopped. They draw no credit.'}
        </p>
      )}
    </>
  );
}

/** The days of the month on which something was used, the newest first. */
export function DayTable({ month, days }: Pick<DayPlotProps, 'month' | 'days'>) {
  const used = useOfDays(month, days).filter(({ spent, uncharged, turns, tests }) => spent + uncharged + turns + tests > 0);
  if (used.length === 0) return null;
  const number = (count: number) => (count === 0 ? NONE : count.toLocaleString('en'));
  return (
    <Card title="Day by day" note="UTC">
      <Scrolling label={`Days of ${monthName(month)}`}>
        <Table
          look="list stacks"
          rows={used.toReversed()}
          keyOf={({ day }) => day}
          columns={[
            { title: 'Day', of: ({ day }) => dateOf(day) },
            { title: 'Spent', of: ({ spent }) => usd(spent), look: 'number' },
            { title: 'Not charged', of: ({ uncharged }) => usd(uncharged), look: 'number' },
            { title: 'Test turns', of: ({ tests }) => number(tests), look: 'number' },
            { title: 'Turns', of: ({ turns }) => number(turns), look: 'number' },
          ]}
        />
      </Scrolling>
    </Card>
  );
}
