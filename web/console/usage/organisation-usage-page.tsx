/** What an organisation used in a month: spend by day and app, credit by kind, caps, top-ups and mails; and buying credit. */
import { useRoute } from 'preact-iso';
import { ask } from '../api/api.ts';
import { Problem } from '../api/problem.tsx';
import { useResource } from '../api/resource.ts';
import { appAddress, type Organisation, organisationAddress } from '../app/app.ts';
import { NumberField } from '../parts/fields.tsx';
import { useForm } from '../parts/form-hook.ts';
import { dayOf, momentOf } from '../parts/times.ts';
import { Page } from '../shell/page.tsx';
import { toast } from '../shell/toasts.tsx';
import { DayPlot } from './day-plot.tsx';
import { Level } from './level.tsx';
import { MonthChoice, useMonth } from './month-choice.tsx';
import { type Usage, usd } from './usage.ts';

export function OrganisationUsagePage() {
  const id = useRoute().params.org ?? '';
  const month = useMonth();
  const path = `/orgs/${encodeURIComponent(id)}`;
  const organisation = useResource<{ readonly org: Organisation }>(path);
  const { answer, error, reload } = useResource<Usage>(`${path}/usage?month=${month}`);
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
      {error !== undefined && <Problem error={error} retry={reload} />}
      {answer !== undefined && (
        <>
          <section class="card" aria-label="Spend by day">
            <h2>
              Spend by day <small>{usd(answer.spent_usd)} in all</small>
            </h2>
            <DayPlot month={month} days={answer.days} />
          </section>
          <AppsCard usage={answer} />
          <CreditCard organisation={id} usage={answer} onBought={reload} />
          <TopUpsCard usage={answer} />
          <MailsCard usage={answer} />
        </>
      )}
    </Page>
  );
}

function AppsCard({ usage }: { readonly usage: Usage }) {
  return (
    <section class="card" aria-label="By app">
      <h2>By app</h2>
      {usage.apps.length === 0 ? (
        <p class="card-empty">Nothing was used in this month.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys.
        <section class="scroll-x" aria-label="Apps and what they used" tabIndex={0}>
          <table class="list">
            <thead>
              <tr>
                <th scope="col">App</th>
                <th scope="col" class="number">
                  Spent
                </th>
                <th scope="col" class="number">
                  Failed attempts
                </th>
                <th scope="col" class="number">
                  Turns
                </th>
                <th scope="col" class="number">
                  Conversations
                </th>
                <th scope="col" class="number">
                  Test turns
                </th>
              </tr>
            </thead>
            <tbody>
              {usage.apps.map((app) => (
                <tr key={app.app_id}>
                  <th scope="row">
                    {app.name === null ? `${app.app_id}, deleted` : <a href={appAddress(app.app_id, 'usage')}>{app.name}</a>}
                  </th>
                  <td class="number">{usd(app.spent_usd)}</td>
                  <td class="number">{usd(app.failed_usd)}</td>
                  <td class="number">{app.turns.toLocaleString('en')}</td>
                  <td class="number">{app.conversations.toLocaleString('en')}</td>
                  <td class="number">{app.sandbox_turns.toLocaleString('en')}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </section>
  );
}

const CREDIT_MIN_USD = 10;

interface CreditFields extends Record<string, unknown> {
  readonly amount_usd: number | null;
}

const NO_AMOUNT: CreditFields = { amount_usd: null };

interface CreditProps {
  readonly organisation: string;
  readonly usage: Usage;
  readonly onBought: () => void;
}

function CreditCard({ organisation, usage, onBought }: CreditProps) {
  const { credit, users, sandbox_conversations: sandbox } = usage;
  const form = useForm<CreditFields>(`credit-${organisation}`, NO_AMOUNT, async (_, { amount_usd: amount }) => {
    await ask('POST', `/orgs/${encodeURIComponent(organisation)}/credit`, { amount_usd: amount });
    toast(`${amount} USD of credit were added.`);
    onBought();
  });
  return (
    <section class="card" aria-label="Credit and caps">
      <h2>
        Credit and caps, now
        {credit.exhausted && <span class="chip is-bad">used up</span>}
      </h2>
      <div class="levels">
        <Level
          label="Plan credit"
          used={credit.plan_usd - credit.plan_left_usd}
          of={credit.plan_usd}
          words={`${usd(credit.plan_left_usd)} of ${usd(credit.plan_usd)} left, anew on ${dayOf(credit.resets_at)}`}
        />
        <Level label="Bought credit" used={0} of={1} words={`${usd(credit.purchased_left_usd)} left`} isSoft />
        {credit.overdrawn_usd > 0 && (
          <Level label="Overdrawn" used={1} of={1} words={`${usd(credit.overdrawn_usd)}, taken from the next credit`} />
        )}
        <Level
          label="Users"
          used={users.count}
          of={users.allowance}
          words={`${users.count.toLocaleString('en')} of ${users.allowance.toLocaleString('en')} in ${users.window_days} days; more shuts nothing off`}
          isSoft
        />
        <Level
          label="Test conversations"
          used={sandbox.count}
          of={sandbox.limit}
          words={`${sandbox.count.toLocaleString('en')} of ${sandbox.limit.toLocaleString('en')} in the month`}
        />
      </div>
      <form
        noValidate
        class="card-form"
        aria-label="Add credit"
        onSubmit={(event) => {
          event.preventDefault();
          form.save();
        }}
      >
        <NumberField
          label="Add credit"
          unit="USD"
          min={CREDIT_MIN_USD}
          step={0.01}
          value={form.values.amount_usd}
          fault={form.faultOf('amount_usd')}
          hint={`At least ${CREDIT_MIN_USD} USD; valid for 12 months, and used after the plan's. Nothing is charged here: enter what was paid.`}
          onInput={(to) => form.set('amount_usd', to)}
        />
        {form.act.error !== undefined && <Problem error={form.act.error} />}
        <div class="row">
          <button type="submit" class="button" disabled={form.act.isUnderWay || form.values.amount_usd === null}>
            Add the credit
          </button>
        </div>
      </form>
    </section>
  );
}

const TOP_UP_SIGNALS: Readonly<Record<string, string>> = { charged: 'is-ok', manual: 'is-ok', pending: 'is-wait', failed: 'is-bad' };

function TopUpsCard({ usage }: { readonly usage: Usage }) {
  if (usage.top_ups.length === 0) return null;
  return (
    <section class="card" aria-label="Automatic top-ups">
      <h2>Automatic top-ups</h2>
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
    </section>
  );
}

function MailsCard({ usage }: { readonly usage: Usage }) {
  if (usage.mails.length === 0) return null;
  return (
    <section class="card" aria-label="Mails about usage">
      <h2>Mails about usage</h2>
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
    </section>
  );
}
