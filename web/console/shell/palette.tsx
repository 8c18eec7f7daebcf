/** Ctrl K: finds pages, apps, conversations and ids. What it needs comes when it is opened. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useStore } from '../../sdk/store-hook.ts';
import { openPalette, PALETTE_KEYS, palette } from './palette-button.tsx';
import { useShortcut } from './shortcuts.ts';

function pressed(event: KeyboardEvent): void {
  if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  // Above a question that is asked in a dialog nothing else is found.
  if (document.querySelector('dialog[open]') !== null) return;
  event.preventDefault();
  openPalette();
}

export function Palette() {
  const round = useStore(palette, (context) => context.round);
  const [loaded, hold] = useState<{ readonly Part: ComponentType<{ readonly onClose: () => void }> }>();
  useShortcut(PALETTE_KEYS, 'Find a page, an app, a conversation or an id', openPalette);
  useEffect(() => {
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
  useEffect(() => {
    if (round !== null && loaded === undefined)
      void import('./palette-dialog.tsx').then(({ PaletteDialog }) => hold({ Part: PaletteDialog }));
  }, [round]);
  if (round === null || loaded === undefined) return null;
  return <loaded.Part key={round} onClose={() => palette.send({ type: 'closed', round })} />;
}
