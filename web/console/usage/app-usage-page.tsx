/** What an app used in a month, and how near it is to its caps today. */

import type { Usage } from '../../../protocol/console/answers.ts';
import { useAsked } from '../api/asked-hook.ts';
import { type App, appAddress, organisationAddress } from '../app/app.ts';
import { AppPage } from '../app/app-page.tsx';
import { NONE, NumberList } from '../overview/glance-parts.tsx';
import { Card, Problem } from '../parts/card.tsx';
import { monthName } from '../parts/times.ts';
import { DayPlot, DayTable } from './day-plot.tsx';
import { AppHealthCard } from './health-card.tsx';
import { monthOf, todayOf, usd, usedUpAtMs } from './pace.ts';
import { Level, MonthChoice, SaveUsage, useMonth } from './usage-parts.tsx';

export function AppUsagePage() {
  const month = useMonth();
  return (
    <AppPage title="Usage" actions={<MonthChoice month={month} />}>
      {(app) => <AppUsage app={app} month={month} />}
    </AppPage>
  );
}

function AppUsage({ app, month }: { readonly app: App; readonly month: string }) {
  const { answer, error, reload } = useAsked<Usage>(`/orgs/${encodeURIComponent(app.org_id)}/usage?month=${month}`);
  const days = answer?.days.filter(({ app_id: id }) => id === app.id) ?? [];
  const isNow = month === monthOf(new Date());
  const own = answer?.apps.find(({ app_id: id }) => id === app.id);
  return (
    <>
      <p class="facts">
        <span>Usage of this app, live traffic.</span>
        <a href={`${organisationAddress(app.org_id)}/usage?month=${month}`}>The whole organisation, with its credit</a>
      </p>
      <Problem error={error} retry={reload} />
      {answer !== undefined && (
        <>
          <section class="card" aria-label={`In ${monthName(month)}`}>
            <NumberList
              cells={[
                ['Spent', usd(own?.spent_usd ?? 0)],
                ['Turns', (own?.turns ?? 0).toLocaleString('en')],
                ['Conversations', (own?.conversations ?? 0).toLocaleString('en')],
                ['Spent on a turn', own === undefined || own.turns === 0 ? NONE : usd(own.spent_usd / own.turns)],
                ['Test turns', (own?.sandbox_turns ?? 0).toLocaleString('en')],
              ]}
            />
          </section>
          <Card title="Spend by day" note="UTC" aside={<SaveUsage month={month} organisation={app.org_id} app={app.id} />}>
            <DayPlot month={month} days={days} budget={app.daily_model_budget_usd} />
          </Card>
          {isNow && <AppHealthCard app={app.id} />}
          {isNow && <Today app={app} usage={answer} />}
          <DayTable month={month} days={days} />
        </>
      )}
    </>
  );
}

function Today({ app, usage }: { readonly app: App; readonly usage: Usage }) {
  const today = new Date().toISOString().slice(0, 'YYYY-MM-DD'.length);
  const day = usage.days.find((each) => each.app_id === app.id && each.day === today);
  const turns = day?.turns ?? 0;
  const spent = (day?.spent_usd ?? 0) + (day?.failed_usd ?? 0);
  const budget = app.daily_model_budget_usd;
  const nowMs = Date.now();
  const usedUp = (used: number, of: number) => {
    const atMs = usedUpAtMs({ used, left: of - used, nowMs, ...todayOf(nowMs) });
    return atMs === null ? null : `at ${new Date(atMs).toISOString().slice('YYYY-MM-DDT'.length, 'YYYY-MM-DDTHH:MM'.length)}`;
  };
  return (
    <section class="card" aria-label="Today">
      <h2>
        Today <small>UTC; the caps are set in {<a href={appAddress(app.id, 'settings')}>Settings</a>}</small>
      </h2>
      <div class="levels">
        <Level
          label="Turns that ended"
          used={turns}
          of={app.messages_per_day}
          words={`${turns.toLocaleString('en')}; ${app.messages_per_day.toLocaleString('en')} messages may be sent`}
          usedUp={usedUp(turns, app.messages_per_day)}
        />
        {budget === null ? (
          <Level label="Model spend" used={0} of={1} words={`${usd(spent)}, no budget is set`} isSoft />
        ) : (
          <Level label="Model spend" used={spent} of={budget} words={`${usd(spent)} of ${usd(budget)}`} usedUp={usedUp(spent, budget)} />
        )}
      </div>
    </section>
  );
}
