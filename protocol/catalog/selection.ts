/**
 * Whether a person's choice fits the block it answers (BLOCK-14): an id the block did not show, a disabled one,
 * a block already answered or superseded, too few or too many. Which one replaces which is said here, and done where blocks are stored.
 */
import type { Block } from './block.ts';
import { CATALOG } from './catalog.ts';
import type { PickState, Selectable } from './component.ts';

export interface Selection {
  readonly ids: readonly string[];
  readonly otherText?: string | undefined;
}

type Shown = Pick<Block, 'block_type' | 'body'>;

/** Every id a block shows, in its order; undefined for a block that is not answered by ids. The body must be valid. */
export function selectableIds(block: Shown): ReadonlyMap<string, Selectable> | undefined {
  return CATALOG.get(block.block_type)?.pick?.ids(block.body);
}

/** Whether the block may be answered in own words (`other_text`): a choice with `other`, a rating with `comment`. */
export function acceptsOtherText(block: Shown): boolean {
  return CATALOG.get(block.block_type)?.pick?.acceptsOther?.(block.body) ?? false;
}

/** What a block replaces: open ones of its kind with the same value in this field; undefined for a block that replaces none. */
export function replacedBy(block: Shown): { readonly field: string; readonly value: string } | undefined {
  const field = CATALOG.get(block.block_type)?.pick?.subject;
  return field === undefined ? undefined : { field, value: String(block.body[field]) };
}

/** Why a selection is refused, in words that follow its name ("the selection ..."); undefined when it is good. */
export function selectionProblem(block: Shown, selection: Selection): string | undefined {
  const pick = CATALOG.get(block.block_type)?.pick;
  if (pick === undefined) return 'answers a block that offers nothing to choose';
  const { status } = block.body as unknown as PickState;
  if (status === 'answered') return 'answers a block that was already answered';
  if (status === 'superseded') return 'answers a block that was replaced by a newer one';
  const shown = pick.ids(block.body);
  for (const id of selection.ids) {
    const item = shown.get(id);
    if (item === undefined) return `names "${id}", which the block did not show`;
    if (item.disabled) return `names "${id}", which is not available`;
  }
  if (new Set(selection.ids).size !== selection.ids.length) return 'names an option twice';
  const hasOtherText = selection.otherText !== undefined && selection.otherText.trim() !== '';
  if (hasOtherText && !acceptsOtherText(block)) return 'carries other_text, which this block does not take';
  return pick.problem(block.body, selection.ids, hasOtherText);
}
