/** An organisation: its apps, and a new one. */

import { useState } from 'preact/hooks';
import { useRoute } from 'preact-iso';
import { useAsked } from '../api/asked-hook.ts';
import type { App, Organisation } from '../app/app.ts';
import { Button, Card, Problem } from '../parts/card.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Page } from '../shell/page.tsx';
import { AppTable } from './app-table.tsx';
import { NewApp } from './new-forms.tsx';
import { OrganisationSettings } from './organisation-settings.tsx';

export function OrganisationPage() {
  const id = useRoute().params.org ?? '';
  const path = `/orgs/${encodeURIComponent(id)}`;
  const organisation = useAsked<{ readonly org: Organisation }>(path);
  const apps = useAsked<{ readonly apps: readonly App[] }>(`${path}/apps`);
  const error = organisation.error ?? apps.error;
  const [saved, show] = useState<Organisation>();
  const [isCreating, create] = useState(false);
  const found = saved?.id === id ? saved : organisation.answer?.org;
  const list = apps.answer?.apps;
  const retry = () => {
    organisation.reload();
    apps.reload();
  };
  return (
    <Page
      title={found?.name ?? 'Organisation'}
      crumbs={[{ label: 'Overview', href: '/console' }]}
      actions={
        <span class="row">
          <Button label="Usage and credit" href={`/console/orgs/${encodeURIComponent(id)}/usage`} />
          {list !== undefined && list.length > 0 && <Button label="New app" look="primary" onClick={() => create(true)} />}
        </span>
      }
      facts={
        found === undefined ? undefined : (
          <>
            <span>
              Plan <b>{found.plan}</b>
            </span>
            <code class="selectable quiet">{found.id}</code>
          </>
        )
      }
    >
      <Problem error={error} retry={retry} />
      {found !== undefined && list !== undefined && (
        <>
          {list.length > 0 && (
            <Card title="Apps">
              <AppTable organisation={found} apps={list} />
            </Card>
          )}
          {list.length === 0 && (
            <Card title="Create the first app">
              <div class="card-form">
                <p class="hint">
                  An app is one website or mobile app with an assistant of its own. Name it here; on its page a coding agent sets it up.
                </p>
                <NewApp organisation={found.id} />
              </div>
            </Card>
          )}
          {isCreating && (
            <Dialog title="New app" onClose={() => create(false)}>
              <NewApp organisation={found.id} />
            </Dialog>
          )}
          <OrganisationSettings organisation={found} onSaved={show} />
        </>
      )}
    </Page>
  );
}
