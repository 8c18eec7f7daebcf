/** Creating an organisation, and an app in one: a name is enough. The app's keys wait on its first page. */
import { useLocation } from 'preact-iso';
import type { Organisation } from '../../../protocol/console/answers.ts';
import { PLAN_NAMES, PLANS, type PlanName } from '../../../protocol/plans.ts';
import { ask } from '../api/api.ts';
import { type App, appAddress, organisationAddress } from '../app/app.ts';
import { SelectField, type SelectOption, TextField } from '../parts/fields.tsx';
import { Form } from '../parts/form.tsx';
import { type Form as FormState, useForm } from '../parts/form-hook.ts';

/** As the interface allows; its schemas would come with their constants. */
const NAME_MAX_CHARS = 80;

interface Named extends Record<string, unknown> {
  readonly name: string;
}

function NameField<Fields extends Named>({ form, of, example }: { form: FormState<Fields>; of: string; example: string }) {
  return (
    <TextField
      label={`Name of the ${of}`}
      value={form.values.name}
      max={NAME_MAX_CHARS}
      placeholder={example}
      fault={form.faultOf('name')}
      onInput={(name) => form.set('name', name)}
    />
  );
}

interface OrganisationFields extends Named {
  readonly plan: PlanName;
}

const NO_ORGANISATION: OrganisationFields = { name: '', plan: 'free' };

export const PLAN_OPTIONS: readonly SelectOption<PlanName>[] = PLAN_NAMES.map((name) => {
  const { monthlyCreditUsd, users } = PLANS[name];
  return { value: name, label: `${name}: ${monthlyCreditUsd} USD a month, ${users.toLocaleString('en')} users` };
});

export function NewOrganisation() {
  const { route } = useLocation();
  const form = useForm('organisation', NO_ORGANISATION, async (_, values) => {
    const { org } = await ask<{ readonly org: Organisation }>('POST', '/orgs', values);
    route(organisationAddress(org.id));
  });
  const isReady = form.values.name.trim() !== '';
  return (
    <Form label="New organisation" act={form.act} verb="Create the organisation" isReady={isReady} onSubmit={form.save}>
      <NameField form={form} of="organisation" example="Acme" />
      <SelectField
        label="Plan"
        hint="How much credit comes each month. It can be changed at any time, and more credit can be bought."
        value={form.values.plan}
        options={PLAN_OPTIONS}
        onChange={(plan) => form.set('plan', plan)}
      />
    </Form>
  );
}

interface AppFields extends Named {
  readonly domain: string;
}

const NO_APP: AppFields = { name: '', domain: '' };

export function NewApp({ organisation }: { readonly organisation: string }) {
  const { route } = useLocation();
  const form = useForm(`app-of-${organisation}`, NO_APP, async (_, { name, domain }) => {
    const domains = domain.trim() === '' ? {} : { allowed_domains: [domain.trim()] };
    const { app } = await ask<{ readonly app: App }>('POST', `/orgs/${encodeURIComponent(organisation)}/apps`, { name, ...domains });
    route(appAddress(app.id));
  });
  const isReady = form.values.name.trim() !== '';
  return (
    <Form label="New app" act={form.act} verb="Create the app" isReady={isReady} onSubmit={form.save}>
      <NameField form={form} of="app" example="Shop" />
      <TextField
        label="Website it runs on"
        hint="Leave it empty for a mobile app. Only pages of this host may use the app's keys; more hosts are added in its settings."
        value={form.values.domain}
        placeholder="shop.example.com"
        isMono
        fault={form.faultOf('allowed_domains')}
        onInput={(domain) => form.set('domain', domain)}
      />
    </Form>
  );
}
