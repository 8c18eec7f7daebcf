/** The sections of the app that the page is about, under its name, in the navigation. */
import { useStore } from '../../sdk/store-hook.ts';
import { appAddress, SECTIONS } from './app.ts';
import { openedApp } from './app-store.ts';

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

export function AppNavigation({ path }: { readonly path: string }) {
  const opened = useStore(openedApp, (context) => context);
  const id = appIdOf(path);
  if (id === undefined) return null;
  const { app, waiting = 0 } = opened.id === id ? opened : {};
  return (
    <section class="side-group" aria-label="App">
      <h2 class="side-app">{app?.name ?? 'App'}</h2>
      {SECTIONS.map(({ name, label }) => {
        const href = appAddress(id, name);
        return (
          <a
            key={name}
            class="side-line"
            href={href}
            aria-current={href === path || (name !== '' && path.startsWith(`${href}/`)) ? 'page' : undefined}
          >
            {label}
            {name === 'proposals' && waiting > 0 && <Waiting count={waiting} />}
          </a>
        );
      })}
    </section>
  );
}
