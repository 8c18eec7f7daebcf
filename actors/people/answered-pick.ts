/** The change of a block's row when a person picks an answer in it. */
import { safeFallback } from '../../assistant/privacy/safe-block.ts';
import type { Block } from '../../protocol/catalog/block.ts';
import type { PickChange } from '../../storage/conversations/blocks.ts';

/** The block with its Pick answered, as a compare-and-set of the block's body. */
export function answeredPick(block: Block, selectedIds: readonly string[]): PickChange {
  const answered = { ...block.body, status: 'answered', ...(selectedIds.length > 0 ? { selected_ids: selectedIds } : {}) };
  return {
    id: block.id,
    before: JSON.stringify(block.body),
    after: JSON.stringify(answered),
    fallbackText: safeFallback(block.block_type, answered),
  };
}
