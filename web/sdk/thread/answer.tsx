/** The blocks of one answer, each as it is now. */
import type { AnswerBlock } from '../../client/conversation/answer-blocks.ts';
import type { Calls } from '../../client/conversation/calls.ts';
import { BlockDrawing } from '../blocks/block-drawing.tsx';
import type { BlockAnswer, BlockSurroundings } from '../blocks/block-view.ts';

export interface AnswerParts {
  readonly around: BlockSurroundings;
  readonly answers: ReadonlyMap<string, BlockAnswer>;
  readonly calls: Calls;
  readonly isNewest: boolean;
}

export function Answer({ blocks, around, answers, calls, isNewest }: AnswerParts & { readonly blocks: readonly AnswerBlock[] }) {
  return (
    <>
      {blocks.map((block) => {
        const invocation = block.phase === 'ready' ? block.block.body.invocation_id : undefined;
        const call = typeof invocation === 'string' ? calls.find(({ invocation_id: id }) => id === invocation) : undefined;
        return (
          <BlockDrawing key={block.index} block={block} answer={answers.get(block.id)} call={call} isNewest={isNewest} around={around} />
        );
      })}
    </>
  );
}
