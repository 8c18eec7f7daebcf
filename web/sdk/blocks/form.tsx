/** `form`: fields to fill in, checked as the service checks them before they are sent (BLOCKVIEW-6). */
import { useId, useRef, useState } from 'preact/hooks';
import { submissionProblems } from '../../../protocol/catalog/form-submission.ts';
import type { BlockProps, BodyOf } from './block-view.ts';
import { type Problems, problemsOf, submittedOf, type Values } from './form-values.ts';
import { AnswerNote, isOpen } from './parts/answer-note.tsx';
import { Icon } from './parts/icon.tsx';
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

function FormField(props: FormFieldProps) {
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

export function Form({ block, body, answer, around }: BlockProps<'form'>) {
  const { title, fields, submit_label: submitLabel, status } = body;
  const { words, ask } = around;
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  const [values, setValues] = useState<Values>({});
  /** The same at once: what is sent right after a key was pressed does not wait for the next drawing. */
  const newest = useRef<Values>({});
  const [own, setOwn] = useState<Problems>({});
  const open = isOpen(status, answer);
  const told = answer?.phase === 'failed' ? problemsOf(answer.failure.details ?? []) : {};
  const submit = (event: Event) => {
    event.preventDefault();
    if (!open) return;
    const wanted = submittedOf(fields, newest.current);
    const problems = problemsOf(submissionProblems(body, wanted));
    setOwn(problems);
    const first = fields.findIndex(({ name }) => Object.hasOwn(problems, name));
    if (first < 0) ask.submit(block, wanted);
    else form.current?.querySelector<HTMLElement>(`[data-field="${first}"]`)?.focus();
  };
  if (status === 'answered' || status === 'superseded') {
    return (
      <div class="card form is-past">
        <div class="title">{title || submitLabel}</div>
        <AnswerNote status={status} answer={answer} around={around} answered={words.sent} />
      </div>
    );
  }
  return (
    <form class="card form" ref={form} onSubmit={submit} noValidate>
      {title ? <div class="title">{title}</div> : null}
      {fields.map((field, at) => (
        <FormField
          key={field.name}
          id={`${id}-${at}`}
          at={at}
          field={field}
          value={values[field.name]}
          problem={own[field.name] ?? told[field.name] ?? field.error}
          isOff={!open}
          words={words}
          onValue={(value) => {
            newest.current = { ...newest.current, [field.name]: value };
            setValues(newest.current);
          }}
        />
      ))}
      <div class="buttons">
        <button type="submit" class="button is-primary" disabled={!open}>
          {submitLabel}
          <Icon name="next" class="is-way" />
        </button>
      </div>
      <AnswerNote status={status} answer={answer} around={around} />
    </form>
  );
}
