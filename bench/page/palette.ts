/** The colours of the reports and their plots, light and dark, as CSS variables. Hex, which whatever draws an SVG understands. */

const COLOURS: Readonly<Record<string, readonly [light: string, dark: string]>> = {
  ground: ['#f9fafc', '#0c1015'],
  panel: ['#ffffff', '#13181e'],
  line: ['#e0e3e7', '#292e35'],
  ink: ['#192029', '#eceff2'],
  'ink-2': ['#4f565f', '#afb5bc'],
  'ink-3': ['#696f78', '#8d939a'],
  ok: ['#067d4d', '#5eca91'],
  wait: ['#986600', '#e9b452'],
  bad: ['#c2272d', '#f87e77'],
  soft: ['#e9f1fe', '#1b2942'],
  'wait-soft': ['#fdf1d8', '#37290f'],
  'bad-soft': ['#ffedeb', '#431f1d'],
  limit: ['#696f78', '#8d939a'],
  ours: ['#3361bb', '#77a4f6'],
  beside: ['#6f97e2', '#466fbd'],
  earlier: ['#4f565f', '#afb5bc'],
};

/** For whoever is not ours: neighbours differ in hue and in lightness. */
const OTHERS: readonly (readonly [light: string, dark: string])[] = [
  ['#b64340', '#e66e68'],
  ['#cb7d34', '#fba962'],
  ['#7e6f08', '#a89a42'],
  ['#5aa75e', '#86d489'],
  ['#007f7f', '#39abab'],
  ['#ac78d2', '#d9a4ff'],
  ['#ab437b', '#db6ea5'],
];

export type Hue = 'limit' | 'ours' | 'beside' | 'earlier' | `other-${number}`;

/** The colour of the n-th of many; after the last comes the first again, in dashes. */
export function otherHue(at: number): Hue {
  return `other-${at}`;
}

/** The colour of the n-th line of a plot that is about no servers. */
export function lineHue(at: number): Hue {
  return at === 0 ? 'ours' : otherHue((at - 1) * 4);
}

const ALL: readonly (readonly [string, readonly [string, string]])[] = [
  ...Object.entries(COLOURS),
  ...OTHERS.map((colour, at) => [`other-${at}`, colour] as const),
];

function variables(scheme: 0 | 1): string {
  return ALL.map(([name, colour]) => `--${name}:${colour[scheme]}`).join(';');
}

/** More servers than this have no colour of their own. */
const HUES_MAX = 21;

/** Colours by the reader's system, and the class of each hue, which sets `--hue` for what is inside. */
export const PALETTE = `:root{color-scheme:light dark;${variables(0)}}
@media (prefers-color-scheme:dark){:root{${variables(1)}}}
@media print{:root{color-scheme:light;${variables(0)}}}
.limit{--hue:var(--limit)}.ours{--hue:var(--ours)}.beside{--hue:var(--beside)}.earlier{--hue:var(--earlier)}
${Array.from({ length: HUES_MAX }, (_, at) => `.other-${at}{--hue:var(--other-${at % OTHERS.length})}`).join('')}
`;

/** Whether a line is dashed: those whose colour is another's too. */
export function isDashed(hue: Hue): boolean {
  return hue === 'limit' || hue === 'beside' || hue === 'earlier' || Number(hue.slice('other-'.length)) >= OTHERS.length;
}
