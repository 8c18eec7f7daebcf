/** Below the picture of one region: all regions down, their states across, with a dot where each starts. */
import type { MachinePicture } from '../picture.ts';
import { TEXT_PX, textWidth } from './text.ts';
import { element, type Markup } from './xml.ts';

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
