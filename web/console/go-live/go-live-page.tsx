/** Go live: the four checks, the smoke test, and the two steps that put the assistant before people. */
import { useEffect } from 'preact/hooks';
import { Problem } from '../api/problem.tsx';
import { type Resource, useResource } from '../api/resource.ts';
import { type App, appPath } from '../app/app.ts';
import { AppPage } from '../app/app-page.tsx';
import { CheckList } from './check-list.tsx';
import { ReleaseCard } from './release-card.tsx';
import { SmokeCard } from './smoke-card.tsx';
import type { AppStatus } from './status.ts';

/** Builds call in and sources are indexed by themselves: how often the page looks, while a check waits for that. */
const LOOK_AGAIN_MS = 5_000;

/** Looks again while `isWaiting`, for as long as the page is in sight. */
function useLookAgain({ answer, error, reload }: Resource<AppStatus>): void {
  const isWaiting = answer === undefined || answer.go_live.some(({ ok, key }) => !ok && key !== 'smoke');
  useEffect(() => {
    if (!isWaiting) return undefined;
    const timer = setTimeout(() => {
      if (document.visibilityState === 'visible') reload();
    }, LOOK_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [answer, error, isWaiting]);
}

export function GoLivePage() {
  return (
    <AppPage title="Go live" facts="What the service has seen of this app, what is left to do, and the two steps to people.">
      {(app) => <GoLive app={app} />}
    </AppPage>
  );
}

function GoLive({ app }: { readonly app: App }) {
  const status = useResource<AppStatus>(`${appPath(app.id)}/status`);
  useLookAgain(status);
  const { answer, error, reload } = status;
  return (
    <>
      {error !== undefined && <Problem error={error} retry={reload} />}
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
