/** Creating an organisation: a name and a plan are enough. */
import { useLocation } from 'preact-iso';
import type { PlanName } from '../../../protocol/plans.ts';
import { ask } from '../api/api.ts';
import { Problem } from '../api/problem.tsx';
import { type Organisation, organisationAddress } from '../app/app.ts';
import { SelectField, TextField } from '../parts/fields.tsx';
import { useForm } from '../parts/form-hook.ts';
import { PLAN_OPTIONS } from './plan-options.ts';

interface Fields extends Record<string, unknown> {
  readonly name: string;
  readonly plan: PlanName;
}

const EMPTY: Fields = { name: '', plan: 'free' };
/** As the interface allows. */
const NAME_MAX_CHARS = 80;

export function NewOrganisation() {
  const { route } = useLocation();
  const form = useForm<Fields>('organisation', EMPTY, async (_, values) => {
    const { org } = await ask<{ readonly org: Organisation }>('POST', '/orgs', values);
    route(organisationAddress(org.id));
  });
  return (
    <form
      noValidate
      class="stack"
      aria-label="New organisation"
      onSubmit={(event) => {
        event.preventDefault();
        form.save();
      }}
    >
      <TextField
        label="Name of the organisation"
        value={form.values.name}
        max={NAME_MAX_CHARS}
        placeholder="Acme"
        fault={form.faultOf('name')}
        onInput={(name) => form.set('name', name)}
      />
      <SelectField
        label="Plan"
        hint="How much credit comes each month. It can be changed at any time, and more credit can be bought."
        value={form.values.plan}
        options={PLAN_OPTIONS}
        onChange={(plan) => form.set('plan', plan)}
      />
      {form.act.error !== undefined && <Problem error={form.act.error} />}
      <div class="row">
        <button type="submit" class="button primary" disabled={form.act.isUnderWay || form.values.name.trim() === ''}>
          Create the organisation
        </button>
      </div>
    </form>
  );
}
