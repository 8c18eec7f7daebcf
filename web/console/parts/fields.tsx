/** Fields of forms: each with its label, what it is for, its bound, and what the service refused, in one place; and a form's fields from a table. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { codePoints } from '../../../protocol/schema/text.ts';
import { Select } from './choices.tsx';
import type { Values } from './draft-hook.ts';
import type { Form } from './form-hook.ts';

interface FieldProps {
  readonly label: string;
  /** What it does, and its default. */
  readonly hint?: ComponentChildren;
  /** What is wrong with it; '' or absent: nothing. */
  readonly fault?: string | undefined;
  readonly disabled?: boolean;
}

/** What an input says of its field. */
interface OwnProps {
  readonly id: string;
  readonly disabled: boolean;
  readonly 'aria-invalid': boolean;
  readonly 'aria-describedby': string;
}

interface FrameProps extends FieldProps {
  /** Beside the label: how much is used of the bound. */
  readonly count?: ComponentChildren;
  readonly children: (own: OwnProps) => ComponentChildren;
}

function FieldFrame({ label, hint, fault = '', disabled = false, count, children }: FrameProps) {
  const id = useId();
  return (
    <div class="field">
      <div class="field-head">
        <label htmlFor={id}>{label}</label>
        {count}
      </div>
      <div class="field-control">
        {children({ id, disabled, 'aria-invalid': fault !== '', 'aria-describedby': `${id}-hint ${id}-fault` })}
        <p id={`${id}-fault`} class="fault" role="alert">
          {fault}
        </p>
      </div>
      <p id={`${id}-hint`} class="field-hint">
        {hint}
      </p>
    </div>
  );
}

function Count({ used, max }: { readonly used: number; readonly max: number }) {
  return (
    <span class={used > max ? 'count is-over' : 'count'}>
      {used.toLocaleString('en')} / {max.toLocaleString('en')}
      {used > max && <span class="unseen"> characters, too many</span>}
    </span>
  );
}

interface TextFieldProps extends FieldProps {
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** Counted beside the label; more may be typed, and is refused when it is saved. */
  readonly max?: number | undefined;
  /** Absent: one line. */
  readonly rows?: number | undefined;
  readonly placeholder?: string | undefined;
  readonly isMono?: boolean;
}

export function TextField({ value, onInput, max, rows, placeholder, isMono = false, ...frame }: TextFieldProps) {
  const input = (event: { readonly currentTarget: { readonly value: string } }) => onInput(event.currentTarget.value);
  const look = { class: isMono ? 'input mono' : 'input', value, placeholder };
  return (
    <FieldFrame {...frame} count={max !== undefined && <Count used={codePoints(value)} max={max} />}>
      {(own) =>
        rows === undefined ? (
          <input type="text" autoComplete="off" {...own} {...look} onInput={input} />
        ) : (
          <textarea rows={rows} {...own} {...look} onInput={input} />
        )
      }
    </FieldFrame>
  );
}

interface NumberFieldProps extends FieldProps {
  readonly value: number | null;
  readonly onInput: (value: number | null) => void;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly step?: number | undefined;
  readonly unit?: string | undefined;
  readonly placeholder?: string | undefined;
}

export function NumberField({ value, onInput, min, max, step = 1, unit, placeholder, ...frame }: NumberFieldProps) {
  const input = (typed: number) => onInput(Number.isNaN(typed) ? null : typed);
  return (
    <FieldFrame {...frame}>
      {(own) => (
        <span class="input-unit">
          <input
            class="input number"
            type="number"
            inputMode="decimal"
            value={value ?? ''}
            {...{ min, max, step, placeholder, ...own }}
            onInput={(event) => input(event.currentTarget.valueAsNumber)}
          />
          {unit !== undefined && <span class="unit">{unit}</span>}
        </span>
      )}
    </FieldFrame>
  );
}

interface SwitchProps extends FieldProps {
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}

export function Switch({ isOn, onChange, ...frame }: SwitchProps) {
  const change = (event: { readonly currentTarget: { readonly checked: boolean } }) => onChange(event.currentTarget.checked);
  return (
    <FieldFrame {...frame}>
      {(own) => <input class="switch" type="checkbox" role="switch" aria-checked={isOn} checked={isOn} {...own} onChange={change} />}
    </FieldFrame>
  );
}

/** A field of a form in a table. */
export interface FieldEntry {
  /** Of its value in the form. */
  readonly name: string;
  readonly label: string;
  /** `mono`: of one width. `lines`: a list, a line each. `long`: words in several lines. Absent: words in one. */
  readonly kind?: 'mono' | 'lines' | 'long' | 'number' | 'switch' | 'choice';
  readonly hint?: string;
  readonly rows?: number;
  readonly min?: number;
  readonly max?: number;
  readonly step?: number;
  readonly unit?: string;
  readonly placeholder?: string;
  readonly options?: readonly (readonly [value: string, name: string])[];
  /** What the service calls it, where that is not its name. */
  readonly path?: string;
}

const ROWS: Readonly<Partial<Record<NonNullable<FieldEntry['kind']>, number>>> = { lines: 2, long: 4 };

function TableField<Fields extends Values>({ form, entry }: { readonly form: Form<Fields>; readonly entry: FieldEntry }) {
  const { name, kind, label, hint, options = [], path = name, rows = kind && ROWS[kind], ...more } = entry;
  const value: unknown = form.values[name];
  const frame = { label, hint, fault: form.faultOf(path) };
  const set = (to: unknown) => form.set(name, to as Fields[string]);
  const text = String(value ?? '');
  if (kind === 'switch') return <Switch {...frame} isOn={value === true} onChange={set} />;
  if (kind === 'number') return <NumberField {...frame} {...more} value={typeof value === 'number' ? value : null} onInput={set} />;
  if (kind === 'choice')
    return <FieldFrame {...frame}>{(own) => <Select look="input" own={own} value={text} options={options} onChange={set} />}</FieldFrame>;
  return <TextField {...frame} {...more} rows={rows} isMono={kind === 'mono' || kind === 'lines'} value={text} onInput={set} />;
}

/** The fields of a form, in the order of the table. */
export function FieldList<Fields extends Values>({
  form,
  fields,
}: {
  readonly form: Form<Fields>;
  readonly fields: readonly FieldEntry[];
}) {
  return (
    <>
      {fields.map((entry) => (
        <TableField key={entry.name} form={form} entry={entry} />
      ))}
    </>
  );
}

/** What people call the fields. */
export function labelsOf(fields: readonly FieldEntry[]): Readonly<Record<string, string>> {
  return Object.fromEntries(fields.map(({ name, label }) => [name, label]));
}

export function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
