/** A picture of a machine as an SVG file that stands alone: for documents, and for whoever asks for one on the command line. */
import type { MachinePicture, PictureEdge, PictureLabel, PictureRow, PictureStart, PictureState } from '../picture.ts';
import { edgePath } from './edge-path.ts';
import { SVG_STYLE } from './svg-style.ts';
import { FOOT_PX, INSET_PX, inBrackets, LINE_PX, NAME_BOTTOM_PX, NAME_FOOT_PX, RIM_PX, TEXT_PX, textWidth } from './text.ts';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** What XML 1.0 has no way to write, or reads as something else: control characters, halves of surrogate pairs. */
const NO_XML = /[^\t\n\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

/** Markup, to be told from text that still has to be escaped. */
export interface Markup {
  readonly xml: string;
}

function escaped(text: string): string {
  return text.replaceAll(NO_XML, '\uFFFD').replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** An element with its content: a string is text, and is escaped. Attributes that are undefined are left out. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | number | undefined>>,
  content: readonly (Markup | string)[] = [],
): Markup {
  const written = Object.entries(attributes).map(([key, value]) => (value === undefined ? '' : ` ${key}="${escaped(String(value))}"`));
  const inside = content.map((part) => (typeof part === 'string' ? escaped(part) : part.xml)).join('');
  return { xml: inside === '' ? `<${name}${written.join('')}/>` : `<${name}${written.join('')}>${inside}</${name}>` };
}

const MARGIN_PX = 20;
const ROW_PX = 22;
const COLUMN_GAP_PX = 22;
const MARK_RADIUS_PX = 4.5;
/** From the middle of a row to the foot of its letters. */
const FOOT_BELOW_MIDDLE_PX = 4;

export interface RegionMatrix {
  readonly width: number;
  readonly height: number;
  readonly content: readonly Markup[];
}

/** Its coordinates are those of the picture that it stands below. Nothing for a machine that is drawn as a whole. */
export function regionMatrix({ regions, states, start, height }: MachinePicture): RegionMatrix {
  if (regions === undefined) return { width: 0, height: 0, content: [] };
  const names = states.map(({ id }) => id);
  const starts = new Set(start.map(({ to }) => to));
  const first = MARGIN_PX + Math.max(...regions.map((region) => textWidth(region, TEXT_PX))) + COLUMN_GAP_PX;
  const column = Math.max(...names.map((name) => textWidth(name, TEXT_PX))) + COLUMN_GAP_PX;
  const middleOf = (index: number) => first + index * column + column / 2;
  const width = first + names.length * column + MARGIN_PX;
  const rowAt = (index: number) => height + index * ROW_PX + ROW_PX / 2;
  const heading = names.map((name, index) =>
    element('text', { x: middleOf(index), y: rowAt(0) + FOOT_BELOW_MIDDLE_PX, class: 'guard middle' }, [name]),
  );
  const rows = regions.flatMap((region, index) => {
    const y = rowAt(index + 1);
    return [
      element('path', { d: `M${MARGIN_PX} ${y - ROW_PX / 2}H${width - MARGIN_PX}`, class: 'rule' }),
      element('text', { x: MARGIN_PX, y: y + FOOT_BELOW_MIDDLE_PX, class: 'event' }, [region]),
      ...names.map((name, at) =>
        element('circle', { cx: middleOf(at), cy: y, r: MARK_RADIUS_PX, class: starts.has(name) ? 'dot' : 'hole' }),
      ),
    ];
  });
  return { width, height: (regions.length + 1) * ROW_PX + MARGIN_PX, content: [...heading, ...rows] };
}

const DOT_RADIUS_PX = 5;
const CORNER_PX = 7;

/** Ending in a line break. `title` is what a screen reader says. Names are text, whatever they hold. */
export function pictureSvg(picture: MachinePicture, title: string): string {
  const around = new Set(picture.states.flatMap(({ parent }) => parent ?? []));
  const outer = picture.states.filter(({ id }) => around.has(id));
  const inner = picture.states.filter(({ id }) => !around.has(id));
  const matrix = regionMatrix(picture);
  const size = { width: Math.max(picture.width, matrix.width), height: picture.height + matrix.height };
  const content = [
    element('title', {}, [title]),
    element('style', {}, [{ xml: `\n${SVG_STYLE}\n` }]),
    element('defs', {}, [arrowHead]),
    element('rect', { ...size, rx: CORNER_PX, class: 'ground' }),
    ...outer.flatMap((state) => stateMarkup(state, true)),
    ...picture.edges.map(({ points }) => line(points)),
    ...picture.start.flatMap(startMarkup),
    // Above every line, so that none runs through a word.
    ...picture.edges.flatMap(labelsMarkup),
    ...inner.flatMap((state) => stateMarkup(state, false)),
    ...matrix.content,
  ];
  const lines = content.map(({ xml }) => ({ xml: `\n${xml}` }));
  const attributes = { xmlns: 'http://www.w3.org/2000/svg', ...size, viewBox: `0 0 ${size.width} ${size.height}`, role: 'img' };
  return `${element('svg', attributes, [...lines, '\n']).xml}\n`;
}

const arrowHead = element(
  'marker',
  { id: 'arrow', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto' },
  [element('path', { d: 'M0 0 8 4 0 8z', class: 'arrow' })],
);

function line(points: PictureEdge['points']): Markup {
  return element('path', { d: edgePath(points), class: 'edge', 'marker-end': 'url(#arrow)' });
}

function startMarkup({ x, y, points }: PictureStart): Markup[] {
  return [line(points), element('circle', { cx: x, cy: y, r: DOT_RADIUS_PX, class: 'dot' })];
}

/** A name in the middle; on top, where there are rows below it or states inside. */
function stateMarkup({ label, final, x, y, width, height, rows }: PictureState, isOuter: boolean): Markup[] {
  const isTitle = isOuter || rows.length > 0;
  const rim = { x: x + RIM_PX, y: y + RIM_PX, width: width - 2 * RIM_PX, height: height - 2 * RIM_PX };
  return [
    element('rect', { x, y, width, height, rx: CORNER_PX, class: isOuter ? 'outer' : 'box' }),
    ...(final ? [element('rect', { ...rim, rx: CORNER_PX - RIM_PX, class: 'rim' })] : []),
    isTitle
      ? element('text', { x: x + INSET_PX, y: y + NAME_FOOT_PX, class: 'name' }, [label])
      : element('text', { x: x + width / 2, y: y + height / 2 + 4, class: 'name middle' }, [label]),
    ...(rows.length === 0 ? [] : [element('path', { d: `M${x} ${y + NAME_BOTTOM_PX}H${x + width}`, class: 'rule' })]),
    ...rows.flatMap((row) => rowMarkup(row, x, width)),
  ];
}

function rowMarkup({ event, guard, refusal, y }: PictureRow, x: number, width: number): Markup[] {
  const asked = guard === undefined ? [] : [element('tspan', { class: 'guard' }, [` ${inBrackets(guard)}`])];
  const said = element('text', { x: x + width - INSET_PX, y: y + FOOT_PX, class: 'refusal end' }, [refusal ?? '']);
  const text = element('text', { x: x + INSET_PX, y: y + FOOT_PX, class: 'event' }, [event, ...asked]);
  return refusal === undefined ? [text] : [text, said];
}

function labelsMarkup({ labels }: PictureEdge): Markup[] {
  return labels.flatMap(labelMarkup);
}

/** The event, and its guard on a line of its own. */
function labelMarkup({ event, guard, x, y, width }: PictureLabel): Markup[] {
  const middle = x + width / 2;
  const lines = guard === undefined ? 1 : 2;
  return [
    element('rect', { x, y, width, height: lines * LINE_PX, class: 'label-ground' }),
    element('text', { x: middle, y: y + FOOT_PX, class: 'event middle' }, [event]),
    ...(guard === undefined ? [] : [element('text', { x: middle, y: y + LINE_PX + FOOT_PX, class: 'guard middle' }, [inBrackets(guard)])]),
  ];
}
