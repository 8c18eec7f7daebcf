/** What is around every page: sign-in, navigation, the router, and what is said in passing. */

import { Component, type ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { LocationProvider, Route, Router, useLocation } from 'preact-iso';
import { useStore } from '../../sdk/store-hook.ts';
import { progress } from '../api/progress.ts';
import { resumeSession, session } from '../api/session.ts';
import { Dock } from '../dock/dock.tsx';
import { PAGES } from '../pages.ts';
import { Button } from '../parts/card.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ConditionBar } from './conditions.tsx';
import { Navigation } from './navigation.tsx';
import { Page } from './page.tsx';
import { Palette } from './palette.tsx';
import { activeShortcuts, pressed, shortcutHelp, useShortcut } from './shortcuts.ts';
import { SignInDialog, SignInPage } from './sign-in.tsx';
import { Toasts } from './toasts.tsx';

function NotFoundPage() {
  return (
    <Page title="There is no such page">
      <div class="empty">
        <p>The address may be mistyped, or of another version.</p>
        <Button label="Go to the overview" href="/console" />
      </div>
    </Page>
  );
}

function LoadingBar() {
  const isLoading = useStore(progress, ({ underWay }) => underWay > 0);
  return <div class={isLoading ? 'loading-bar is-on' : 'loading-bar'} aria-hidden="true" />;
}

function KeyboardHelp() {
  const isOpen = useStore(shortcutHelp, (context) => context.isOpen);
  useShortcut('?', 'Show the keys', () => shortcutHelp.send({ type: 'opened' }));
  useEffect(() => {
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
  return isOpen ? <KeyList /> : null;
}

function KeyList() {
  return (
    <Dialog title="Keys on this page" onClose={() => shortcutHelp.send({ type: 'closed' })}>
      <dl class="keys">
        {activeShortcuts().map(({ key, what }) => (
          <div key={key + what}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit" class="button">
          Close
        </button>
      </form>
    </Dialog>
  );
}

interface Props {
  readonly path: string;
  readonly children: ComponentChildren;
}

interface State {
  readonly failed?: { readonly path: string; readonly message: string };
}

class ErrorBoundary extends Component<Props, State> {
  override state: State = {};

  override componentDidCatch(error: unknown): void {
    this.setState({ failed: { path: this.props.path, message: error instanceof Error ? error.message : String(error) } });
  }

  override render() {
    const { failed } = this.state;
    if (failed === undefined || failed.path !== this.props.path) return this.props.children;
    return (
      <Page title="This page stopped">
        <div class="problem" role="alert">
          <p class="problem-text">A bug of the console, not of the service: nothing was changed. The other pages go on.</p>
          <p class="problem-facts">
            <code>{failed.message}</code>
          </p>
          <Button label="Load the page again" onClick={() => location.reload()} />
        </div>
      </Page>
    );
  }
}

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
          <ConditionBar />
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
