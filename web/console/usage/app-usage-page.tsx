/** What an app used in a month, and how near it is to its caps today. */

import type { Usage } from '../../../protocol/console/answers.ts';
import { useAsked } from '../api/asked-hook.ts';
import { type App, appAddress, organisationAddress } from '../app/app.ts';
import { AppPage } from '../app/app-page.tsx';
import { Card, Problem } from '../parts/card.tsx';
import { DayPlot } from './day-plot.tsx';
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

const counted = (count: number, what: string) => `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;

function AppUsage({ app, month }: { readonly app: App; readonly month: string }) {
  const { answer, error, reload } = useAsked<Usage>(`/orgs/${encodeURIComponent(app.org_id)}/usage?month=${month}`);
  const days = answer?.days.filter(({ app_id: id }) => id === app.id) ?? [];
  const own = answer?.apps.find(({ app_id: id }) => id === app.id);
  return (
    <>
      <Problem error={error} retry={reload} />
      {answer !== undefined && (
        <>
          <Card
            title="Spend by day"
            note={`${usd(own?.spent_usd ?? 0)} for ${counted(own?.turns ?? 0, 'turn')} in ${counted(own?.conversations ?? 0, 'conversation')}`}
            aside={<SaveUsage month={month} organisation={app.org_id} app={app.id} />}
          >
            <DayPlot month={month} days={days} budget={app.daily_model_budget_usd} />
          </Card>
          {month === monthOf(new Date()) && <AppHealthCard app={app.id} />}
          {month === monthOf(new Date()) && <Today app={app} usage={answer} />}
          <p class="more">
            <a href={`${organisationAddress(app.org_id)}/usage?month=${month}`}>The whole organisation, with its credit</a>
          </p>
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
