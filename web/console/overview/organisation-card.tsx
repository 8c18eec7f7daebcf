/** An organisation on the first page: its credit, and each of its apps in numbers. */
import type { AppGlance, Glance, OverviewEntry } from '../../../protocol/console/glance-answers.ts';
import { appAddress, organisationAddress } from '../app/app.ts';
import { AppStateChip } from '../app/app-page.tsx';
import { Scrolling, Table } from '../parts/table.tsx';
import { momentOf } from '../parts/times.ts';
import { usd } from '../usage/pace.ts';
import { FailedShare, FirstWord, NONE, Spark, spentWords, WaitLinks } from './glance-parts.tsx';

function Credit({ id, credit }: { readonly id: string; readonly credit: Glance['credit'] }) {
  return (
    <a class="card-credit" href={`${organisationAddress(id)}/usage`}>
      <span class={credit.left_usd <= 0 ? 'is-failing' : ''}>{usd(credit.left_usd)} credit left</span>, {spentWords(credit.spent_usd)} spent
      this month
    </a>
  );
}

const COLUMNS = [
  {
    title: 'App',
    of: (app: AppGlance) => (
      <>
        <a href={appAddress(app.id)}>{app.name}</a> {(!app.live || app.suspended) && <AppStateChip app={app} />}
      </>
    ),
  },
  {
    title: 'Turns today',
    of: ({ turns, week, channel }: AppGlance) => (
      <span class="with-spark">
        <Spark numbers={week} label={`Turns of the last seven days${channel === 'test' ? ', by the test key' : ''}: ${week.join(', ')}`} />
        <b>{turns.toLocaleString('en')}</b>
      </span>
    ),
    look: 'number' as const,
  },
  { title: 'Failed', of: FailedShare, look: 'number' as const },
  { title: 'First word', of: FirstWord, look: 'number' as const },
  { title: 'People', of: ({ people }: AppGlance) => people ?? NONE, look: 'number' as const },
  { title: 'Spent today', of: ({ spent_usd: spent }: AppGlance) => spentWords(spent), look: 'number' as const },
  { title: 'Waits for you', of: ({ id, waits }: AppGlance) => <WaitLinks app={id} waits={waits} /> },
  { title: 'Last said', of: ({ last_at: at }: AppGlance) => (at === null ? NONE : momentOf(at)) },
];

export function OrganisationCard({ id, name, plan, glance }: OverviewEntry) {
  return (
    <section class="card card-glance" aria-label={name}>
      <h2>
        <span class="card-org">
          <a href={organisationAddress(id)}>{name}</a> <small>plan {plan}</small>
        </span>
        {glance !== null && <Credit id={id} credit={glance.credit} />}
      </h2>
      {glance === null && (
        <p class="card-empty">
          Nobody has used it lately. <a href={organisationAddress(id)}>Its apps</a>
        </p>
      )}
      {glance?.apps.length === 0 && (
        <p class="card-empty">
          No apps yet. <a href={organisationAddress(id)}>Create one</a>
        </p>
      )}
      {glance !== null && glance.apps.length > 0 && (
        <Scrolling label={`Apps of ${name}`}>
          <Table rows={glance.apps} keyOf={(app) => app.id} columns={COLUMNS} />
        </Scrolling>
      )}
      {glance !== null && glance.apps_total > glance.apps.length && (
        <p class="card-empty">
          <a href={organisationAddress(id)}>All {glance.apps_total} apps</a>
        </p>
      )}
    </section>
  );
}
