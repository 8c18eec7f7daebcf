/** Go live: the four checks, the smoke test, and the two steps that put the assistant before people. */
import type { AppStatus, Check, CheckKey } from '../../../protocol/console/setup-answers.ts';
import { useAsked } from '../api/asked-hook.ts';
import { type App, appAddress, appPath, hasSection } from '../app/app.ts';
import { AppPage } from '../app/app-page.tsx';
import { Button, Problem } from '../parts/card.tsx';
import { ReleaseCard } from './release-card.tsx';
import { SmokeCard } from './smoke-card.tsx';

const LOOK_AGAIN_MS = 5_000;

function isWaiting(answer: AppStatus | undefined): boolean {
  return answer === undefined || answer.go_live.some(({ ok, key }) => !ok && key !== 'smoke');
}

export function GoLivePage() {
  return (
    <AppPage title="Go live" facts="What the service has seen of this app, what is left to do, and the two steps to people.">
      {(app) => <GoLive app={app} />}
    </AppPage>
  );
}

function GoLive({ app }: { readonly app: App }) {
  const { answer, error, reload } = useAsked<AppStatus>(`${appPath(app.id)}/status`, {
    againMs: (status) => (isWaiting(status) ? LOOK_AGAIN_MS : undefined),
  });
  return (
    <>
      <Problem error={error} retry={reload} />
      {answer !== undefined && (
        <div class="go-live">
          <div class="go-live-main">
            <CheckList app={app} checks={answer.go_live} />
            <SmokeCard app={app} onRun={reload} />
          </div>
          <ReleaseCard app={app} status={answer} onChange={reload} />
        </div>
      )}
    </>
  );
}

interface Place {
  readonly section: string;
  readonly label: string;
  readonly todo: string;
}

const PLACES: Readonly<Record<CheckKey, Place>> = {
  app: { section: 'setup', label: 'Let an agent build it in', todo: 'Its first call with the test key is seen here by itself.' },
  knowledge: { section: 'knowledge', label: 'Look at the sources', todo: 'This page looks again by itself.' },
  screens: { section: 'actions', label: 'Compare with the build', todo: 'A build that registers them is seen here by itself.' },
  smoke: { section: '', label: '', todo: 'Run it below.' },
};

function CheckList({ app, checks }: { readonly app: App; readonly checks: readonly Check[] }) {
  const passed = checks.filter(({ ok }) => ok).length;
  return (
    <section class="card" aria-label="Checks">
      <h2>
        Checks <small role="status">{`${passed} of ${checks.length} pass`}</small>
      </h2>
      <ul class="lines">
        {checks.map((check) => (
          <CheckLine key={check.key} app={app} check={check} />
        ))}
      </ul>
    </section>
  );
}

function CheckLine({ app, check: { key, label, ok, detail } }: { readonly app: App; readonly check: Check }) {
  const place = PLACES[key];
  return (
    <li class="line" data-check={key} data-ok={ok}>
      <span class={ok ? 'mark is-ok' : 'mark'} aria-hidden="true">
        {ok ? '✓' : ''}
      </span>
      <div class="line-text">
        <b>{label}</b>
        <span class="unseen">{ok ? ', passed' : ', open'}</span>
        <p class="line-note">
          {detail} {!ok && place.todo}
        </p>
      </div>
      {!ok && hasSection(place.section) && place.section !== '' && <Button label={place.label} href={appAddress(app.id, place.section)} />}
    </li>
  );
}
