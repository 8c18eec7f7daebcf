/** `confirm_card`: asks before something is changed. Nothing is done until the service has recorded the person's yes. */
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { BlockProps, BlockSurroundings, BodyOf } from './block-view.ts';
import { type CardField, outcomeOf, plain, textOf, typedValue } from './card-values.ts';
import { leftWords } from './parts/formats.ts';
import { Icon } from './parts/icon.tsx';
import { failureWords, filled } from './words.ts';

interface FieldInputProps {
  readonly field: CardField;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly choices: readonly (readonly [value: string, label: string])[] | undefined;
}

function FieldInput({ field: { label, type, error }, text, onText, choices }: FieldInputProps) {
  const id = useId();
  const invalid = { id, 'aria-invalid': error !== undefined };
  const input = (event: { readonly currentTarget: { readonly value: string } }) => onText(event.currentTarget.value);
  return (
    <div class="asked">
      <label class="label" for={id}>
        {label}
      </label>
      {choices !== undefined ? (
        <select class="entry" value={text} onChange={input} {...invalid}>
          {choices.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      ) : type === 'array' ? (
        <textarea class="entry" rows={3} value={text} onInput={input} {...invalid} />
      ) : (
        <input
          class="entry"
          value={text}
          inputMode={type === 'number' || type === 'integer' ? 'decimal' : 'text'}
          onInput={input}
          {...invalid}
        />
      )}
      {error ? <span class="note is-bad">{error}</span> : null}
    </div>
  );
}

type CardEditProps = Pick<BlockProps<'confirm_card'>, 'body' | 'call' | 'around'> & { readonly onEnd: () => void };

function CardEdit({ body, call, around: { ask, words }, onEnd }: CardEditProps) {
  const fields = body.fields.filter(({ editable, type }) => editable && type !== 'object');
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  /** The same at once: what is saved right after a key was pressed does not wait for the next drawing. */
  const newest = useRef(typed);
  const isBusy = call?.phase === 'editing';
  const save = (event: Event) => {
    event.preventDefault();
    const changed = fields.filter((field) => Object.hasOwn(newest.current, field.param) && newest.current[field.param] !== textOf(field));
    if (changed.length > 0)
      ask.edit(
        body.invocation_id,
        Object.fromEntries(changed.map((field) => [field.param, typedValue(field, newest.current[field.param] ?? '')])),
      );
    onEnd();
  };
  return (
    <form onSubmit={save} noValidate>
      {fields.map((field) => {
        const yesNo = [
          ['true', words.yes],
          ['false', words.no],
        ] as const;
        const values = field.type === 'boolean' ? yesNo : field.enum?.map((value) => [String(value), String(value)] as const);
        // What has no value yet can be left without one.
        const choices = values === undefined || textOf(field) !== '' ? values : [['', words.choose] as const, ...values];
        const text = typed[field.param] ?? textOf(field);
        const onText = (next: string) => {
          newest.current = { ...newest.current, [field.param]: next };
          setTyped(newest.current);
        };
        return <FieldInput key={field.param} field={field} text={text} onText={onText} choices={choices} />;
      })}
      <div class="buttons is-pair">
        <button type="button" class="button is-secondary" disabled={isBusy} onClick={onEnd}>
          {words.back}
        </button>
        <button type="submit" class="button is-primary" disabled={isBusy}>
          {words.save}
        </button>
      </div>
    </form>
  );
}

const SECOND_MS = 1_000;

function useClock(now: () => number, isRunning: boolean): number {
  const [nowMs, setNowMs] = useState(now);
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => setNowMs(now()), SECOND_MS);
    return () => clearInterval(timer);
  }, [isRunning, now]);
  return isRunning ? nowMs : now();
}

type Body = BodyOf<'confirm_card'>;
type Call = BlockProps<'confirm_card'>['call'];

/** From here on the time left is shown: before, it only makes nervous. */
const COUNTDOWN_MS = 10 * 60_000;

function Fields({
  fields,
  onEdit,
  around,
}: {
  readonly fields: Body['fields'];
  readonly onEdit: (() => void) | undefined;
  readonly around: BlockSurroundings;
}) {
  if (fields === undefined || fields.length === 0) return null;
  return (
    <dl>
      {fields.map(({ param, label, display, editable, error }) => (
        <div key={param}>
          <dt>{label}</dt>
          <dd>
            <span>{display === '' ? '–' : display}</span>
            {editable && onEdit !== undefined ? (
              <button type="button" class="link" onClick={onEdit} aria-label={`${around.words.edit}: ${label}`}>
                {around.words.edit}
              </button>
            ) : null}
            {error ? <p class="note is-bad">{error}</p> : null}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Ask({ body, call, around }: { readonly body: Body; readonly call: Call; readonly around: BlockSurroundings }) {
  const { invocation_id: id, risk, confirm_label: yes, decline_label: no, type_to_confirm: word, edit_state: editState } = body;
  const [typed, setTyped] = useState('');
  const { words, ask } = around;
  const isBusy = call?.phase === 'deciding' || call?.phase === 'editing';
  const mayConfirm = (now: string) => !isBusy && editState === 'idle' && (word === undefined || plain(now) === plain(word));
  const confirm = (event: Event, now: string) => {
    event.preventDefault();
    if (mayConfirm(now)) ask.confirm(id, word === undefined ? undefined : now);
  };
  const [before = '', after = ''] = words.typeToConfirm.split('{word}');
  return (
    <form onSubmit={(event) => confirm(event, typed)} noValidate>
      {word === undefined ? null : (
        <label class="asked">
          <span class="label">
            {before}
            <b>{word}</b>
            {after}
          </span>
          <input
            class="entry"
            value={typed}
            disabled={isBusy}
            autoComplete="off"
            autoCapitalize="off"
            spellcheck={false}
            onInput={(event) => setTyped(event.currentTarget.value)}
            onKeyDown={(event) => {
              // What was typed may not be drawn yet, and the button with it.
              if (event.key === 'Enter' && !event.isComposing) confirm(event, event.currentTarget.value);
            }}
          />
        </label>
      )}
      <div class="buttons is-pair">
        <button type="button" class="button is-secondary" disabled={isBusy} onClick={() => ask.decline(id)}>
          {no}
        </button>
        <button type="submit" class={`button ${risk === 'destructive' ? 'is-danger' : 'is-primary'}`} disabled={!mayConfirm(typed)}>
          {yes}
        </button>
      </div>
    </form>
  );
}

export function ConfirmCard({ body, call, around }: BlockProps<'confirm_card'>) {
  const { title, summary, fields, expires_at: expiresAt, status, edit_state: editState } = body;
  const { words, locale } = around;
  const [isEditing, setEditing] = useState(editState === 'rejected');
  const nowMs = useClock(around.now, status === 'pending');
  const leftMs = Date.parse(expiresAt) - nowMs;
  const shown = status === 'pending' && leftMs <= 0 ? 'expired' : status;
  const isPending = shown === 'pending';
  const edits = isPending && isEditing;
  const outcome = outcomeOf(shown, call, words);
  return (
    <article class={`card confirm ${isPending ? '' : 'is-past'}`} aria-label={title}>
      <div class="title">{title}</div>
      {summary === title ? null : <p class="summary">{summary}</p>}
      {edits ? (
        <CardEdit body={body} call={call} around={around} onEnd={() => setEditing(false)} />
      ) : (
        <Fields fields={fields} onEdit={isPending ? () => setEditing(true) : undefined} around={around} />
      )}
      {isPending && call?.failure !== undefined && !edits ? (
        <p class="note is-bad" role="alert">
          <Icon name="warning" />
          {failureWords(call.failure, words)}
        </p>
      ) : null}
      {isPending && !edits ? <Ask body={body} call={call} around={around} /> : null}
      {isPending && leftMs < COUNTDOWN_MS ? (
        <p class="note">
          <Icon name="clock" />
          {filled(words.expiresIn, { time: leftWords(leftMs, locale) })}
        </p>
      ) : null}
      {isPending ? null : (
        <p class={`note ${outcome.tone}`} role="status">
          <Icon
            name={outcome.tone === 'is-ok' ? 'check' : outcome.tone === 'is-bad' ? 'warning' : shown === 'expired' ? 'clock' : 'dash'}
          />
          {outcome.words}
        </p>
      )}
    </article>
  );
}
