/** Creating an app in an organisation. Its keys wait on its first page. */
import { useLocation } from 'preact-iso';
import { ask } from '../api/api.ts';
import { Problem } from '../api/problem.tsx';
import { type App, appAddress } from '../app/app.ts';
import { TextField } from '../parts/fields.tsx';
import { useForm } from '../parts/form-hook.ts';

interface Fields extends Record<string, unknown> {
  readonly name: string;
  readonly domain: string;
}

const EMPTY: Fields = { name: '', domain: '' };
/** As the interface allows. */
const NAME_MAX_CHARS = 80;

export function NewApp({ organisation }: { readonly organisation: string }) {
  const { route } = useLocation();
  const form = useForm<Fields>(`app-of-${organisation}`, EMPTY, async (_, { name, domain }) => {
    const domains = domain.trim() === '' ? {} : { allowed_domains: [domain.trim()] };
    const { app } = await ask<{ readonly app: App }>('POST', `/orgs/${encodeURIComponent(organisation)}/apps`, { name, ...domains });
    route(appAddress(app.id));
  });
  return (
    <form
      noValidate
      class="stack"
      aria-label="New app"
      onSubmit={(event) => {
        event.preventDefault();
        form.save();
      }}
    >
      <TextField
        label="Name of the app"
        value={form.values.name}
        max={NAME_MAX_CHARS}
        placeholder="Shop"
        fault={form.faultOf('name')}
        onInput={(name) => form.set('name', name)}
      />
      <TextField
        label="Website it runs on"
        hint="Leave it empty for a mobile app. Only pages of this host may use the app's keys; more hosts are added in its settings."
        value={form.values.domain}
        placeholder="shop.example.com"
        isMono
        fault={form.faultOf('allowed_domains')}
        onInput={(domain) => form.set('domain', domain)}
      />
      {form.act.error !== undefined && <Problem error={form.act.error} />}
      <div class="row">
        <button type="submit" class="button primary" disabled={form.act.isUnderWay || form.values.name.trim() === ''}>
          Create the app
        </button>
      </div>
    </form>
  );
}
