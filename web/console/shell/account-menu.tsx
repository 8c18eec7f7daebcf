/** The foot of the navigation: who is signed in, and behind it what concerns them rather than a page. */
import { useStore } from '../../sdk/store-hook.ts';
import { signOut } from '../api/session.ts';
import { toggleDock } from '../dock/dock.tsx';
import { SideBySide } from '../parts/choices.tsx';
import { wrong } from './conditions.tsx';
import { shortcutHelp } from './shortcuts.ts';
import { chooseTheme, chosenTheme } from './theme.ts';
import { toast } from './toasts.tsx';

const MENU_ID = 'account-menu';

const THEMES = [
  ['auto', 'System'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const;

async function leave(): Promise<void> {
  try {
    await signOut();
  } catch (error) {
    toast(error instanceof Error ? error.message : 'Signing out failed.');
  }
}

const CLOSES = { popovertarget: MENU_ID, popovertargetaction: 'hide', type: 'button', class: 'account-line' } as const;

export function AccountMenu() {
  const count = useStore(wrong, (context) => context.count);
  const theme = useStore(chosenTheme, (context) => context.theme);
  return (
    <div class="side-foot">
      <button type="button" class="account" popovertarget={MENU_ID}>
        <span class="account-mark" aria-hidden="true">
          O
        </span>
        <span>Operator</span>
        {count > 0 && (
          <span class="chip is-bad">
            {count} <span class="unseen">wrong</span>
          </span>
        )}
        <svg viewBox="0 0 16 16" width="12" height="12" aria-hidden="true">
          <path d="M4.5 6.5 8 3l3.5 3.5M4.5 9.5 8 13l3.5-3.5" class="icon-line" />
        </svg>
      </button>
      <div class="account-menu" id={MENU_ID} popover="auto">
        <p>Signed in by the operator token</p>
        <SideBySide label="Theme" value={theme} options={THEMES} onChange={chooseTheme} />
        <button {...CLOSES} onClick={toggleDock}>
          Dock <kbd>d</kbd>
        </button>
        <button {...CLOSES} onClick={() => shortcutHelp.send({ type: 'opened' })}>
          Keys <kbd>?</kbd>
        </button>
        <a class="account-line" href="/docs/console.md" target="_blank" rel="noreferrer">
          Interface
        </a>
        <button {...CLOSES} onClick={() => void leave()}>
          Sign out
        </button>
      </div>
    </div>
  );
}
