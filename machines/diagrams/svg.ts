/** A picture of a machine as an SVG file that stands alone: for documents, and for whoever asks for one on the command line. */
import type { MachinePicture, PictureEdge, PictureLabel, PictureRow, PictureStart, PictureState } from '../picture.ts';
import { edgePath } from './edge-path.ts';
import { regionMatrix } from './region-matrix.ts';
import { SVG_STYLE } from './svg-style.ts';
import { FOOT_PX, INSET_PX, inBrackets, LINE_PX, NAME_BOTTOM_PX, NAME_FOOT_PX, RIM_PX } from './text.ts';
import { element, type Markup } from './xml.ts';

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
