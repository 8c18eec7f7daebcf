/** Creating an organisation, and an app in one: a name is enough. The app's keys wait on its first page. */

import { useLocation } from 'preact-iso';
import type { Organisation } from '../../../protocol/console/answers.ts';
import { PLAN_NAMES, PLANS, type PlanName } from '../../../protocol/plans.ts';
import { ask } from '../api/api.ts';
import { type App, appAddress, organisationAddress } from '../app/app.ts';
import { type FieldEntry, FieldList } from '../parts/fields.tsx';
import { Form } from '../parts/form.tsx';
import { useForm } from '../parts/form-hook.ts';
import { usd } from '../usage/pace.ts';

/** As the interface allows; its schemas would come with their constants. */
export const NAME_MAX_CHARS = 80;

export const PLAN_OPTIONS = PLAN_NAMES.map((name): readonly [PlanName, string] => {
  const { monthlyCreditUsd, users } = PLANS[name];
  return [name, `${name}: ${usd(monthlyCreditUsd)} a month, ${users.toLocaleString('en')} users`];
});

const NO_ORGANISATION: { readonly name: string; readonly plan: PlanName } = { name: '', plan: 'free' };
const ORGANISATION_FIELDS: readonly FieldEntry[] = [
  { name: 'name', label: 'Name of the organisation', max: NAME_MAX_CHARS, placeholder: 'Acme' },
  {
    name: 'plan',
    kind: 'choice',
    label: 'Plan',
    hint: 'How much credit comes each month. It can be changed at any time, and more credit can be bought.',
    options: PLAN_OPTIONS,
  },
];

export function NewOrganisation() {
  const { route } = useLocation();
  const form = useForm('organisation', NO_ORGANISATION, async (_, values) => {
    const { org } = await ask<{ readonly org: Organisation }>('POST', '/orgs', values);
    route(organisationAddress(org.id));
  });
  const isReady = form.values.name.trim() !== '';
  return (
    <Form label="New organisation" act={form.act} verb="Create the organisation" isReady={isReady} onSubmit={form.save}>
      <FieldList form={form} fields={ORGANISATION_FIELDS} />
    </Form>
  );
}

const APP_FIELDS: readonly FieldEntry[] = [
  { name: 'name', label: 'Name of the app', max: NAME_MAX_CHARS, placeholder: 'Shop' },
  {
    name: 'domain',
    kind: 'mono',
    label: 'Website it runs on',
    hint: "Leave it empty for a mobile app. Only pages of this host may use the app's keys; more hosts are added in its settings.",
    placeholder: 'shop.example.com',
    path: 'allowed_domains',
  },
];

export function NewApp({ organisation }: { readonly organisation: string }) {
  const { route } = useLocation();
  const form = useForm(`app-of-${organisation}`, { name: '', domain: '' }, async (_, { name, domain }) => {
    const domains = domain.trim() === '' ? {} : { allowed_domains: [domain.trim()] };
    const { app } = await ask<{ readonly app: App }>('POST', `/orgs/${encodeURIComponent(organisation)}/apps`, { name, ...domains });
    route(appAddress(app.id));
  });
  const isReady = form.values.name.trim() !== '';
  return (
    <Form label="New app" act={form.act} verb="Create the app" isReady={isReady} onSubmit={form.save}>
      <FieldList form={form} fields={APP_FIELDS} />
    </Form>
  );
}
