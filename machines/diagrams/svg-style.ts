/** The colours and type of a picture as SVG: the console's look in colours that every viewer of images knows, light and dark. */
import { NAME_PX, TEXT_PX } from './text.ts';

/** Names of the look; here as sRGB, because not every viewer knows OKLCH, custom properties or `light-dark()`. */
type Token = 'ground' | 'panel' | 'sunken' | 'line' | 'line-strong' | 'ink' | 'ink-2' | 'ink-3' | 'bad';
type Palette = Readonly<Record<Token, string>>;

const LIGHT: Palette = {
  ground: '#f9fafc',
  panel: '#ffffff',
  sunken: '#f3f5f7',
  line: '#e0e3e7',
  'line-strong': '#c1c7ce',
  ink: '#191f29',
  'ink-2': '#4f5661',
  'ink-3': '#686f79',
  bad: '#c9212c',
};

const DARK: Palette = {
  ground: '#0d1117',
  panel: '#141920',
  sunken: '#090c12',
  line: '#292f37',
  'line-strong': '#414852',
  ink: '#eaedf1',
  'ink-2': '#adb3bc',
  'ink-3': '#8b929b',
  bad: '#f2736f',
};

const PAINT: readonly (readonly [selector: string, property: 'fill' | 'stroke', token: Token])[] = [
  ['.ground,.label-ground', 'fill', 'ground'],
  ['.box', 'fill', 'panel'],
  ['.outer', 'fill', 'sunken'],
  ['.box,.outer,.rim', 'stroke', 'line-strong'],
  ['.rule', 'stroke', 'line'],
  ['.edge', 'stroke', 'ink-3'],
  ['.arrow', 'fill', 'ink-3'],
  ['.dot', 'fill', 'ink'],
  ['.hole', 'stroke', 'line-strong'],
  ['.name', 'fill', 'ink'],
  ['.event', 'fill', 'ink-2'],
  ['.guard', 'fill', 'ink-3'],
  ['.refusal', 'fill', 'bad'],
];

function painted(palette: Palette): string {
  return PAINT.map(([selector, property, token]) => `${selector}{${property}:${palette[token]}}`).join('');
}

const FONT = 'ui-monospace,"SF Mono","Cascadia Code","JetBrains Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace';

/** The content of the picture's `<style>`. It has no character that XML reads as its own. */
export const SVG_STYLE = [
  `text{font:${TEXT_PX}px ${FONT}}`,
  `.name{font-size:${NAME_PX}px;font-weight:600}`,
  '.edge,.rim,.rule,.hole{fill:none}',
  '.box,.outer,.rim,.edge{stroke-width:1.2}',
  '.middle{text-anchor:middle}',
  '.end{text-anchor:end}',
  painted(LIGHT),
  `@media(prefers-color-scheme:dark){${painted(DARK)}}`,
].join('\n');
