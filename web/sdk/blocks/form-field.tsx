/** One field of a form, with its label, its rule and what is wrong with it. */
import type { BodyOf } from './block-view.ts';
import type { BlockWords } from './words.ts';

type Field = BodyOf<'form'>['fields'][number];
type Value = string | boolean | string[];

interface FormFieldProps {
  readonly id: string;
  readonly at: number;
  readonly field: Field;
  readonly value: Value | undefined;
  /** What is wrong, in words that follow the label. */
  readonly problem: string | undefined;
  readonly isOff: boolean;
  readonly words: BlockWords;
  readonly onValue: (value: Value) => void;
}

interface InputProps extends FormFieldProps {
  readonly aria: Readonly<Record<string, unknown>>;
}

const INPUT_TYPES: Readonly<Partial<Record<Field['type'], 'email' | 'tel' | 'date'>>> = { email: 'email', phone: 'tel', date: 'date' };
const COMPLETIONS: Readonly<Partial<Record<Field['type'], 'email' | 'tel'>>> = { email: 'email', phone: 'tel' };

function TextInput({ id, field: { type, min, max }, value, isOff, onValue, aria }: InputProps) {
  const text = typeof value === 'string' ? value : '';
  const onInput = (event: { readonly currentTarget: { readonly value: string } }) => onValue(event.currentTarget.value);
  if (type === 'long_text') return <textarea id={id} class="entry" rows={3} value={text} disabled={isOff} onInput={onInput} {...aria} />;
  const bounds = type === 'date' ? { ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) } : {};
  return (
    <input
      id={id}
      class="entry"
      // Which of the types it is decides over nothing else here.
      type={(INPUT_TYPES[type] ?? 'text') as 'text'}
      inputMode={type === 'number' ? 'decimal' : 'text'}
      autoComplete={COMPLETIONS[type] ?? 'on'}
      value={text}
      disabled={isOff}
      onInput={onInput}
      {...bounds}
      {...aria}
    />
  );
}

function SelectInput({ id, field: { options = [] }, value, isOff, words, onValue, aria }: InputProps) {
  return (
    <select
      id={id}
      class="entry"
      value={typeof value === 'string' ? value : ''}
      disabled={isOff}
      onChange={(event) => onValue(event.currentTarget.value)}
      {...aria}
    >
      <option value="">{words.choose}</option>
      {options.map((option) => (
        <option key={option} value={option}>
          {option}
        </option>
      ))}
    </select>
  );
}

function ManyInput({ at, field: { options = [] }, value, isOff, onValue }: InputProps) {
  const chosen = Array.isArray(value) ? value : [];
  const toggle = (option: string) => onValue(chosen.includes(option) ? chosen.filter((each) => each !== option) : [...chosen, option]);
  return (
    <div class="pills">
      {options.map((option, index) => (
        <label key={option} class={`pill is-check ${chosen.includes(option) ? 'is-chosen' : ''}`}>
          <input
            type="checkbox"
            checked={chosen.includes(option)}
            disabled={isOff}
            onChange={() => toggle(option)}
            {...(index === 0 ? { 'data-field': at } : {})}
          />
          {option}
        </label>
      ))}
    </div>
  );
}

export function FormField(props: FormFieldProps) {
  const { id, at, field, value, problem, isOff, words, onValue } = props;
  const { label, type, required = false } = field;
  const aria = {
    'data-field': at,
    'aria-invalid': problem !== undefined,
    'aria-required': required,
    ...(problem === undefined ? {} : { 'aria-describedby': `${id}-problem` }),
  };
  const said =
    problem === undefined ? null : (
      <p id={`${id}-problem`} class="note is-bad">
        {label} {problem}
      </p>
    );
  const name = (
    <>
      {label}
      {required || type === 'boolean' ? null : <span class="aside"> {words.optional}</span>}
    </>
  );
  if (type === 'boolean') {
    return (
      <div class="asked">
        <label class="check">
          <input
            id={id}
            type="checkbox"
            checked={value === true}
            disabled={isOff}
            onChange={(event) => onValue(event.currentTarget.checked)}
            {...aria}
          />
          {name}
        </label>
        {said}
      </div>
    );
  }
  if (type === 'multi_select') {
    return (
      <fieldset class="asked">
        <legend class="label">{name}</legend>
        <ManyInput {...props} aria={aria} />
        {said}
      </fieldset>
    );
  }
  return (
    <div class="asked">
      <label class="label" for={id}>
        {name}
      </label>
      {type === 'select' ? <SelectInput {...props} aria={aria} /> : <TextInput {...props} aria={aria} />}
      {said}
    </div>
  );
}
