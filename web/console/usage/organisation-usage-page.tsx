/** What an organisation used in a month: spend by day and app, credit by kind, caps, top-ups and mails; and buying credit. */

import { useRoute } from 'preact-iso';
import type { AppUse, Organisation, Usage } from '../../../protocol/console/answers.ts';
import { useAsked } from '../api/asked-hook.ts';
import { appAddress, organisationAddress } from '../app/app.ts';
import { NumberList } from '../overview/glance-parts.tsx';
import { Card, Problem } from '../parts/card.tsx';
import { StateChip } from '../parts/state-chip.tsx';
import { Scrolling, Table } from '../parts/table.tsx';
import { momentOf, monthName } from '../parts/times.ts';
import { Page } from '../shell/page.tsx';
import { CreditCard } from './credit-card.tsx';
import { DayPlot, DayTable } from './day-plot.tsx';
import { OrganisationHealthCard } from './health-card.tsx';
import { monthOf, usd } from './pace.ts';
import { MonthChoice, SaveUsage, useMonth } from './usage-parts.tsx';

export function OrganisationUsagePage() {
  const id = useRoute().params.org ?? '';
  const month = useMonth();
  const path = `/orgs/${encodeURIComponent(id)}`;
  const organisation = useAsked<{ readonly org: Organisation }>(path);
  const { answer, error, reload } = useAsked<Usage>(`${path}/usage?month=${month}`);
  const name = organisation.answer?.org.name ?? 'Organisation';
  return (
    <Page
      title="Usage"
      crumbs={[
        { label: 'Overview', href: '/console' },
        { label: name, href: organisationAddress(id) },
      ]}
      actions={<MonthChoice month={month} />}
    >
      <Problem error={error} retry={reload} />
      {answer !== undefined && (
        <>
          <Figures month={month} usage={answer} />
          <Card title="Spend by day" note="UTC" aside={<SaveUsage month={month} organisation={id} />}>
            <DayPlot month={month} days={answer.days} />
          </Card>
          <AppsCard usage={answer} />
          {month === monthOf(new Date()) && <OrganisationHealthCard organisation={id} />}
          <CreditCard organisation={id} usage={answer} isThisMonth={month === monthOf(new Date())} onBought={reload} />
          <TopUpsCard usage={answer} />
          <MailsCard usage={answer} />
          <DayTable month={month} days={answer.days} />
        </>
      )}
    </Page>
  );
}

function Figures({ month, usage: { spent_usd: spent, apps, credit, users } }: { readonly month: string; readonly usage: Usage }) {
  const sum = (of: (app: AppUse) => number) => apps.reduce((all, app) => all + of(app), 0).toLocaleString('en');
  const left = credit.plan_left_usd + credit.purchased_left_usd - credit.overdrawn_usd;
  return (
    <section class="card" aria-label={`In ${monthName(month)}`}>
      <NumberList
        cells={[
          ['Spent', usd(spent)],
          ['Turns', sum(({ turns }) => turns)],
          ['Conversations', sum(({ conversations }) => conversations)],
          [
            'Credit left, now',
            <span key="left" class={left <= 0 ? 'is-failing' : ''}>
              {usd(left)}
            </span>,
          ],
          [`Users in ${users.window_days} days`, users.count.toLocaleString('en')],
        ]}
      />
    </section>
  );
}

function AppsCard({ usage }: { readonly usage: Usage }) {
  return (
    <Card title="By app">
      {usage.apps.length === 0 ? (
        <p class="card-empty">Nothing was used in this month.</p>
      ) : (
        <Scrolling label="Apps and what they used">
          <Table
            look="list stacks"
            rows={usage.apps}
            keyOf={(app) => app.app_id}
            columns={[
              {
                title: 'App',
                of: ({ app_id: id, name }) => (name === null ? `${id}, deleted` : <a href={appAddress(id, 'usage')}>{name}</a>),
              },
              { title: 'Spent', of: (app) => usd(app.spent_usd), look: 'number' },
              { title: 'Not charged', of: (app) => usd(app.failed_usd), look: 'number' },
              { title: 'Turns', of: (app) => app.turns.toLocaleString('en'), look: 'number' },
              { title: 'Conversations', of: (app) => app.conversations.toLocaleString('en'), look: 'number' },
              { title: 'Test turns', of: (app) => app.sandbox_turns.toLocaleString('en'), look: 'number' },
            ]}
          />
        </Scrolling>
      )}
    </Card>
  );
}

function TopUpsCard({ usage }: { readonly usage: Usage }) {
  if (usage.top_ups.length === 0) return null;
  return (
    <Card title="Automatic top-ups">
      <ul class="lines">
        {usage.top_ups.map(({ id, amount_usd: amount, state, reason, created_at: at }) => (
          <li key={id} class="line">
            <StateChip state={state} />
            <span class="line-text">
              {usd(amount)} <span class="line-note">{reason}</span>
            </span>
            <small>{momentOf(at)}</small>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function MailsCard({ usage }: { readonly usage: Usage }) {
  if (usage.mails.length === 0) return null;
  return (
    <Card title="Mails about usage">
      <ul class="lines">
        {usage.mails.map(({ email, threshold_percent: percent, state, sent_at: sent, created_at: at }) => (
          <li key={`${email} ${percent}`} class="line">
            <StateChip state={state} />
            <span class="line-text">
              {email} <span class="line-note">at {percent} % of the credit</span>
            </span>
            <small>{momentOf(sent ?? at)}</small>
          </li>
        ))}
      </ul>
    </Card>
  );
}
