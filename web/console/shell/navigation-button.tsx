/** Opens the navigation where there is no room to show it always. */

export const NAVIGATION_ID = 'navigation';

/** A popover in narrow windows, see look/shell.css. */
export function navigationPanel(): HTMLElement | null {
  return document.getElementById(NAVIGATION_ID);
}

export function NavigationButton() {
  return (
    <button type="button" class="button bare side-button" aria-controls={NAVIGATION_ID} onClick={() => navigationPanel()?.togglePopover()}>
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
        <path d="M2 4h12M2 8h12M2 12h12" class="icon-line" />
      </svg>
      Menu
    </button>
  );
}
