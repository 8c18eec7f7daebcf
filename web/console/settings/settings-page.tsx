/** Everything of an app that is set by hand: settings, keys, the identity secret, suspending and deleting it. */
import { ask } from '../api/api.ts';
import { type App, appPath } from '../app/app.ts';
import { AppPage } from '../app/app-page.tsx';
import { readApp, showApp } from '../app/app-store.ts';
import { NumberField, Switch, TextArea, TextField } from '../parts/fields.tsx';
import type { Form } from '../parts/form-hook.ts';
import { useForm } from '../parts/form-hook.ts';
import { SaveBar } from '../parts/save-bar.tsx';
import { EndingCard } from './ending-card.tsx';
import { KeysCard } from './keys-card.tsx';
import { SecretCard } from './secret-card.tsx';
import { fieldsOf, patchOf, pathOf, SETTING_GROUPS, SETTING_LABELS, type Setting, type SettingFields } from './settings.ts';

/** A list of a few lines; it grows with what is in it. */
const LINES_SHOWN = 2;

function SettingField({ form, setting }: { readonly form: Form<SettingFields>; readonly setting: Setting }) {
  const { name, kind, ...rest } = setting;
  const value = form.values[name];
  const frame = { ...rest, fault: form.faultOf(pathOf(name)) };
  const set = (to: unknown) => form.set(name, to as never);
  if (kind === 'switch') return <Switch {...frame} isOn={value === true} onChange={set} />;
  if (kind === 'number') return <NumberField {...frame} value={value as number | null} onInput={set} />;
  if (kind === 'lines') return <TextArea {...frame} isMono rows={LINES_SHOWN} value={String(value)} onInput={set} />;
  if (kind === 'long') return <TextArea {...frame} value={String(value)} onInput={set} />;
  return <TextField {...frame} isMono={kind === 'mono'} value={String(value)} onInput={set} />;
}

export function SettingsPage() {
  return <AppPage title="Settings">{(app) => <Settings app={app} />}</AppPage>;
}

function Settings({ app }: { readonly app: App }) {
  const path = appPath(app.id);
  const send = async (changes: Partial<SettingFields>) => showApp((await ask<{ readonly app: App }>('PATCH', path, patchOf(changes))).app);
  const form = useForm<SettingFields>(`settings-${app.id}`, fieldsOf(app), send, {
    read: async () => fieldsOf((await ask<{ readonly app: App }>('GET', path)).app),
    reload: () => void readApp(app.id),
  });
  return (
    <>
      <KeysCard app={app} />
      {SETTING_GROUPS.map(({ title, settings }) => (
        <section key={title} class="card" aria-label={title}>
          <h2>{title}</h2>
          <div class="fields">
            {settings.map((setting) => (
              <SettingField key={setting.name} form={form} setting={setting} />
            ))}
          </div>
        </section>
      ))}
      <SecretCard app={app} />
      <EndingCard app={app} />
      <SaveBar form={form} labels={SETTING_LABELS} />
    </>
  );
}
