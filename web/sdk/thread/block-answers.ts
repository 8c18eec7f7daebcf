/** What a person answered to blocks with turns that are under way or failed, by the block's id. Pure. */
import { isBusy, type TurnState } from '../../client/conversation/turn.ts';
import type { BlockAnswer } from '../blocks/block-view.ts';

function answeredBlock({ payload: { selection, form_submission: form } }: TurnState): string | undefined {
  return selection?.block_id ?? form?.form_id;
}

export function blockAnswers(turns: readonly TurnState[]): ReadonlyMap<string, BlockAnswer> {
  const answers = new Map<string, BlockAnswer>();
  for (const turn of turns) {
    const id = answeredBlock(turn);
    if (id === undefined) continue;
    const ids = turn.payload.selection?.ids;
    if (turn.phase === 'failed' && turn.failure !== undefined) answers.set(id, { phase: 'failed', failure: turn.failure });
    else if (turn.phase === 'waiting' || isBusy(turn)) answers.set(id, { phase: 'sending', ...(ids === undefined ? {} : { ids }) });
    else answers.delete(id);
  }
  return answers;
}

function isSameAnswer(one: BlockAnswer, other: BlockAnswer | undefined): boolean {
  if (one.phase === 'failed') return other?.phase === 'failed' && other.failure === one.failure;
  return other?.phase === one.phase && other.ids === one.ids;
}

export function areSameAnswers(one: ReadonlyMap<string, BlockAnswer>, other: ReadonlyMap<string, BlockAnswer>): boolean {
  return one.size === other.size && [...one].every(([id, answer]) => isSameAnswer(answer, other.get(id)));
}
