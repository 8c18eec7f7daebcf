/** What is set of an organisation: its name and plan, who gets its mails, and topping up by itself. */
import type { Organisation } from '../../../protocol/console/answers.ts';
import { isPlanName, type PlanName } from '../../../protocol/plans.ts';
import { ask } from '../api/api.ts';
import { NumberField, SelectField, Switch, TextArea, TextField } from '../parts/fields.tsx';
import { useForm } from '../parts/form-hook.ts';
import { SaveBar } from '../parts/save-bar.tsx';
import { PLAN_OPTIONS } from './new-forms.tsx';

interface Fields extends Record<string, unknown> {
  readonly name: string;
  readonly plan: PlanName;
  readonly members: string;
  readonly top_up: boolean;
  readonly amount_usd: number | null;
  readonly stripe_customer: string;
}

const LABELS = {
  name: 'Name',
  plan: 'Plan',
  members: 'Members',
  top_up: 'Top up by itself',
  amount_usd: 'Amount of a top-up',
  stripe_customer: 'Stripe customer',
};
/** As the interface allows. */
const NAME_MAX_CHARS = 80;
const TOP_UP_MIN_USD = 10;

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
  const lines = text.split('\n').map((line) => line.trim());
  return lines
    .filter((line) => line !== '')
    .map((line) => {
      const [email = '', ...name] = line.split(/\s+/);
      return { email, name: name.join(' ') };
    });
}

function patchOf(changes: Partial<Fields>, values: Fields): Record<string, unknown> {
  const isTopUp = 'top_up' in changes || 'amount_usd' in changes || 'stripe_customer' in changes;
  const customer = values.stripe_customer.trim();
  return {
    ...(changes.name === undefined ? {} : { name: changes.name }),
    ...(changes.plan === undefined ? {} : { plan: changes.plan }),
    ...(changes.members === undefined ? {} : { members: membersOf(changes.members) }),
    ...(isTopUp
      ? {
          auto_top_up: { enabled: values.top_up, amount_usd: values.amount_usd, ...(customer === '' ? {} : { stripe_customer: customer }) },
        }
      : {}),
  };
}

export interface OrganisationSettingsProps {
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
  const { values, set, faultOf } = form;
  return (
    <>
      <section class="card" aria-label="Settings of the organisation">
        <h2>Settings</h2>
        <div class="fields">
          <TextField
            label={LABELS.name}
            max={NAME_MAX_CHARS}
            value={values.name}
            fault={faultOf('name')}
            onInput={(to) => set('name', to)}
          />
          <SelectField
            label={LABELS.plan}
            hint="A new plan counts for the whole month it is made in."
            value={values.plan}
            options={PLAN_OPTIONS}
            fault={faultOf('plan')}
            onChange={(to) => set('plan', to)}
          />
          <TextArea
            label={LABELS.members}
            hint="Who gets mails about usage: one a line, e-mail address and name."
            rows={2}
            placeholder="ada@example.com Ada"
            value={values.members}
            fault={faultOf('members')}
            onInput={(to) => set('members', to)}
          />
          <Switch
            label={LABELS.top_up}
            hint="Credit that is nearly used up is bought again, from the default card of a Stripe customer. Default: off."
            isOn={values.top_up}
            fault={faultOf('auto_top_up.enabled')}
            onChange={(to) => set('top_up', to)}
          />
          <NumberField
            label={LABELS.amount_usd}
            hint={`At least ${TOP_UP_MIN_USD} USD, in whole cents.`}
            unit="USD"
            min={TOP_UP_MIN_USD}
            step={0.01}
            value={values.amount_usd}
            fault={faultOf('auto_top_up.amount_usd')}
            onInput={(to) => set('amount_usd', to)}
          />
          <TextField
            label={LABELS.stripe_customer}
            hint="Whose card is charged."
            placeholder="cus_…"
            isMono
            value={values.stripe_customer}
            fault={faultOf('auto_top_up.stripe_customer')}
            onInput={(to) => set('stripe_customer', to)}
          />
        </div>
      </section>
      <SaveBar form={form} labels={LABELS} />
    </>
  );
}
