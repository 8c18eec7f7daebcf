/** Appearances as no designer would write them: any colours, any subset of the tokens. */
import fc from 'fast-check';

const colour = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);
/** Greys have no hue; mid greys leave the least room for contrast. */
const anyColour = fc.oneof(
  { weight: 3, arbitrary: colour },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 255 }).map((level) => `#${level.toString(16).padStart(2, '0').repeat(3)}`) },
);

const base = { surface: anyColour, onSurface: anyColour, accent: anyColour, onAccent: anyColour };
const optional = {
  surfaceRaised: anyColour,
  surfaceHigh: anyColour,
  surfaceSunk: anyColour,
  onSurfaceMuted: anyColour,
  outline: anyColour,
  danger: anyColour,
  onDanger: anyColour,
  success: anyColour,
  onSuccess: anyColour,
};

export const randomTheme = fc.record({ ...base, ...optional }, { requiredKeys: ['surface', 'onSurface', 'accent', 'onAccent'] });
export const randomDark = fc.record({ ...base, ...optional }, { requiredKeys: [] });

/** `themeDark` is left out of about every fifth. */
export const randomThemes = fc.record({ theme: randomTheme, themeDark: fc.option(randomDark, { nil: undefined, freq: 4 }) });
