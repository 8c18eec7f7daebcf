/** The blocks of one answer while it comes (STREAM-8): announced, growing, ready. Pure: a list and an event in, the next list out. */
import type { Block } from '../../../protocol/catalog/block.ts';
import type { Block1, BlockStartEvent } from '../../../types/assistant-runtime.d.ts';

/** Names of the catalog's components, as the interface's own schema lists them. */
export type ComponentName = BlockStartEvent['block_type'];

export type BodyOf<K extends ComponentName> = Extract<Block1, { block_type: K }>['body'];

/** A block of one component, with its body typed as the catalog has it. */
export type BlockOf<K extends ComponentName> = Omit<Block, 'block_type' | 'body'> & { readonly block_type: K; readonly body: BodyOf<K> };

/** The block, if it is of this component: the service has held its body against that one's schema. */
export function asBlockOf<K extends ComponentName>(block: Block, type: K): BlockOf<K> | undefined {
  return block.block_type === type ? (block as unknown as BlockOf<K>) : undefined;
}

interface Announced {
  readonly index: number;
  readonly id: string;
  readonly blockType: string;
  /** The deltas so far; of text blocks only. */
  readonly text: string;
}

export type AnswerBlock =
  /** Draw a placeholder, or the text as far as it is there. */
  | (Announced & { readonly phase: 'announced' })
  | { readonly phase: 'ready'; readonly index: number; readonly id: string; readonly blockType: string; readonly block: Block }
  /** Its turn is over, and it never became ready: `text` is all that there is, and '' when there is nothing. */
  | (Announced & { readonly phase: 'unfinished' });

/** Inserts, or puts in the place of the one with the same index. In order of their indexes. */
function placed(blocks: readonly AnswerBlock[], block: AnswerBlock): readonly AnswerBlock[] {
  const at = blocks.findIndex(({ index }) => index >= block.index);
  if (at < 0) return [...blocks, block];
  return blocks[at]?.index === block.index ? blocks.with(at, block) : blocks.toSpliced(at, 0, block);
}

export function announce(blocks: readonly AnswerBlock[], index: number, id: string, blockType: string): readonly AnswerBlock[] {
  return placed(blocks, { phase: 'announced', index, id, blockType, text: '' });
}

/** `block.delta`. One whose `block.start` was lost still says its words. */
export function grow(blocks: readonly AnswerBlock[], index: number, text: string): readonly AnswerBlock[] {
  const at = blocks.findIndex((block) => block.index === index);
  const block = blocks[at];
  if (block === undefined) return placed(blocks, { phase: 'announced', index, id: '', blockType: 'text', text });
  return block.phase === 'announced' ? blocks.with(at, { ...block, text: block.text + text }) : blocks;
}

/** `block.ready`: the newest state of a block counts, in whichever order they come. */
export function ready(blocks: readonly AnswerBlock[], index: number, block: Block): readonly AnswerBlock[] {
  const before = blocks.find((each) => each.index === index);
  if (before?.phase === 'ready' && before.id === block.id && before.block.revision > block.revision) return blocks;
  return placed(blocks, { phase: 'ready', index, id: block.id, blockType: block.block_type, block });
}

/** The end of the turn: what did not become ready never will. */
export function settle(blocks: readonly AnswerBlock[]): readonly AnswerBlock[] {
  return blocks.some(({ phase }) => phase === 'announced')
    ? blocks.map((block): AnswerBlock => (block.phase === 'announced' ? { ...block, phase: 'unfinished' } : block))
    : blocks;
}

export function replace(blocks: readonly AnswerBlock[], block: Block): readonly AnswerBlock[] {
  const at = blocks.findIndex((each) => each.phase === 'ready' && each.id === block.id);
  const before = blocks[at];
  return before === undefined ? blocks : ready(blocks, before.index, block);
}

const NOTHING_CAME = 'This part of the answer did not arrive.';

/** The words for a block that is not drawn: of an unknown component, or one that never became ready. */
export function fallbackOf(block: AnswerBlock): string {
  if (block.phase === 'ready')
    return block.block.fallback_text ?? (typeof block.block.body.md === 'string' ? block.block.body.md : NOTHING_CAME);
  return block.text === '' && block.phase === 'unfinished' ? NOTHING_CAME : block.text;
}
