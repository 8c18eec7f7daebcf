/** How much room the parts of a picture need: what layout reserves. */
import { FIRST_ROW_PX, INSET_PX, inBrackets, LINE_PX, NAME_PX, REFUSAL_GAP_PX, TEXT_PX, textWidth } from '../../machines/diagrams/text.ts';
import type { SketchLabel, SketchRow, SketchState } from './sketch.ts';

const STATE_MIN_WIDTH_PX = 72;
const STATE_HEIGHT_PX = 32;
const BELOW_ROWS_PX = 8;
/** Beside the words of a label, so that two never read as one. */
const LABEL_ASIDE_PX = 4;

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** A state's name and rows, without states inside it. */
export function stateSize({ label, rows }: Pick<SketchState, 'label' | 'rows'>): Size {
  const widest = Math.max(textWidth(label, NAME_PX), ...rows.map(rowWidth));
  const width = Math.max(STATE_MIN_WIDTH_PX, widest + 2 * INSET_PX);
  return { width, height: rows.length === 0 ? STATE_HEIGHT_PX : FIRST_ROW_PX + rows.length * LINE_PX + BELOW_ROWS_PX };
}

function rowWidth({ event, guard, refusal }: SketchRow): number {
  const asked = guard === undefined ? event : `${event} ${inBrackets(guard)}`;
  return textWidth(asked, TEXT_PX) + (refusal === undefined ? 0 : REFUSAL_GAP_PX + textWidth(refusal, TEXT_PX));
}

/** The event, and its guard on a line of its own. */
export function labelLines({ guard }: SketchLabel): 1 | 2 {
  return guard === undefined ? 1 : 2;
}

export function labelWidth({ event, guard }: SketchLabel): number {
  const lines = [event, ...(guard === undefined ? [] : [inBrackets(guard)])];
  return Math.max(...lines.map((line) => textWidth(line, TEXT_PX))) + 2 * LABEL_ASIDE_PX;
}

/** Labels of one edge, stacked. */
export function labelsSize(labels: readonly SketchLabel[]): Size {
  const lines = labels.reduce((sum, label) => sum + labelLines(label), 0);
  return { width: Math.max(...labels.map(labelWidth)), height: lines * LINE_PX };
}
