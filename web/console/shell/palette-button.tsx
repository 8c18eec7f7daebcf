/** Whether the palette is open, and the button in the bar that opens it. */
import { createStore } from '@xstate/store';

interface PaletteContext {
  readonly isOpen: boolean;
}

const CLOSED: PaletteContext = { isOpen: false };

export const palette = createStore({
  context: CLOSED,
  on: { opened: (): PaletteContext => ({ isOpen: true }), closed: (): PaletteContext => CLOSED },
});

export const openPalette = () => palette.send({ type: 'opened' });

/** As keyboards of this machine name it. */
export const PALETTE_KEYS = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘ K' : 'Ctrl K';

export function PaletteButton() {
  return (
    <button type="button" class="palette-button" onClick={openPalette}>
      <span>Find a page, an app, an id</span> <kbd>{PALETTE_KEYS}</kbd>
    </button>
  );
}
