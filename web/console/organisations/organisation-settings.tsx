/** What is set of an organisation: its name and plan, who gets its mails, and topping up by itself. */

import type { Organisation } from '../../../protocol/console/answers.ts';
import { isPlanName, type PlanName } from '../../../protocol/plans.ts';
import { ask } from '../api/api.ts';
import { Card } from '../parts/card.tsx';
import { type FieldEntry, FieldList, labelsOf, linesOf } from '../parts/fields.tsx';
import { useForm } from '../parts/form-hook.ts';
import { SaveBar } from '../parts/save-bar.tsx';
import { usd } from '../usage/pace.ts';
import { NAME_MAX_CHARS, PLAN_OPTIONS } from './new-forms.tsx';

interface Fields extends Record<string, unknown> {
  readonly name: string;
  readonly plan: PlanName;
  readonly members: string;
  readonly top_up: boolean;
  readonly amount_usd: number | null;
  readonly stripe_customer: string;
}

/** As the interface allows. */
const TOP_UP_MIN_USD = 10;

const FIELDS: readonly FieldEntry[] = [
  { name: 'name', label: 'Name', max: NAME_MAX_CHARS },
  { name: 'plan', kind: 'choice', label: 'Plan', hint: 'A new plan counts for the whole month it is made in.', options: PLAN_OPTIONS },
  {
    name: 'members',
    kind: 'long',
    label: 'Members',
    hint: 'Who gets mails about usage: one a line, e-mail address and name.',
    rows: 2,
    placeholder: 'ada@example.com Ada',
  },
  {
    name: 'top_up',
    kind: 'switch',
    label: 'Top up by itself',
    hint: 'Credit that is nearly used up is bought again, from the default card of a Stripe customer. Default: off.',
    path: 'auto_top_up.enabled',
  },
  {
    name: 'amount_usd',
    kind: 'number',
    label: 'Amount of a top-up',
    hint: `At least ${usd(TOP_UP_MIN_USD)}, in whole cents.`,
    unit: 'USD',
    min: TOP_UP_MIN_USD,
    step: 0.01,
    path: 'auto_top_up.amount_usd',
  },
  {
    name: 'stripe_customer',
    kind: 'mono',
    label: 'Stripe customer',
    hint: 'Whose card is charged.',
    placeholder: 'cus_…',
    path: 'auto_top_up.stripe_customer',
  },
];
const LABELS = labelsOf(FIELDS);

function fieldsOf({ name, plan, members, auto_top_up: topUp }: Organisation): Fields {
  return {
    name,
    plan: isPlanName(plan) ? plan : 'free',
    members: members.map((member) => `${member.email} ${member.name}`.trim()).join('\n'),
    top_up: topUp.enabled,
    amount_usd: topUp.amount_usd ?? TOP_UP_MIN_USD,
    stripe_customer: topUp.stripe_customer ?? '',
  };
}

/** `ada@example.com Ada Byron` a line. */
function membersOf(text: string): { email: string; name: string }[] {
  return linesOf(text).map((line) => {
    const [email = '', ...name] = line.split(/\s+/);
    return { email, name: name.join(' ') };
  });
}

function patchOf(changes: Partial<Fields>, values: Fields): Record<string, unknown> {
  const { name, plan, members } = changes;
  const isTopUp = 'top_up' in changes || 'amount_usd' in changes || 'stripe_customer' in changes;
  const customer = values.stripe_customer.trim();
  const topUp = { enabled: values.top_up, amount_usd: values.amount_usd, ...(customer === '' ? {} : { stripe_customer: customer }) };
  return {
    ...(name === undefined ? {} : { name }),
    ...(plan === undefined ? {} : { plan }),
    ...(members === undefined ? {} : { members: membersOf(members) }),
    ...(isTopUp ? { auto_top_up: topUp } : {}),
  };
}

interface OrganisationSettingsProps {
  readonly organisation: Organisation;
  readonly onSaved: (organisation: Organisation) => void;
}

export function OrganisationSettings({ organisation, onSaved }: OrganisationSettingsProps) {
  const path = `/orgs/${encodeURIComponent(organisation.id)}`;
  const send = async (changes: Partial<Fields>, values: Fields) =>
    onSaved((await ask<{ readonly org: Organisation }>('PATCH', path, patchOf(changes, values))).org);
  let latest = organisation;
  const form = useForm<Fields>(`organisation-${organisation.id}`, fieldsOf(organisation), send, {
    async read() {
      latest = (await ask<{ readonly org: Organisation }>('GET', path)).org;
      return fieldsOf(latest);
    },
    reload: () => onSaved(latest),
  });
  return (
    <>
      <Card title="Settings" label="Settings of the organisation">
        <div class="fields">
          <FieldList form={form} fields={FIELDS} />
        </div>
      </Card>
      <SaveBar form={form} labels={LABELS} />
    </>
  );
}
