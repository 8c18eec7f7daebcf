/** Light or dark, as the browser says or as somebody chose here: kept in this browser, told to the page and to widgets that it draws. */
import { createStore } from '@xstate/store';

export type Theme = 'auto' | 'light' | 'dark';

const KEPT_AS = 'console-theme';

function kept(): Theme {
  try {
    const theme = localStorage.getItem(KEPT_AS);
    return theme === 'light' || theme === 'dark' ? theme : 'auto';
  } catch {
    return 'auto';
  }
}

export const chosenTheme = createStore({
  context: { theme: kept() },
  on: { chosen: (_, { theme }: { readonly theme: Theme }) => ({ theme }) },
});

function show(theme: Theme): void {
  document.documentElement.dataset.scheme = theme;
}

show(chosenTheme.get().context.theme);

export function chooseTheme(theme: Theme): void {
  show(theme);
  chosenTheme.send({ type: 'chosen', theme });
  try {
    localStorage.setItem(KEPT_AS, theme);
  } catch {
    // A browser may refuse to keep anything: then it is so until the page is left.
  }
}
