/** Everything of an app that is set by hand: settings, keys, the identity secret, suspending and deleting it. */
import { ask } from '../api/api.ts';
import { type App, appPath } from '../app/app.ts';
import { AppPage } from '../app/app-page.tsx';
import { readApp, showApp } from '../app/app-store.ts';
import { Card } from '../parts/card.tsx';
import { FieldList } from '../parts/fields.tsx';
import { useForm } from '../parts/form-hook.ts';
import { SaveBar } from '../parts/save-bar.tsx';
import { EndingCard } from './ending-card.tsx';
import { KeysCard } from './keys-card.tsx';
import { SecretCard } from './secret-card.tsx';
import { fieldsOf, patchOf, SETTING_GROUPS, SETTING_LABELS, type SettingFields } from './settings.ts';

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
        <Card key={title} title={title}>
          <div class="fields">
            <FieldList form={form} fields={settings} />
          </div>
        </Card>
      ))}
      <SecretCard app={app} />
      <EndingCard app={app} />
      <SaveBar form={form} labels={SETTING_LABELS} />
    </>
  );
}
