/** What is around every page: sign-in, navigation, the router, and what is said in passing. */

import { useEffect } from 'preact/hooks';
import { LocationProvider, Route, Router, useLocation } from 'preact-iso';
import { useStore } from '../../sdk/store-hook.ts';
import { progress } from '../api/progress.ts';
import { resumeSession, session } from '../api/session.ts';
import { Dock } from '../dock/dock.tsx';
import { PAGES } from '../pages.ts';
import { ErrorBoundary } from './error-boundary.tsx';
import { KeyboardHelp } from './keyboard-help.tsx';
import { LoadingBar } from './loading-bar.tsx';
import { Navigation } from './navigation.tsx';
import { NotFoundPage } from './not-found-page.tsx';
import { Palette } from './palette.tsx';
import { SignInDialog, SignInPage } from './sign-in.tsx';
import { Toasts } from './toasts.tsx';

/** A page that was out of sight for hours says at once that its session is over, and not at the next click. */
function lookAtSession(): void {
  const isUsed = session.get().context.phase === 'in';
  if (isUsed && document.visibilityState === 'visible') resumeSession().catch(() => undefined);
}

export function Shell() {
  const phase = useStore(session, (context) => context.phase);
  useEffect(() => {
    document.addEventListener('visibilitychange', lookAtSession);
    return () => document.removeEventListener('visibilitychange', lookAtSession);
  }, []);
  if (phase === 'asking') return <LoadingBar />;
  if (phase === 'away') return <Away />;
  if (phase === 'out') return <SignInPage />;
  return (
    <LocationProvider scope="/console">
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <LoadingBar />
      <div class="app">
        <Navigation />
        <div class="stage">
          <Pages />
          <Dock />
        </div>
      </div>
      <Toasts />
      <KeyboardHelp />
      <Palette />
      {phase === 'ended' && <SignInDialog />}
    </LocationProvider>
  );
}

const loadBegan = () => progress.send({ type: 'began' });
const loadEnded = () => progress.send({ type: 'ended' });

function Pages() {
  const { path } = useLocation();
  return (
    <ErrorBoundary path={path}>
      <Router onLoadStart={loadBegan} onLoadEnd={loadEnded}>
        {PAGES.map(({ path: pattern, component }) => (
          <Route key={pattern} path={pattern} component={component} />
        ))}
        <Route default component={NotFoundPage} />
      </Router>
    </ErrorBoundary>
  );
}

/** How often a service that does not answer is asked again. */
const ASK_AGAIN_MS = 2_000;

function Away() {
  useEffect(() => {
    const timer = setInterval(() => void resumeSession().catch(() => undefined), ASK_AGAIN_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <main class="gate" id="main">
      <h1>The service does not answer</h1>
      <p>It may be starting. This page asks again every two seconds, and goes on by itself.</p>
    </main>
  );
}
