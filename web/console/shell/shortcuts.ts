/** Keys of one letter: which there are now, for the help, and that they never eat what somebody types. */
import { createStore } from '@xstate/store';
import { useEffect, useRef } from 'preact/hooks';

interface Shortcut {
  readonly key: string;
  readonly what: string;
  readonly run: () => void;
}

interface HelpContext {
  readonly isOpen: boolean;
}

const CLOSED: HelpContext = { isOpen: false };

export const shortcutHelp = createStore({
  context: CLOSED,
  on: { opened: (): HelpContext => ({ isOpen: true }), closed: (): HelpContext => CLOSED },
});

const active = new Set<Shortcut>();

export function activeShortcuts(): readonly Shortcut[] {
  return [...active];
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.closest('input, textarea, select, dialog[open]') !== null);
}

export function pressed(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const shortcut = [...active].reverse().find(({ key }) => key === event.key);
  if (shortcut === undefined) return;
  event.preventDefault();
  shortcut.run();
}

export function useShortcut(key: string, what: string, run: () => void): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    const shortcut: Shortcut = { key, what, run: () => latest.current() };
    active.add(shortcut);
    return () => void active.delete(shortcut);
  }, [key, what]);
}
