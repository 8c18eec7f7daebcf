/** How the page of components shows them, kept in its address so that a view can be passed on: scheme, direction, width. */

export const SCHEMES = ['auto', 'light', 'dark'] as const;
export const DIRECTIONS = ['ltr', 'rtl'] as const;
/** In CSS pixels: a small telephone, the widget on a page, a full screen. */
export const WIDTHS = [320, 384, 640] as const;

export interface Stage {
  readonly scheme: (typeof SCHEMES)[number];
  readonly direction: (typeof DIRECTIONS)[number];
  readonly width: (typeof WIDTHS)[number];
}

const USUAL: Stage = { scheme: 'auto', direction: 'ltr', width: 384 };

function oneOf<T>(known: readonly T[], said: string | null): T | undefined {
  return known.find((each) => String(each) === said);
}

export function stageOf(search: string): Stage {
  const query = new URLSearchParams(search);
  return {
    scheme: oneOf(SCHEMES, query.get('scheme')) ?? USUAL.scheme,
    direction: oneOf(DIRECTIONS, query.get('dir')) ?? USUAL.direction,
    width: oneOf(WIDTHS, query.get('width')) ?? USUAL.width,
  };
}

/** The query of a stage: without what is as usual, so that the plain address is the usual view. */
export function searchOf({ scheme, direction, width }: Stage): string {
  const query = new URLSearchParams();
  if (scheme !== USUAL.scheme) query.set('scheme', scheme);
  if (direction !== USUAL.direction) query.set('dir', direction);
  if (width !== USUAL.width) query.set('width', String(width));
  return query.size === 0 ? '' : `?${query}`;
}
