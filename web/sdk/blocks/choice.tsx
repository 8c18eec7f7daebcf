/** `choice`: a question with options. One of a few is answered by its press; several, or own words, by a button below. */
import { useId, useState } from 'preact/hooks';
import type { BlockProps, BlockSurroundings, BodyOf } from './block-view.ts';
import { AnswerNote, chosenIds, isOpen } from './parts/answer-note.tsx';
import { Icon } from './parts/icon.tsx';
import { Picture } from './parts/picture.tsx';
import { filled } from './words.ts';

type Option = BodyOf<'choice'>['options'][number];

interface OptionWordsProps {
  readonly option: Option;
  readonly isChosen: boolean;
  readonly around: BlockSurroundings;
}

function OptionWords({ option: { label, description, image, badge }, isChosen, around }: OptionWordsProps) {
  return (
    <>
      <Picture around={around} image={image} class="is-thumb" />
      <span class="grow">
        <b>
          {label}
          {badge ? <span class="badge">{badge}</span> : null}
        </b>
        {description ? <small>{description}</small> : null}
      </span>
      {isChosen ? <Icon name="check" class="is-picked" /> : null}
    </>
  );
}

function countProblem({ mode, options, min = 1, max }: BodyOf<'choice'>, picked: number): 'few' | 'many' | undefined {
  if (picked < min) return 'few';
  return picked > (mode === 'single' ? 1 : (max ?? options.length + 1)) ? 'many' : undefined;
}

export function Choice({ block, body, answer, around }: BlockProps<'choice'>) {
  const { prompt, mode, options, min = 1, max, other, submit_label: submitLabel, status } = body;
  const name = useId();
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const [own, setOwn] = useState('');
  const [isOwn, setIsOwn] = useState(false);
  const { words, ask } = around;
  const open = isOpen(status, answer);
  const chosen = open ? picked : chosenIds(body, answer);
  const isMulti = mode === 'multi';
  const ownWords = isOwn ? own.trim() : '';
  const labels = options.filter(({ id }) => picked.has(id)).map(({ label }) => label);
  const problem = countProblem(body, labels.length + (ownWords === '' ? 0 : 1));
  const send = () => ask.choose(block, [...picked], [...labels, ...(ownWords === '' ? [] : [ownWords])].join(', '), ownWords || undefined);
  const press = (option: Option) => {
    if (!isMulti) ask.choose(block, [option.id], option.label);
    else setPicked((before) => new Set(before.has(option.id) ? [...before].filter((id) => id !== option.id) : [...before, option.id]));
  };
  const rule = problem === 'many' ? filled(words.chooseAtMost, { min, max: max ?? options.length }) : filled(words.chooseAtLeast, { min });
  return (
    <fieldset class="choice">
      <legend class="title">{prompt}</legend>
      <div class="card rows">
        {options.map((option) => {
          const isChosen = chosen.has(option.id);
          const off = !open || option.disabled === true;
          const className = `row ${isChosen ? 'is-chosen' : ''} ${!open && !isChosen ? 'is-past' : ''}`;
          return isMulti ? (
            <label key={option.id} class={`${className} ${off ? 'is-off' : ''}`}>
              <input type="checkbox" name={name} checked={isChosen} disabled={off} onChange={() => press(option)} />
              <OptionWords around={around} option={option} isChosen={false} />
            </label>
          ) : (
            <button key={option.id} type="button" class={className} disabled={off} onClick={() => press(option)}>
              <OptionWords around={around} option={option} isChosen={isChosen} />
            </button>
          );
        })}
        {other === undefined || !open ? null : isOwn ? (
          <label class="row is-own">
            <span class="unseen">{other.label}</span>
            <input
              class="entry"
              value={own}
              maxLength={300}
              placeholder={other.label}
              onInput={(event) => setOwn(event.currentTarget.value)}
            />
          </label>
        ) : (
          <button type="button" class="row is-quiet" onClick={() => setIsOwn(true)}>
            <Icon name="edit" class="is-mark" />
            <span class="grow">{other.label}</span>
          </button>
        )}
      </div>
      {open && (isMulti || isOwn) ? (
        <div class="buttons">
          <button type="button" class="button is-primary" disabled={problem !== undefined} onClick={send}>
            {submitLabel || words.send}
          </button>
          {problem !== undefined && (picked.size > 0 || min > 1) ? <span class="note">{rule}</span> : null}
        </div>
      ) : null}
      <AnswerNote status={status} answer={answer} around={around} {...(chosen.size === 0 ? { answered: words.answered } : {})} />
    </fieldset>
  );
}
