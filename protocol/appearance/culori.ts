/**
 * The library of colour arithmetic, loaded when a colour is first looked at: it is 150 files, and neither the writer thread nor a process whose
 * apps have the colours of their SDK ever looks at one.
 */
import { createRequire } from 'node:module';

type Culori = typeof import('culori/fn');

function load() {
  // The package as one file.
  const { clampChroma, formatHex, modeLrgb, modeOklab, modeOklch, modeRgb, useMode, wcagContrast, wcagLuminance } = createRequire(
    import.meta.url,
  )('culori') as Culori;
  useMode(modeLrgb);
  return {
    clampChroma,
    formatHex,
    wcagContrast,
    wcagLuminance,
    toRgb: useMode(modeRgb),
    toOklab: useMode(modeOklab),
    toOklch: useMode(modeOklch),
  };
}

let loaded: ReturnType<typeof load> | undefined;

/** The functions that are used of it. */
export function culori(): ReturnType<typeof load> {
  loaded ??= load();
  return loaded;
}
