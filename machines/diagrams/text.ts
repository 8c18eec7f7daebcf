/** How text stands in pictures of machines, in pixels: what layout makes room for is what is drawn. */

/** Sizes of type: of states' names, and of everything else. */
export const NAME_PX = 12;
export const TEXT_PX = 11;

/** From one line of a label or of rows to the next, and from the top of a line to the foot of its letters. */
export const LINE_PX = 14;
export const FOOT_PX = 11;

/** From the top of a state to the foot of its name, to the line below the name, and to its first row. */
export const NAME_FOOT_PX = 18;
export const NAME_BOTTOM_PX = 24;
export const FIRST_ROW_PX = 28;

/** From the side of a state to its text. */
export const INSET_PX = 10;

/** Between a row and the code of its refusal. */
export const REFUSAL_GAP_PX = 16;

/** A final state has a second line around it, this far outside. */
export const RIM_PX = 3;

/**
 * How wide a character is, in em. Pictures are set in the monospaced faces of the system; the widest of those that the look names are SF
 * Mono, Menlo and DejaVu Sans Mono with 0.602 em, the narrowest is Consolas with 0.55. So text takes at most the room that it got.
 */
const ADVANCE_EM = 0.602;

/** Room for a line of text, in whole pixels. Names in machines are ASCII, where each character has one advance. */
export function textWidth(text: string, sizePx: number): number {
  return Math.ceil(text.length * ADVANCE_EM * sizePx);
}

export function inBrackets(guard: string): string {
  return `[${guard}]`;
}
