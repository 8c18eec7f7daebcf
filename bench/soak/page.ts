/** The page of a soak: the verdict, a plot of each kind of series with what was done meanwhile, and the figures. Pure. */
import { formatNumber } from '../loadtest/failure.ts';
import { escaped, pageHtml, tableHtml } from '../page/html.ts';
import { linePlot } from '../page/line-plot.ts';
import { ticksScale, timeTicks } from '../page/scale.ts';
import { WARM_UP_SHARE } from './judge.ts';
import { MEASURES } from './sampler.ts';
import type { Judged, Soak } from './soak.ts';

/** By what `key` tells, in the order of the first of each. */
function grouped<Item>(items: readonly Item[], key: (item: Item) => string): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return groups;
}

function plotsOf({ series, samples, seconds, marks }: Soak): readonly string[] {
  const x = ticksScale(timeTicks(seconds));
  const shade = { to: seconds * WARM_UP_SHARE, label: 'not judged' };
  return [...grouped(series, ({ plot }) => plot)].map(([title, all]) => {
    const lines = all.map(({ id, name }) => ({ name, points: samples[id].map(({ atS, value }) => ({ x: atS, y: value })) }));
    return linePlot({
      title,
      unit: all[0]?.unit ?? '',
      lines,
      x,
      mayBeLog: title === MEASURES.turnKb.plot,
      shade,
      marks: marks.map(({ atS, what }) => ({ at: atS, label: what })),
    });
  });
}

const figure = (value: number | undefined) => (value === undefined ? '–' : Number(value.toPrecision(3)).toString());

function row({ plot, name, unit, middle, growth, allowed, isFlat }: Judged): string[] {
  return [
    plot,
    name,
    unit,
    figure(middle),
    figure(growth),
    figure(allowed),
    isFlat === undefined ? 'not judged' : isFlat ? 'flat' : 'grows',
  ];
}

export function soakHtml(soak: Soak): string {
  const { seconds, turns, violations, series, marks, done, errors, hasClock } = soak;
  const isGood = violations.length === 0;
  const said = isGood ? ['Everything that was judged stayed flat, and nothing else was wrong.'] : violations;
  const disturbed = [
    ...grouped(marks, ({ what }) => what.replace(/-?\d+ min from the right time/, 'another time').replace(/eu-\d/, 'the other cell')),
  ];
  const doings = Object.entries(done).map(([name, count]) => [name, formatNumber(count.done), formatNumber(count.failed), count.lastWords]);
  const met = [...grouped(errors, ({ name, message }) => `${name} ${message.replace(/\d+/g, '')}`).values()].map((all) => {
    const [{ name, message } = { name: '', message: '' }] = all;
    return [name, formatNumber(all.reduce((sum, { count }) => sum + count, 0)), message];
  });
  return pageHtml(
    'Soak',
    `<h1>Soak of ${Number((seconds / 60).toFixed(1))} minutes</h1>
<p class="muted">Two cells, four nodes, one Redis; ${formatNumber(turns)} turns${hasClock ? '' : '; no C compiler, so the clock did not jump'}</p>
<div class="verdict${isGood ? '' : ' bad'}">${said.map((each) => `<p>${escaped(each)}</p>`).join('')}</div>
<p>Thin lines are what was done to the service; the first third of the run is not judged.</p>
<div class="plots">${plotsOf(soak).join('\n')}</div>
<h2>Series</h2>${tableHtml({ columns: ['plot', 'series', 'unit', 'middle', 'grows in a run', 'may grow', 'verdict'], rows: series.map(row) })}
<h2>What was done to it</h2>${tableHtml({ columns: ['what', 'how often'], rows: disturbed.map(([what, all]) => [what, formatNumber(all.length)]) })}
<h2>What people did beside turns</h2>${tableHtml({ columns: ['what', 'done', 'failed', 'the last failure'], rows: doings })}
<h2>Errors that clients met</h2>${tableHtml({ columns: ['code', 'how often', 'for example'], rows: met })}`,
  );
}
