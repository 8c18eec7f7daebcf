/** Go live: the checks, the smoke test, and the two steps that put the assistant before people. */

import { useState } from 'preact/hooks';
import type { AppStatus, Check, CheckKey } from '../../../protocol/console/setup-answers.ts';
import { useAct } from '../api/act-hook.ts';
import { ask } from '../api/api.ts';
import { useAsked } from '../api/asked-hook.ts';
import { type App, appAddress, appPath, checksOf, markOf } from '../app/app.ts';
import { AppPage } from '../app/app-page.tsx';
import { readApp } from '../app/app-store.ts';
import { Button, Card, Problem } from '../parts/card.tsx';
import { Confirm } from '../parts/dialog.tsx';
import { wholeMomentOf } from '../parts/times.ts';
import { toast } from '../shell/toasts.tsx';
import { SmokeCard } from './smoke-card.tsx';

const LOOK_AGAIN_MS = 5_000;

function isWaiting(answer: AppStatus | undefined): boolean {
  return answer === undefined || checksOf(answer).some(({ ok, key }) => !ok && key !== 'smoke');
}

export function GoLivePage() {
  return (
    <AppPage title="Go live" facts="Check, test, publish and take the app live.">
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
          <Verdict app={app} status={answer} />
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

const counted = (count: number) => (count === 1 ? '1 check does' : `${count} checks do`);

/** What is so, in one sentence: whether people get the assistant, whatever the app's state is called. */
function verdictOf({ live, suspended, blocked }: App, open: number): { readonly look: string; readonly words: string } {
  if (suspended) return { look: 'is-bad', words: 'Suspended: nobody gets the assistant' };
  if (blocked) return { look: 'is-wait', words: 'Live, but blocked on every website' };
  if (!live && open > 0) return { look: 'is-wait', words: `Not live: ${counted(open)} not pass yet` };
  if (!live) return { look: 'is-accent', words: 'Ready to go live: every check passes' };
  if (open > 0) return { look: 'is-wait', words: `Live, though ${counted(open)} not pass` };
  return { look: 'is-ok', words: 'Live, and people get it' };
}

function Verdict({ app, status }: { readonly app: App; readonly status: AppStatus }) {
  const open = checksOf(status).filter(({ ok }) => !ok).length;
  const { look, words } = verdictOf(app, open);
  return (
    <section class={`card live-verdict ${look}`} aria-label="Whether people get it">
      <h2>{words}</h2>
      <div class="card-body">
        <p>
          {app.blocked ? 'The live key answers on no page until a domain is allowed.' : noteWithout(status.release)}
          {app.live && open > 0 && !app.blocked && ' It stays live whatever the checks find: they are about what it would be today.'}
        </p>
        {app.blocked && <Button label={PLACES.domains.label} look="primary" href={appAddress(app.id, PLACES.domains.section)} />}
      </div>
    </section>
  );
}

/** The note without the obstacles, which are among the checks here. */
function noteWithout({ note, obstacles }: AppStatus['release']): string {
  return note.slice(0, note.length - obstacles.join(' ').length).trim();
}

interface Place {
  readonly section: string;
  readonly label: string;
  readonly todo: string;
}

const PLACES: Readonly<Record<CheckKey, Place>> = {
  app: { section: 'setup', label: 'Let an agent build it in', todo: 'Its first call with the test key is seen here by itself.' },
  knowledge: { section: 'knowledge', label: 'View sources', todo: 'This page looks again by itself.' },
  screens: { section: 'actions', label: 'Compare with the build', todo: 'A build that registers them is seen here by itself.' },
  smoke: { section: '', label: '', todo: 'Run it below.' },
  domains: { section: 'settings', label: 'Allow a domain', todo: '' },
  addresses: { section: 'actions', label: 'View actions', todo: '' },
  answered: { section: '', label: '', todo: 'It is seen here by itself.' },
  models: { section: 'assistant', label: 'Choose a model', todo: '' },
};

function CheckList({ app, status }: { readonly app: App; readonly status: AppStatus }) {
  const checks = checksOf(status);
  const passed = checks.filter(({ ok }) => ok).length;
  return (
    <section class="card" aria-label="Checks">
      <h2>
        Checks <small role="status">{`${passed} of ${checks.length}`}</small>
      </h2>
      <ul class="lines">
        {checks.map((check) => (
          <CheckLine key={check.key} app={app} check={check} facts={status.facts} />
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
    <Card title="Release">
      <div class="card-body">
        <Publish app={app} release={status.release} onChange={onChange} />
        {app.live ? <LiveSince app={app} /> : <TakeLive app={app} status={status} onChange={onChange} />}
      </div>
    </Card>
  );
}

function LiveSince({ app }: { readonly app: App }) {
  return (
    <div class="release-step">
      <StepTitle mark="done" words="2. Take the app live" />
      <p class="hint">
        {app.live_at !== null && `Live keys have been served since ${wholeMomentOf(app.live_at)}. `}
        To stop that, suspend the app in its settings.
      </p>
    </div>
  );
}

const STEP_MARKS = {
  open: { look: 'mark', sign: '', words: 'to do' },
  stale: { look: 'mark is-wait', sign: '!', words: 'to do again' },
  done: { look: 'mark is-ok', sign: '✓', words: 'done' },
} as const;

function StepTitle({ mark, words }: { readonly mark: keyof typeof STEP_MARKS; readonly words: string }) {
  const { look, sign, words: unseen } = STEP_MARKS[mark];
  return (
    <h3>
      <span class={look} aria-hidden="true">
        {sign}
      </span>
      {words}
      <span class="unseen">, {unseen}</span>
    </h3>
  );
}

interface PublishProps extends Omit<ReleaseCardProps, 'status'> {
  readonly release: AppStatus['release'];
}

function Publish({ app, release: { published_version: version, unpublished }, onChange }: PublishProps) {
  const act = useAct();
  const publish = () =>
    act.run(async () => {
      const { version: published } = await ask<{ readonly version: number }>('POST', `${appPath(app.id)}/publish`);
      toast(`Version ${published} is published.`);
      await readApp(app.id);
      onChange();
    });
  return (
    <div class="release-step">
      <StepTitle mark={version === null ? 'open' : unpublished ? 'stale' : 'done'} words="1. Publish appearance and assistant" />
      <p class="hint">
        {version !== null && unpublished && <span class="chip is-wait">Unpublished drafts</span>}{' '}
        {version === null
          ? 'Nothing is published yet. '
          : `Version ${version} is published${unpublished ? '' : ', which matches the drafts'}. `}
        {(version === null || unpublished) && 'The drafts become what live keys are served. '}
        Knowledge, actions and screens need no publishing.
      </p>
      {(version === null || unpublished) && (
        <Button
          label={version === null ? 'Publish the drafts' : `Publish as version ${version + 1}`}
          disabled={act.isUnderWay}
          onClick={publish}
        />
      )}
      <Problem error={act.error} retry={publish} />
    </div>
  );
}

function TakeLive({ app, status, onChange }: ReleaseCardProps) {
  const [isAsked, setAsked] = useState(false);
  const act = useAct();
  const open = checksOf(status).filter(({ ok }) => !ok);
  const goLive = () =>
    act.run(async () => {
      await ask('POST', `${appPath(app.id)}/go-live`);
      setAsked(false);
      await readApp(app.id);
      onChange();
    });
  return (
    <div class="release-step">
      <StepTitle mark="open" words="2. Take the app live" />
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
