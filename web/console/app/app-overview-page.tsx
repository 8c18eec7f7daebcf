/** The first page of an app: how far it is on the way to its people, and the keys that it is built with. */
import type { Key } from '../../../protocol/console/answers.ts';
import type { AppStatus } from '../../../protocol/console/setup-answers.ts';
import { useAsked } from '../api/asked-hook.ts';
import { Button, Card, Problem } from '../parts/card.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { type App, appAddress, appPath, SECTIONS } from './app.ts';
import { AppPage } from './app-page.tsx';

const SECTION_OF_CHECK: Readonly<Record<string, string>> = { app: 'setup', knowledge: 'knowledge', screens: 'actions', smoke: 'go-live' };

function SectionLink({ app, section }: { readonly app: App; readonly section: string }) {
  const found = SECTIONS.find(({ name }) => name === section);
  if (found === undefined) return null;
  return <Button label={`Open ${found.label}`} href={appAddress(app.id, section)} />;
}

function CheckCount({ checks }: { readonly checks: AppStatus['go_live'] }) {
  return (
    <small>
      {checks.filter(({ ok }) => ok).length} of {checks.length} checks pass
    </small>
  );
}

function GoLiveCard({ app }: { readonly app: App }) {
  const { answer, error, reload } = useAsked<AppStatus>(`${appPath(app.id)}/status`);
  const isNew = answer?.steps === null && app.handshake_at === null;
  return (
    <section class="card" aria-label="On the way to people">
      <h2>
        {app.live ? 'Live' : 'On the way to people'} {answer !== undefined && <CheckCount checks={answer.go_live} />}
      </h2>
      <Problem error={error} retry={reload} />
      {isNew && (
        <div class="card-body">
          <p class="hint">
            Next: let a coding agent set the app up. It reads the app's code, writes look, persona and knowledge as drafts, and builds the
            assistant in. You watch each step.
          </p>
          <Button label="Set the app up" look="primary" href={appAddress(app.id, 'setup')} />
        </div>
      )}
      <ul class="lines">
        {answer?.go_live.map(({ key, label, ok, detail }) => (
          <li key={key} class="line">
            <span class={ok ? 'mark is-ok' : 'mark'} aria-hidden="true">
              {ok ? '✓' : ''}
            </span>
            <span class="line-text">
              <b>{label}</b>
              <span class="unseen">{ok ? ', done' : ', open'}</span> <span class="line-note">{detail}</span>
            </span>
            {!ok && <SectionLink app={app} section={SECTION_OF_CHECK[key] ?? 'go-live'} />}
          </li>
        ))}
        {answer?.release.obstacles.map((obstacle) => (
          <li key={obstacle} class="line">
            <span class="mark" aria-hidden="true" />
            <span class="line-text">
              <b>Keeps people from getting it</b> <span class="line-note">{obstacle}</span>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

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
