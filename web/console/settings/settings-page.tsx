/** Everything of an app that is set by hand: settings, keys, the identity secret, suspending and deleting it. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { Secret } from '../../../protocol/console/answers.ts';
import { useAct } from '../api/act-hook.ts';
import { ask } from '../api/api.ts';
import { type App, appPath, organisationAddress } from '../app/app.ts';
import { AppPage } from '../app/app-page.tsx';
import { readApp, showApp } from '../app/app-store.ts';
import { Button, Card, Problem } from '../parts/card.tsx';
import { ConfirmByName } from '../parts/confirm-by-name.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { Confirm } from '../parts/dialog.tsx';
import { FieldList } from '../parts/fields.tsx';
import { useForm } from '../parts/form-hook.ts';
import { SaveBar } from '../parts/save-bar.tsx';
import { momentOf } from '../parts/times.ts';
import { toast } from '../shell/toasts.tsx';
import { KeysCard } from './keys-card.tsx';
import { fieldsOf, patchOf, SETTING_GROUPS, SETTING_LABELS, type SettingFields } from './settings.ts';

export function SettingsPage() {
  return (
    <AppPage title="Settings" facts="What is saved here counts from the next request on.">
      {(app) => <Settings app={app} />}
    </AppPage>
  );
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

function SecretCard({ app }: { readonly app: App }) {
  const path = `${appPath(app.id)}/identity-secret`;
  const [secret, show] = useState<Secret>();
  const [isAsked, question] = useState(false);
  const act = useAct();
  const read = () => act.run(async () => show(await ask<Secret>('GET', path)));
  const rotate = () =>
    act.run(async () => {
      show(await ask<Secret>('POST', `${path}/rotate`));
      question(false);
    });
  return (
    <Card title="Identity secret">
      <div class="card-body">
        <p class="hint">
          Your backend signs the ids of people with it: HMAC-SHA256 of the id, in lowercase hex. It never belongs in the app or in a page.
        </p>
        {act.error !== undefined && !isAsked && <Problem error={act.error} />}
        {secret !== undefined && <code class="secret selectable">{secret.identity_secret}</code>}
        {secret?.previous != null && (
          <p class="hint">Signatures made with the one before count until {momentOf(secret.previous.valid_until)}.</p>
        )}
        <div class="row">
          {secret === undefined ? (
            <Button label="Show the secret" disabled={act.isUnderWay} onClick={read} />
          ) : (
            <>
              <CopyButton text={secret.identity_secret} label="Copy the secret" />
              <Button label="Hide" onClick={() => show(undefined)} />
            </>
          )}
          <Button label="Rotate…" onClick={() => question(true)} />
        </div>
      </div>
      {isAsked && (
        <Confirm
          title="Rotate the identity secret"
          verb="Rotate the secret"
          keep="Keep it"
          act={act}
          onConfirm={rotate}
          onClose={() => question(false)}
        >
          <p class="hint">
            A new secret takes its place. Signatures made with this one count for 24 hours more: change your backend by then.
          </p>
        </Confirm>
      )}
    </Card>
  );
}

function EndingCard({ app }: { readonly app: App }) {
  const { route } = useLocation();
  const [isDeleting, startDeleting] = useState(false);
  const act = useAct();
  const suspend = () =>
    act.run(async () => {
      const answer = await ask<{ readonly app: App }>('PATCH', appPath(app.id), { suspended: !app.suspended });
      showApp(answer.app);
    });
  const remove = async () => {
    await ask('DELETE', appPath(app.id));
    toast(`${app.name} was deleted.`);
    route(organisationAddress(app.org_id));
  };
  return (
    <Card title="Suspend or delete">
      <Problem error={act.error} />
      <ul class="lines">
        <li class="line">
          <span class="line-text">
            <b>{app.suspended ? 'The app is suspended' : 'Suspend the app'}</b>
            <span class="line-note">
              {app.suspended ? ': nobody is served. Nothing is lost.' : ': nobody is served until it is resumed. Nothing is lost.'}
            </span>
          </span>
          <Button label={app.suspended ? 'Resume the app' : 'Suspend the app'} disabled={act.isUnderWay} onClick={suspend} />
        </li>
        <li class="line">
          <span class="line-text">
            <b>Delete the app</b>
            <span class="line-note">: its keys, knowledge, people and conversations are gone. What it spent stays in the usage.</span>
          </span>
          <Button label="Delete…" look="danger" onClick={() => startDeleting(true)} />
        </li>
      </ul>
      {isDeleting && (
        <ConfirmByName
          title={`Delete ${app.name}`}
          name={app.name}
          verb="Delete the app"
          onConfirm={remove}
          onClose={() => startDeleting(false)}
        >
          Keys, knowledge, people and conversations of this app are erased at once. This cannot be taken back.
        </ConfirmByName>
      )}
    </Card>
  );
}
