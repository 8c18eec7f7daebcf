/** The two steps to people: the drafts are published, and the app goes live. */

import { useState } from 'preact/hooks';
import type { AppStatus } from '../../../protocol/console/setup-answers.ts';
import { useAct } from '../api/act-hook.ts';
import { ask } from '../api/api.ts';
import { type App, appPath } from '../app/app.ts';
import { readApp } from '../app/app-store.ts';
import { Button, Card, Problem } from '../parts/card.tsx';
import { Confirm } from '../parts/dialog.tsx';
import { wholeMomentOf } from '../parts/times.ts';
import { toast } from '../shell/toasts.tsx';

interface ReleaseCardProps {
  readonly app: App;
  readonly status: AppStatus;
  readonly onChange: () => void;
}

export function ReleaseCard({ app, status, onChange }: ReleaseCardProps) {
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
