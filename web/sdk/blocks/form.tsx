/** `form`: fields to fill in, checked as the service checks them before they are sent (BLOCKVIEW-6). */
import { useId, useRef, useState } from 'preact/hooks';
import { submissionProblems } from '../../../protocol/catalog/form-submission.ts';
import type { BlockProps, FormValues } from './block-view.ts';
import { FormField } from './form-field.tsx';
import { AnswerNote, isOpen } from './parts/answer-note.tsx';
import { Icon } from './parts/icon.tsx';

type Values = Readonly<Record<string, string | boolean | string[]>>;
type Problems = Readonly<Record<string, string>>;

const FIELD_PATH = /^values\.(.+)$/;

function problemsOf(details: readonly { readonly path: string; readonly message: string }[]): Problems {
  return Object.fromEntries(
    details.flatMap(({ path, message }) => (FIELD_PATH.exec(path)?.[1] ? [[FIELD_PATH.exec(path)?.[1] ?? '', message]] : [])),
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
    const filledIn: [string, FormValues[string]][] = fields.flatMap(({ name, type }) => {
      const value = newest.current[name] ?? (type === 'boolean' ? false : '');
      if (value === '' || (Array.isArray(value) && value.length === 0)) return [];
      return [[name, type === 'number' && typeof value === 'string' ? numberOf(value) : value]];
    });
    const wanted = Object.fromEntries(filledIn);
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

function numberOf(text: string): number {
  return Number(text.trim().replace(',', '.'));
}
