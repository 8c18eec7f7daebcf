/** The frame of every page of an app, which gets the app as soon as it is known. */

import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { useRoute } from 'preact-iso';
import { useStore } from '../../sdk/store-hook.ts';
import { Button, Problem } from '../parts/card.tsx';
import { StateChip } from '../parts/state-chip.tsx';
import { type Crumb, Page } from '../shell/page.tsx';
import { type App, appAddress, organisationAddress, stateOf } from './app.ts';
import { countProposals, openedApp, readApp } from './app-store.ts';

const COUNT_AGAIN_MS = 15_000;

function useOpenedApp() {
  const id = useRoute().params.app ?? '';
  useEffect(() => {
    void readApp(id);
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') countProposals(id).catch(() => undefined);
    }, COUNT_AGAIN_MS);
    return () => clearInterval(timer);
  }, [id]);
  const opened = useStore(openedApp, (context) => context);
  return opened.id === id ? opened : { id };
}

interface AppPageProps {
  readonly title?: string;
  /** Absent: that of the app, on its first page. */
  readonly state?: ComponentChildren;
  /** Sections of the app that it is below. */
  readonly above?: readonly { readonly label: string; readonly section: string }[];
  readonly facts?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly fills?: boolean;
  readonly children: (app: App) => ComponentChildren;
}

export function AppPage({ title, above = [], children, ...frame }: AppPageProps) {
  const { id, app, organisation, error } = useOpenedApp();
  const crumbs: Crumb[] = [];
  if (app !== undefined) crumbs.push({ label: organisation?.name ?? 'Organisation', href: organisationAddress(app.org_id) });
  if (title !== undefined && app !== undefined) crumbs.push({ label: app.name, href: appAddress(app.id) });
  if (app !== undefined) crumbs.push(...above.map(({ label, section }) => ({ label, href: appAddress(app.id, section) })));
  const isUnknown = error?.code === 'not_found';
  return (
    <Page
      title={isUnknown ? 'There is no such app' : (title ?? app?.name ?? 'App')}
      crumbs={crumbs}
      {...(app === undefined || title !== undefined ? {} : { state: <StateChip state={stateOf(app)} /> })}
      {...frame}
    >
      <Problem error={error} {...(isUnknown ? {} : { retry: () => void readApp(id) })} />
      {isUnknown && <Button label="Go to the overview" href="/console" />}
      {app !== undefined && children(app)}
    </Page>
  );
}
