/** What an organisation used in a month: spend by day and app, credit by kind, caps, top-ups and mails; and buying credit. */

import { useRoute } from 'preact-iso';
import type { Organisation, Usage } from '../../../protocol/console/answers.ts';
import { useAsked } from '../api/asked-hook.ts';
import { appAddress, organisationAddress } from '../app/app.ts';
import { Card, Problem } from '../parts/card.tsx';
import { Scrolling, Table } from '../parts/table.tsx';
import { momentOf } from '../parts/times.ts';
import { Page } from '../shell/page.tsx';
import { CreditCard } from './credit-card.tsx';
import { DayPlot } from './day-plot.tsx';
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
          <Card title="Spend by day" note={`${usd(answer.spent_usd)} in all`} aside={<SaveUsage month={month} organisation={id} />}>
            <DayPlot month={month} days={answer.days} />
          </Card>
          <AppsCard usage={answer} />
          {month === monthOf(new Date()) && <OrganisationHealthCard organisation={id} />}
          <CreditCard organisation={id} usage={answer} isThisMonth={month === monthOf(new Date())} onBought={reload} />
          <TopUpsCard usage={answer} />
          <MailsCard usage={answer} />
        </>
      )}
    </Page>
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
            rows={usage.apps}
            keyOf={(app) => app.app_id}
            columns={[
              {
                title: 'App',
                of: ({ app_id: id, name }) => (name === null ? `${id}, deleted` : <a href={appAddress(id, 'usage')}>{name}</a>),
              },
              { title: 'Spent', of: (app) => usd(app.spent_usd), look: 'number' },
              { title: 'Failed attempts', of: (app) => usd(app.failed_usd), look: 'number' },
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

const TOP_UP_SIGNALS: Readonly<Record<string, string>> = { charged: 'is-ok', manual: 'is-ok', pending: 'is-wait', failed: 'is-bad' };

function TopUpsCard({ usage }: { readonly usage: Usage }) {
  if (usage.top_ups.length === 0) return null;
  return (
    <Card title="Automatic top-ups">
      <ul class="lines">
        {usage.top_ups.map(({ id, amount_usd: amount, state, reason, created_at: at }) => (
          <li key={id} class="line">
            <span class={`chip ${TOP_UP_SIGNALS[state] ?? ''}`}>{state}</span>
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
            <span class={state === 'sent' ? 'chip is-ok' : 'chip is-wait'}>{state}</span>
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
