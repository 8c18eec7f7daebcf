/** What of an answer waits for a commit: how its blocks become events, in the order of the answer, and rows. */
import type { ChatTurnEffect } from '../../machines/chat-turn.ts';
import type { Block } from '../../protocol/catalog/block.ts';
import { replacedBy } from '../../protocol/catalog/selection.ts';
import type { StreamEvent } from '../../protocol/runtime/stream-events.ts';
import type { NewBlock } from '../../storage/conversations/conversations.ts';

/** What of the answer waits for a commit: a block that is whole, or what was said of a later one. */
export type Outgoing = { readonly block: Block } | { readonly event: StreamEvent; readonly speak: () => void };

/** What one step says and does. */
export interface StepToCommit {
  /** Up to the last whole block. */
  readonly before: readonly Outgoing[];
  /** Beside blocks. */
  readonly said: readonly StreamEvent[];
  readonly after: readonly Outgoing[];
  readonly effects: readonly ChatTurnEffect[];
}

export function blocksOf(items: readonly Outgoing[]): Block[] {
  return items.flatMap((item) => ('block' in item ? [item.block] : []));
}

/** Blocks that are sent become ready where they stand among the rest. */
export function blockEvents(items: readonly Outgoing[], effects: readonly ChatTurnEffect[]): StreamEvent[] {
  const sent = new Set(effects.flatMap((effect) => (effect.type === 'sendBlock' ? [effect.blockId] : [])));
  return items.flatMap((item): StreamEvent[] => {
    if (!('block' in item)) return [item.event];
    const { block } = item;
    return sent.has(block.id) ? [{ type: 'block.ready', index: block.index, block }] : [];
  });
}

/** Says what was held back behind a block. */
export function speak(items: readonly Outgoing[]): void {
  for (const item of items) if ('speak' in item) item.speak();
}

/** About how long these blocks are; what is no text is short. */
export function charsOf(blocks: readonly Block[]): number {
  return blocks.reduce((sum, { body }) => sum + (typeof body.md === 'string' ? body.md.length : 0), 0);
}

/** The row of a block. */
export function newBlock(block: Block): NewBlock {
  const replaces = replacedBy(block);
  return {
    id: block.id,
    position: block.index,
    blockType: block.block_type,
    revision: block.revision,
    body: JSON.stringify(block.body),
    fallbackText: block.fallback_text ?? null,
    ...(replaces === undefined ? {} : { replaces }),
  };
}
