/** An organisation's credit by kind and its caps: how much is left, until when at the pace so far, and adding credit. */

import type { Usage } from '../../../protocol/console/answers.ts';
import { ask } from '../api/api.ts';
import { Card } from '../parts/card.tsx';
import { NumberField } from '../parts/fields.tsx';
import { Form } from '../parts/form.tsx';
import { useForm } from '../parts/form-hook.ts';
import { dayOf } from '../parts/times.ts';
import { toast } from '../shell/toasts.tsx';
import { latestSpend, usd, usedUpAtMs } from './pace.ts';
import { Level } from './usage-parts.tsx';

const CREDIT_MIN_USD = 10;

interface CreditFields extends Record<string, unknown> {
  readonly amount_usd: number | null;
}

const NO_AMOUNT: CreditFields = { amount_usd: null };

interface CreditProps {
  readonly organisation: string;
  readonly usage: Usage;
  readonly isThisMonth: boolean;
  readonly onBought: () => void;
}

export function CreditCard({ organisation, usage, isThisMonth, onBought }: CreditProps) {
  const { credit } = usage;
  const form = useForm<CreditFields>(`credit-${organisation}`, NO_AMOUNT, async (_, { amount_usd: amount }) => {
    await ask('POST', `/orgs/${encodeURIComponent(organisation)}/credit`, { amount_usd: amount });
    toast(`${usd(amount ?? 0)} of credit were added.`);
    onBought();
  });
  return (
    <Card title="Credit and caps, now" label="Credit and caps" aside={credit.exhausted && <span class="chip is-bad">used up</span>}>
      <Levels usage={usage} isThisMonth={isThisMonth} />
      <Form
        look="card-form"
        label="Add credit"
        act={form.act}
        verb="Add the credit"
        button=""
        isReady={form.values.amount_usd !== null}
        onSubmit={form.save}
      >
        <NumberField
          label="Add credit"
          unit="USD"
          min={CREDIT_MIN_USD}
          step={0.01}
          value={form.values.amount_usd}
          fault={form.faultOf('amount_usd')}
          hint={`At least ${usd(CREDIT_MIN_USD)}; valid for 12 months, and used after the plan's. Nothing is charged here: enter what was paid.`}
          onInput={(to) => form.set('amount_usd', to)}
        />
      </Form>
    </Card>
  );
}

function dayUsedUp({ days }: Usage, left: number, untilMs: number): string | null {
  const nowMs = Date.now();
  const spend = latestSpend(days, nowMs);
  const atMs = usedUpAtMs({ used: spend.usd, left, sinceMs: spend.sinceMs, nowMs, untilMs });
  return atMs === null ? null : `on ${dayOf(new Date(atMs).toISOString())}`;
}

function Levels({ usage, isThisMonth }: Pick<CreditProps, 'usage' | 'isThisMonth'>) {
  const { credit, users, sandbox_conversations: sandbox } = usage;
  const [plan, bought] = [credit.plan_left_usd, credit.purchased_left_usd];
  const until = Date.parse(credit.resets_at);
  const planUsedUp = isThisMonth ? dayUsedUp(usage, plan, until) : null;
  // What was bought is used after the plan's, which comes anew then.
  const boughtUsedUp = isThisMonth && bought > 0 ? dayUsedUp(usage, plan + bought, until) : null;
  return (
    <div class="levels">
      <Level
        label="Plan credit"
        used={credit.plan_usd - credit.plan_left_usd}
        of={credit.plan_usd}
        words={`${usd(credit.plan_left_usd)} of ${usd(credit.plan_usd)} left, anew on ${dayOf(credit.resets_at)}`}
        usedUp={planUsedUp}
      />
      <Level label="Bought credit" used={0} of={1} words={`${usd(bought)} left`} usedUp={boughtUsedUp} isSoft />
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
  );
}
