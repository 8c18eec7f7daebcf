/** Go live: the four checks, the smoke test, and the two steps that put the assistant before people. */

import { useState } from 'preact/hooks';
import type { AppStatus, Check, CheckKey } from '../../../protocol/console/setup-answers.ts';
import { useAct } from '../api/act-hook.ts';
import { ask } from '../api/api.ts';
import { useAsked } from '../api/asked-hook.ts';
import { type App, appAddress, appPath, markOf } from '../app/app.ts';
import { AppPage } from '../app/app-page.tsx';
import { readApp } from '../app/app-store.ts';
import { Button, Card, Problem } from '../parts/card.tsx';
import { Confirm } from '../parts/dialog.tsx';
import { wholeMomentOf } from '../parts/times.ts';
import { toast } from '../shell/toasts.tsx';
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
            <CheckList app={app} status={answer} />
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

function CheckList({ app, status: { facts, go_live: checks } }: { readonly app: App; readonly status: AppStatus }) {
  const passed = checks.filter(({ ok }) => ok).length;
  return (
    <section class="card" aria-label="Checks">
      <h2>
        Checks <small role="status">{`${passed} of ${checks.length} pass`}</small>
      </h2>
      <ul class="lines">
        {checks.map((check) => (
          <CheckLine key={check.key} app={app} check={check} facts={facts} />
        ))}
      </ul>
    </section>
  );
}

interface CheckLineProps {
  readonly app: App;
  readonly check: Check;
  readonly facts: AppStatus['facts'];
}

function CheckLine({ app, check, facts }: CheckLineProps) {
  const { key, label, ok, detail } = check;
  const { look, sign, word } = markOf(check, facts);
  const place = PLACES[key];
  return (
    <li class="line" data-check={key} data-ok={ok}>
      <span class={look} aria-hidden="true">
        {sign}
      </span>
      <div class="line-text">
        <b>{label}</b>
        <span class="unseen">, {word}</span>
        <p class="line-note">
          {detail} {!ok && place.todo}
        </p>
      </div>
      {!ok && place.section !== '' && <Button label={place.label} href={appAddress(app.id, place.section)} />}
    </li>
  );
}

interface ReleaseCardProps {
  readonly app: App;
  readonly status: AppStatus;
  readonly onChange: () => void;
}

function ReleaseCard({ app, status, onChange }: ReleaseCardProps) {
  return (
    <Card title="To people" aside={<span class={app.live ? 'chip is-ok' : 'chip is-wait'}>{app.live ? 'live' : 'not live yet'}</span>}>
      <div class="card-body">
        <p>{noteWithout(status.release)}</p>
        <Obstacles obstacles={status.release.obstacles} />
        <Publish app={app} version={status.release.published_version} onChange={onChange} />
        {app.live ? <LiveSince app={app} /> : <TakeLive app={app} status={status} onChange={onChange} />}
      </div>
    </Card>
  );
}

/** The note without the obstacles, which are a list here. */
function noteWithout({ note, obstacles }: AppStatus['release']): string {
  return note.slice(0, note.length - obstacles.join(' ').length).trim();
}

function Obstacles({ obstacles }: { readonly obstacles: readonly string[] }) {
  if (obstacles.length === 0) return null;
  return (
    <div class="release-step" data-obstacles>
      <h3>What keeps people from getting it</h3>
      <ul class="open-checks">
        {obstacles.map((obstacle) => (
          <li key={obstacle}>{obstacle}</li>
        ))}
      </ul>
    </div>
  );
}

function LiveSince({ app }: { readonly app: App }) {
  if (app.live_at === null) return null;
  const since = wholeMomentOf(app.live_at);
  return <p class="hint">Live keys have been served since {since}. To stop that, suspend the app in its settings.</p>;
}

function Publish({ app, version, onChange }: { readonly app: App; readonly version: number | null; readonly onChange: () => void }) {
  const act = useAct();
  const publish = () =>
    act.run(async () => {
      const { version: published } = await ask<{ readonly version: number }>('POST', `${appPath(app.id)}/publish`);
      toast(
        published === version ? `Version ${published} is what is published: nothing changed since.` : `Version ${published} is published.`,
      );
      await readApp(app.id);
      onChange();
    });
  return (
    <div class="release-step">
      <h3>1. Publish look and persona</h3>
      <p class="hint">
        {version === null ? 'Nothing is published yet. ' : `Version ${version} is published. `}
        The drafts become what live keys are served. Knowledge, actions and screens need no publishing.
      </p>
      <Button
        label={version === null ? 'Publish the drafts' : `Publish as version ${version + 1}`}
        disabled={act.isUnderWay}
        onClick={publish}
      />
      <Problem error={act.error} retry={publish} />
    </div>
  );
}

function TakeLive({ app, status, onChange }: ReleaseCardProps) {
  const [isAsked, setAsked] = useState(false);
  const act = useAct();
  const open = status.go_live.filter(({ ok }) => !ok);
  const goLive = () =>
    act.run(async () => {
      await ask('POST', `${appPath(app.id)}/go-live`);
      setAsked(false);
      await readApp(app.id);
      onChange();
    });
  return (
    <div class="release-step">
      <h3>2. Take the app live</h3>
      <p class="hint">From then on live keys are answered. An open setup session ends; what it wrote stays.</p>
      <Button label="Take the app live" look="primary" disabled={act.isUnderWay} onClick={() => setAsked(true)} />
      {isAsked && (
        <Confirm
          title={`Take ${app.name} live`}
          verb={open.length === 0 ? 'Go live' : 'Go live all the same'}
          keep="Not yet"
          isHarmless={open.length === 0}
          act={act}
          onConfirm={goLive}
          onClose={() => setAsked(false)}
        >
          {open.length === 0 ? (
            <p>All checks pass. People get the assistant with their next request.</p>
          ) : (
            <>
              <p>{open.length === 1 ? 'One check does not pass:' : `${open.length} checks do not pass:`}</p>
              <ul class="open-checks">
                {open.map(({ key, label, detail }) => (
                  <li key={key}>
                    <b>{label}</b> {detail}
                  </li>
                ))}
              </ul>
            </>
          )}
        </Confirm>
      )}
    </div>
  );
}
