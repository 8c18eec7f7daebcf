/** Go live: the four checks, the smoke test, and the two steps that put the assistant before people. */

import type { AppStatus } from '../../../protocol/console/setup-answers.ts';
import { useAsked } from '../api/asked-hook.ts';
import { type App, appPath } from '../app/app.ts';
import { AppPage } from '../app/app-page.tsx';
import { Problem } from '../parts/card.tsx';
import { CheckList } from './check-list.tsx';
import { ReleaseCard } from './release-card.tsx';
import { SmokeCard } from './smoke-card.tsx';

/** Builds call in and sources are indexed by themselves: how often the page looks, while a check waits for that. */
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
