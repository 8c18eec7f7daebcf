/** Suspending an app, and deleting it for good. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useAct } from '../api/act-hook.ts';
import { ask } from '../api/api.ts';
import { type App, appPath, organisationAddress } from '../app/app.ts';
import { showApp } from '../app/app-store.ts';
import { Button, Card, Problem } from '../parts/card.tsx';
import { ConfirmByName } from '../parts/confirm-by-name.tsx';
import { toast } from '../shell/toasts.tsx';

export function EndingCard({ app }: { readonly app: App }) {
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
