/** Setup: a coding agent sets the app up, and a person watches every step as it happens. */

import { useRoute } from 'preact-iso';
import type { SetupSession } from '../../../protocol/console/setup-answers.ts';
import { type Asked, useAsked } from '../api/asked-hook.ts';
import { type App, appPath } from '../app/app.ts';
import { AppPage } from '../app/app-page.tsx';
import { readApp } from '../app/app-store.ts';
import { Problem } from '../parts/card.tsx';
import { Select } from '../parts/choices.tsx';
import { StateChip } from '../parts/state-chip.tsx';
import { wholeMomentOf } from '../parts/times.ts';
import { type Go, useGo } from '../shell/address.ts';
import { OpenSession } from './open-session.tsx';
import { SessionView } from './session-view.tsx';

interface SessionsAnswer {
  readonly sessions: readonly SetupSession[];
}

const LOOK_AGAIN_MS = 4_000;

export function SetupPage() {
  const { params, query } = useRoute();
  const sessions = useAsked<SessionsAnswer>(`${appPath(params.app ?? '')}/sessions`, {
    againMs: (listed) =>
      listed !== undefined && listed.sessions[0]?.closed_at !== null && query.session === undefined ? LOOK_AGAIN_MS : undefined,
  });
  const go = useGo();
  const all = sessions.answer?.sessions ?? [];
  return (
    <AppPage
      title="Setup"
      facts="A coding agent reads your code and sets the assistant up. You watch, and decide what only a person can decide."
      actions={
        all.length > 1 && (
          <SessionChoice sessions={all} id={query.session ?? all[0]?.id} onChoose={(session) => go({ session, step: undefined })} />
        )
      }
    >
      {(app) => <Sessions app={app} sessions={sessions} go={go} />}
    </AppPage>
  );
}

/** The session that the address names, else the newest; without any, what opens the first. */
function Sessions({ app, sessions, go }: { readonly app: App; readonly sessions: Asked<SessionsAnswer>; readonly go: Go }) {
  const { query } = useRoute();
  const { answer, error, reload } = sessions;
  const id = query.session ?? answer?.sessions[0]?.id;
  const opened = () => {
    go({ session: undefined, step: undefined });
    reload();
  };
  const over = () => {
    reload();
    void readApp(app.id);
  };
  return (
    <>
      <Problem error={error} retry={reload} />
      {answer !== undefined && id === undefined && <OpenSession app={app} onOpened={opened} />}
      {id !== undefined && (
        <SessionView
          key={id}
          app={app.id}
          isLive={app.live}
          id={id}
          step={query.step}
          view={query.view === 'time' ? 'time' : 'steps'}
          go={go}
          onOver={over}
          another={<OpenSession app={app} again onOpened={opened} />}
        />
      )}
    </>
  );
}

interface SessionChoiceProps {
  readonly sessions: readonly SetupSession[];
  readonly id: string | undefined;
  readonly onChoose: (id: string) => void;
}

function SessionChoice({ sessions, id, onChoose }: SessionChoiceProps) {
  const shown = sessions.find((session) => session.id === id);
  return (
    <div class="row">
      {shown !== undefined && <StateChip state={shown.status} />}
      <Select
        label="Session"
        value={id}
        options={sessions.map(({ id: value, kind, opened_at: at }) => [
          value,
          `${kind === 'setup' ? 'Setup' : 'Sync'} of ${wholeMomentOf(at)}`,
        ])}
        onChange={onChoose}
      />
    </div>
  );
}
