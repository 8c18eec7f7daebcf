/** The line below a block that people answer: on its way, not taken, replaced. */
import type { BlockAnswer, BlockSurroundings } from '../block-view.ts';
import { failureWords } from '../words.ts';
import { Icon } from './icon.tsx';

type PickStatus = 'open' | 'answered' | 'superseded';

export function isOpen(status: PickStatus, answer: BlockAnswer | undefined): boolean {
  return status === 'open' && answer?.phase !== 'sending';
}

export function chosenIds(body: { readonly selected_ids?: readonly string[] }, answer: BlockAnswer | undefined): ReadonlySet<string> {
  return new Set((answer?.phase === 'sending' ? answer.ids : undefined) ?? body.selected_ids ?? []);
}

interface AnswerNoteProps {
  readonly status: PickStatus;
  readonly answer: BlockAnswer | undefined;
  readonly around: BlockSurroundings;
  readonly answered?: string;
}

export function AnswerNote({ status, answer, around, answered }: AnswerNoteProps) {
  const { words } = around;
  if (answer?.phase === 'failed') {
    return (
      <p class="note is-bad" role="alert">
        <Icon name="warning" />
        {failureWords(answer.failure, words) || words.failed}
      </p>
    );
  }
  if (answer?.phase === 'sending') return <p class="note">{words.sending}</p>;
  if (status === 'superseded') return <p class="note">{words.superseded}</p>;
  if (status === 'answered' && answered !== undefined) {
    return (
      <p class="note is-ok">
        <Icon name="check" />
        {answered}
      </p>
    );
  }
  return null;
}
