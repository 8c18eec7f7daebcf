/** Opens a session: for an app that is not live a setup session, for a live one a session that proposes. */

import { useState } from 'preact/hooks';
import type { OpenedSession } from '../../../protocol/console/setup-answers.ts';
import { useAct } from '../api/act-hook.ts';
import { ask } from '../api/api.ts';
import { type App, appPath } from '../app/app.ts';
import { showApp } from '../app/app-store.ts';
import { Button, Card, Problem } from '../parts/card.tsx';
import { Switch } from '../parts/fields.tsx';
import { keepCommand } from './command-card.tsx';

type Kind = 'setup' | 'sync';

interface OpenSessionProps {
  readonly app: App;
  readonly again?: boolean;
  readonly onOpened: (opened: OpenedSession) => void;
}

const KINDS: readonly { readonly kind: Kind; readonly name: string; readonly what: string }[] = [
  { kind: 'setup', name: 'Set the app up', what: 'What the agent writes counts at once. For an app that is not live yet.' },
  {
    kind: 'sync',
    name: 'Bring it up to date',
    what: 'In a live app every write is a proposal, which waits for your word. Nothing changes before.',
  },
];

/** What the end of the session may bring about, said before it begins, with the switch beside it. */
function GoingLive({ app }: { readonly app: App }) {
  const act = useAct();
  const set = (to: boolean) =>
    act.run(async () => showApp((await ask<{ readonly app: App }>('PATCH', appPath(app.id), { auto_go_live: to })).app));
  const published = app.publish_on_go_live ? ' The drafts of appearance and assistant are published with it.' : '';
  return (
    <>
      <Switch
        label="Go live by itself"
        hint={
          app.auto_go_live
            ? `When the agent is done and all four checks pass, people get the assistant at once: nobody is asked again.${published}`
            : 'The app stays as it is until a person takes it live, on the page Go live.'
        }
        isOn={app.auto_go_live}
        disabled={act.isUnderWay}
        onChange={set}
      />
      <Problem error={act.error} retry={() => set(!app.auto_go_live)} />
    </>
  );
}

export function OpenSession({ app, again = false, onOpened }: OpenSessionProps) {
  const isLive = app.live;
  const [chosen, choose] = useState<Kind>();
  const act = useAct();
  const kind = isLive ? 'sync' : (chosen ?? 'setup');
  const open = () =>
    act.run(async () => {
      const opened = await ask<OpenedSession>('POST', `${appPath(app.id)}/sessions`, { kind });
      keepCommand(opened.session.id, opened);
      onOpened(opened);
    });
  const choice = (
    <>
      <fieldset class="setup-kinds">
        <legend class="unseen">What the agent is to do</legend>
        {KINDS.map((one) => (
          <label key={one.kind} class="setup-kind">
            <input
              type="radio"
              name="kind"
              value={one.kind}
              checked={kind === one.kind}
              disabled={isLive && one.kind === 'setup'}
              onChange={() => choose(one.kind)}
            />
            <span>
              <b>{one.name}</b>
              <small>{isLive && one.kind === 'setup' ? 'The app is live, so nothing is written to it without your word.' : one.what}</small>
            </span>
          </label>
        ))}
      </fieldset>
      {!isLive && <GoingLive app={app} />}
      <Problem error={act.error} retry={open} />
      <Button
        label={kind === 'setup' ? 'Open a setup session' : 'Open a sync session'}
        look="primary"
        disabled={act.isUnderWay}
        onClick={open}
      />
    </>
  );
  if (again) {
    return (
      <Card title="Another session" label="Open a session">
        <div class="card-body">{choice}</div>
      </Card>
    );
  }
  return (
    <section class="empty" aria-label="Open a session">
      <p class="setup-lead">
        A coding agent sets this app up: it reads your code, writes appearance, assistant, knowledge, actions and screens, and you watch
        every step here. You get one command to run; nothing is installed on your machine.
      </p>
      {choice}
    </section>
  );
}
