/** The first page of an app: how far it is on the way to its people, and the keys that it is built with. */

import type { Key } from '../../../protocol/console/answers.ts';
import { useAsked } from '../api/asked-hook.ts';
import { Card, Problem } from '../parts/card.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { type App, appPath } from './app.ts';
import { AppPage } from './app-page.tsx';
import { GoLiveCard } from './go-live-card.tsx';

function KeysCard({ id }: { readonly id: string }) {
  const { answer, error, reload } = useAsked<{ readonly keys: readonly Key[] }>(`${appPath(id)}/keys`);
  return (
    <Card title="Keys" note="public by design: they ship inside the app">
      <Problem error={error} retry={reload} />
      <ul class="lines">
        {answer?.keys.map(({ id: keyId, key, channel }) => (
          <li key={keyId} class="line">
            <span class={channel === 'live' ? 'chip is-ok' : 'chip'}>{channel}</span>
            <code class="line-text selectable">{key}</code>
            <CopyButton text={key} label={`Copy the ${channel} key`} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Facts({ app }: { readonly app: App }) {
  return (
    <p class="facts">
      <span>{app.published_version === null ? 'Nothing published yet' : `Version ${app.published_version} is published`}</span>
      <span>{app.handshake_at === null ? 'The app has not called in yet' : 'The app has called in'}</span>
      <code class="selectable">{app.id}</code>
    </p>
  );
}

export function AppOverviewPage() {
  return (
    <AppPage>
      {(app) => (
        <>
          <Facts app={app} />
          <GoLiveCard app={app} />
          <KeysCard id={app.id} />
        </>
      )}
    </AppPage>
  );
}
