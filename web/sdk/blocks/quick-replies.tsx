/** `quick_replies`: follow-ups with one tap. Once the conversation went on without them they are gone; the one that was chosen stays. */
import type { BlockProps } from './block-view.ts';
import { AnswerNote, chosenIds, isOpen } from './parts/answer-note.tsx';
import { Icon } from './parts/icon.tsx';

export function QuickReplies({ block, body, answer, isNewest, around }: BlockProps<'quick_replies'>) {
  const chosen = chosenIds(body, answer);
  const open = isOpen(body.status, answer) && isNewest;
  const shown = open ? body.replies : body.replies.filter(({ id }) => chosen.has(id));
  if (shown.length === 0 && answer === undefined) return null;
  return (
    <div>
      <ul class="pills">
        {shown.map(({ id, label }) => (
          <li dir="auto" key={id}>
            {open ? (
              <button type="button" class="pill" onClick={() => around.ask.choose(block, [id], label)}>
                {label}
              </button>
            ) : (
              <span class="pill is-chosen">
                <Icon name="check" />
                {label}
              </span>
            )}
          </li>
        ))}
      </ul>
      <AnswerNote status={body.status} answer={answer} around={around} />
    </div>
  );
}
