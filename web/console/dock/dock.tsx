/** The dock below every page: one key opens it, and it stays open from page to page. What it shows comes when it is opened first. */
import { createStore } from '@xstate/store';
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useStore } from '../../sdk/store-hook.ts';
import { useShortcut } from '../shell/shortcuts.ts';
import type { DockPanelProps } from './dock-panel.tsx';

/** Of the tab: a reload leaves it as it was. A browser that keeps nothing closes it. */
const KEPT_AS = 'console.dock';

function wasOpen(): boolean {
  try {
    return sessionStorage.getItem(KEPT_AS) === 'open';
  } catch {
    return false;
  }
}

interface DockContext {
  readonly isOpen: boolean;
}

const dock = createStore({
  context: { isOpen: wasOpen() } as DockContext,
  on: { toggled: ({ isOpen }): DockContext => ({ isOpen: !isOpen }) },
});

dock.subscribe(({ context }) => {
  try {
    sessionStorage.setItem(KEPT_AS, context.isOpen ? 'open' : 'closed');
  } catch {
    // Then it is closed after a reload.
  }
});

export const toggleDock = () => dock.send({ type: 'toggled' });

function objectOf(path: string): { readonly app: string; readonly conversation: string | undefined } | undefined {
  const found = /^\/console\/(?:apps|traces)\/(app_[0-9a-z]+)(?:\/conversations\/(cnv_[0-9a-z]+))?/.exec(path);
  return found?.[1] === undefined ? undefined : { app: found[1], conversation: found[2] };
}

export function Dock() {
  const isOpen = useStore(dock, (context) => context.isOpen);
  const { path } = useLocation();
  const [Panel, hold] = useState<ComponentType<DockPanelProps>>();
  useShortcut('d', 'Open or close the dock: what failed, and what happens', toggleDock);
  useEffect(() => {
    if (isOpen && Panel === undefined) void import('./dock-panel.tsx').then(({ DockPanel }) => hold(() => DockPanel));
  }, [isOpen, Panel]);
  if (!isOpen) return null;
  const { app, conversation } = objectOf(path) ?? {};
  return (
    <aside class="dock" aria-label="Dock">
      <button type="button" class="button bare dock-close" onClick={toggleDock}>
        Close <kbd>d</kbd>
      </button>
      {Panel !== undefined && <Panel key={`${app} ${conversation}`} app={app} conversation={conversation} />}
    </aside>
  );
}
