/** Whether the palette is open, and the button in the bar that opens it. */
import { createStore } from '@xstate/store';

interface PaletteContext {
  /** Counts how often it was opened; null while it is closed. */
  readonly round: number | null;
  readonly rounds: number;
}

const CLOSED: PaletteContext = { round: null, rounds: 0 };

export const palette = createStore({
  context: CLOSED,
  on: {
    opened: ({ rounds }): PaletteContext => ({ round: rounds + 1, rounds: rounds + 1 }),
    // A dialog tells a moment late that it was closed: another one may be open by then.
    closed: (now, { round }: { round: number }): PaletteContext => (now.round === round ? { ...now, round: null } : now),
  },
});

export const openPalette = () => palette.send({ type: 'opened' });

/** As keyboards of this machine name it. */
export const PALETTE_KEYS = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘ K' : 'Ctrl K';

export function PaletteButton() {
  return (
    <button type="button" class="palette-button" onClick={openPalette}>
      <span>
        Find<span> a page, an app, an id</span>
      </span>{' '}
      <kbd>{PALETTE_KEYS}</kbd>
    </button>
  );
}
