/** The navigation: beside the page where there is room, else behind a button. */
import { Fragment } from 'preact';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useStore } from '../../sdk/store-hook.ts';
import { appAddress, SECTION_GROUPS, SECTIONS, stateOf } from '../app/app.ts';
import { openedApp } from '../app/app-store.ts';
import { GROUPS, PAGES } from '../pages.ts';
import { StateChip } from '../parts/state-chip.tsx';
import { AccountMenu } from './account-menu.tsx';
import { NAVIGATION_ID, navigationPanel } from './navigation-button.tsx';

const APP_PATH = /^\/console\/apps\/([^/]+)/;

function appIdOf(path: string): string | undefined {
  const part = APP_PATH.exec(path)?.[1];
  if (part === undefined) return undefined;
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

function Waiting({ count }: { readonly count: number }) {
  return (
    <span class="chip is-wait">
      {count}
      <span class="unseen"> waiting</span>
    </span>
  );
}

function AppNavigation({ path }: { readonly path: string }) {
  const opened = useStore(openedApp, (context) => context);
  const id = appIdOf(path);
  if (id === undefined) return null;
  const { app, organisation, waiting = 0, error } = opened.id === id ? opened : {};
  if (app === undefined && error?.status === 404) return null;
  return (
    <section class="side-app" aria-label="App">
      <h2>{app?.name ?? 'App'}</h2>
      {app !== undefined && (
        <p class="side-note">
          {organisation?.name} <StateChip state={stateOf(app)} />
        </p>
      )}
      {SECTION_GROUPS.map((group) => (
        <div key={group} class="side-group">
          {group !== '' && <h3>{group}</h3>}
          {SECTIONS.filter((section) => section.group === group).map(({ name, label }) => {
            const href = appAddress(id, name);
            const isHere = href === path || (name !== '' && path.startsWith(`${href}/`));
            return (
              <a key={name} class="side-line" href={href} aria-current={isHere ? 'page' : undefined}>
                {label}
                {name === 'proposals' && waiting > 0 && <Waiting count={waiting} />}
              </a>
            );
          })}
        </div>
      ))}
    </section>
  );
}

/** Whether the line stands for the page at `path`, or for one above it. */
function isAbove(line: string, path: string): boolean {
  return path === line || (line !== '/console' && path.startsWith(`${line}/`));
}

export function Navigation() {
  const { path } = useLocation();
  useEffect(() => {
    const open = navigationPanel();
    if (open?.matches(':popover-open')) open.hidePopover();
  }, [path]);
  return (
    <aside class="side" aria-label="Console" id={NAVIGATION_ID} popover="auto">
      <div class="brand">
        <span class="brand-mark" aria-hidden="true">
          A
        </span>
        <span>
          <b>Assistant Service</b>
          <small>{location.host}</small>
        </span>
      </div>
      <nav aria-label="Pages">
        {GROUPS.map((group) => (
          <Fragment key={group}>
            <NavigationGroup group={group} path={path} />
            {group === '' && <AppNavigation path={path} />}
          </Fragment>
        ))}
      </nav>
      <AccountMenu />
    </aside>
  );
}

function NavigationGroup({ group, path }: { readonly group: string; readonly path: string }) {
  const entries = PAGES.filter((page) => page.group === group);
  if (entries.length === 0) return null;
  return (
    <section class="side-group" aria-label={group === '' ? 'Start' : group}>
      {group !== '' && <h2>{group}</h2>}
      {entries.map((page) => (
        <a key={page.path} class="side-line" href={page.path} aria-current={isAbove(page.path, path) ? 'page' : undefined}>
          {page.label}
        </a>
      ))}
    </section>
  );
}
