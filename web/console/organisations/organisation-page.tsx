/** An organisation: its apps, and a new one. */

import { useState } from 'preact/hooks';
import { useRoute } from 'preact-iso';
import { useAsked } from '../api/asked-hook.ts';
import type { App, Organisation } from '../app/app.ts';
import { Button, Card, Problem } from '../parts/card.tsx';
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
      actions={<Button label="Usage and credit" href={`/console/orgs/${encodeURIComponent(id)}/usage`} />}
      facts={
        found === undefined ? undefined : (
          <>
            <span>
              Plan <b>{found.plan}</b>
            </span>
            <code class="selectable">{found.id}</code>
          </>
        )
      }
    >
      <Problem error={error} retry={retry} />
      {found !== undefined && list !== undefined && (
        <>
          {list.length > 0 && (
            <Card title="Apps">
              <AppTable organisation={found.name} apps={list} />
            </Card>
          )}
          <Card title={list.length === 0 ? 'Create the first app' : 'A new app'} label="A new app">
            <div class="card-form">
              {list.length === 0 && (
                <p class="hint">
                  An app is one website or mobile app with an assistant of its own. Name it here; on its page a coding agent sets it up.
                </p>
              )}
              <NewApp organisation={found.id} />
            </div>
          </Card>
          <OrganisationSettings organisation={found} onSaved={show} />
        </>
      )}
    </Page>
  );
}
