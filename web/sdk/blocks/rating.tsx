/** `rating`: a score of stars, faces or numbers; with a comment where it asks for one. */
import { useState } from 'preact/hooks';
import type { BlockProps, BodyOf } from './block-view.ts';
import { AnswerNote, chosenIds, isOpen } from './parts/answer-note.tsx';
import { Icon } from './parts/icon.tsx';
import { filled } from './words.ts';

/** Scores above this go with a message: the call for ratings takes no more. */
const CALL_VALUE_MAX = 5;
/** As the call for ratings takes them. */
const COMMENT_MAX_CHARS = 300;
/** How far a mouth is drawn up or down at most, on a face of 24. */
const SMILE = 4.5;

function Face({ value, scale }: { readonly value: number; readonly scale: number }) {
  const smile = (((value - 1) / (scale - 1)) * 2 - 1) * SMILE;
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={`M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM9 9.5v.6M15 9.5v.6M8 ${15 - smile / 3}Q12 ${15 + smile} 16 ${15 - smile / 3}`} />
    </svg>
  );
}

interface ScoreProps {
  readonly value: number;
  readonly body: BodyOf<'rating'>;
  readonly isBelow: boolean;
}

function Score({ value, body: { style, scale }, isBelow }: ScoreProps) {
  if (style === 'emoji') return <Face value={value} scale={scale} />;
  if (style === 'number') return <span aria-hidden="true">{value}</span>;
  return <Icon name="star" class={isBelow ? 'is-full' : ''} />;
}

export function Rating({ block, body, answer, around }: BlockProps<'rating'>) {
  const { prompt, scale, style, comment = false, status } = body;
  const { words, ask } = around;
  const [picked, setPicked] = useState(0);
  const [said, setSaid] = useState('');
  const open = isOpen(status, answer);
  const value = open ? picked : Number([...chosenIds(body, answer)][0] ?? picked);
  const send = (score: number) => {
    const text = said.trim() || undefined;
    if (scale <= CALL_VALUE_MAX) ask.rate(block, score, text);
    else ask.choose(block, [String(score)], filled(words.ratedOf, { value: score, scale }), text);
  };
  const press = (score: number) => {
    setPicked(score);
    if (!comment) send(score);
  };
  return (
    <fieldset class="card rating">
      <legend class="title">{prompt}</legend>
      <div class={`scores is-${style}`}>
        {[...new Array(scale).keys()]
          .map((at) => at + 1)
          .map((score) => (
            <button
              key={score}
              type="button"
              class={`score ${score === value ? 'is-chosen' : ''}`}
              aria-label={filled(words.ratedOf, { value: score, scale })}
              aria-pressed={score === value}
              disabled={!open}
              onClick={() => press(score)}
            >
              <Score value={score} body={body} isBelow={score <= value} />
            </button>
          ))}
      </div>
      {style === 'number' ? (
        <div class="ends" aria-hidden="true">
          <span>{words.lowest}</span>
          <span>{words.highest}</span>
        </div>
      ) : null}
      {open && comment && picked > 0 ? (
        <>
          <label class="asked">
            <span class="label">{words.comment}</span>
            <textarea
              class="entry"
              rows={2}
              maxLength={COMMENT_MAX_CHARS}
              value={said}
              onInput={(event) => setSaid(event.currentTarget.value)}
            />
          </label>
          <div class="buttons">
            <button type="button" class="button is-primary" onClick={() => send(picked)}>
              {words.send}
            </button>
          </div>
        </>
      ) : null}
      <AnswerNote status={status} answer={answer} around={around} answered={words.answered} />
    </fieldset>
  );
}
