/** The values of a confirmation card while a person changes them. */
import { useId, useRef, useState } from 'preact/hooks';
import type { BlockProps, BodyOf } from './block-view.ts';

type Field = BodyOf<'confirm_card'>['fields'][number];

/** What a field is typed as: lists a line each, everything else as its words. */
function textOf({ value, display }: Field): string {
  if (Array.isArray(value)) return value.join('\n');
  return value === undefined || value === null ? '' : typeof value === 'object' ? display : String(value);
}

/** What was typed, as the action's parameter takes it; null: none. What is no number stays text, and the service says so. */
function typedValue({ type, enum: allowed }: Field, text: string): unknown {
  if (text.trim() === '') return null;
  const listed = allowed?.find((each) => String(each) === text);
  if (listed !== undefined) return listed;
  if (type === 'boolean') return text === 'true';
  if (type === 'array') return text.split('\n').filter((line) => line.trim() !== '');
  if (type !== 'number' && type !== 'integer') return text;
  const number = Number(text.replace(',', '.'));
  return Number.isFinite(number) ? number : text;
}

interface FieldInputProps {
  readonly field: Field;
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

export function CardEdit({ body, call, around: { ask, words }, onEnd }: CardEditProps) {
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
