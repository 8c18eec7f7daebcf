/** Fields of forms: each with its label, what it is for, its bound, and what the service refused, in one place. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { codePoints } from '../../../protocol/schema/text.ts';

export interface FieldProps {
  readonly label: string;
  /** What it does, and its default. */
  readonly hint?: ComponentChildren;
  /** What is wrong with it; '' or absent: nothing. */
  readonly fault?: string | undefined;
  readonly disabled?: boolean;
}

interface FrameProps extends FieldProps {
  readonly id: string;
  readonly count?: ComponentChildren;
  readonly children: ComponentChildren;
}

function describedBy(id: string): string {
  return `${id}-hint ${id}-fault`;
}

function FieldFrame({ id, label, hint, fault = '', count, children }: FrameProps) {
  return (
    <div class="field">
      <div class="field-head">
        <label htmlFor={id}>{label}</label>
        {count}
      </div>
      <div class="field-control">
        {children}
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

/** How many characters are used; loud once there are too many. */
function Count({ used, max }: { readonly used: number; readonly max: number }) {
  return (
    <span class={used > max ? 'count is-over' : 'count'}>
      {used.toLocaleString('en')} / {max.toLocaleString('en')}
      {used > max && <span class="unseen"> characters, too many</span>}
    </span>
  );
}

export interface TextFieldProps extends FieldProps {
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** Counted beside the label; more may be typed, and is refused when it is saved. */
  readonly max?: number;
  readonly placeholder?: string;
  readonly isMono?: boolean;
}

export function TextField({ value, onInput, max, placeholder, isMono = false, disabled, ...frame }: TextFieldProps) {
  const id = useId();
  return (
    <FieldFrame id={id} {...frame} count={max === undefined ? undefined : <Count used={codePoints(value)} max={max} />}>
      <input
        id={id}
        class={isMono ? 'input mono' : 'input'}
        type="text"
        value={value}
        placeholder={placeholder}
        disabled={disabled}
        autoComplete="off"
        aria-invalid={(frame.fault ?? '') !== ''}
        aria-describedby={describedBy(id)}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </FieldFrame>
  );
}

export interface TextAreaProps extends TextFieldProps {
  readonly rows?: number;
}

export function TextArea({ value, onInput, max, placeholder, isMono = false, rows = 4, disabled, ...frame }: TextAreaProps) {
  const id = useId();
  return (
    <FieldFrame id={id} {...frame} count={max === undefined ? undefined : <Count used={codePoints(value)} max={max} />}>
      <textarea
        id={id}
        class={isMono ? 'input mono' : 'input'}
        rows={rows}
        value={value}
        placeholder={placeholder}
        disabled={disabled}
        aria-invalid={(frame.fault ?? '') !== ''}
        aria-describedby={describedBy(id)}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </FieldFrame>
  );
}

export interface NumberFieldProps extends FieldProps {
  /** Null: nothing is entered. */
  readonly value: number | null;
  readonly onInput: (value: number | null) => void;
  readonly min?: number;
  readonly max?: number;
  readonly step?: number;
  readonly unit?: string;
  readonly placeholder?: string;
}

export function NumberField({ value, onInput, min, max, step = 1, unit, placeholder, disabled, ...frame }: NumberFieldProps) {
  const id = useId();
  return (
    <FieldFrame id={id} {...frame}>
      <span class="input-unit">
        <input
          id={id}
          class="input number"
          type="number"
          inputMode="decimal"
          value={value ?? ''}
          min={min}
          max={max}
          step={step}
          placeholder={placeholder}
          disabled={disabled}
          aria-invalid={(frame.fault ?? '') !== ''}
          aria-describedby={describedBy(id)}
          onInput={(event) => {
            const typed = event.currentTarget.valueAsNumber;
            onInput(Number.isNaN(typed) ? null : typed);
          }}
        />
        {unit !== undefined && <span class="unit">{unit}</span>}
      </span>
    </FieldFrame>
  );
}

export interface SelectOption<Value extends string = string> {
  readonly value: Value;
  readonly label: string;
}

export interface SelectFieldProps<Value extends string> extends FieldProps {
  readonly value: Value;
  readonly options: readonly SelectOption<Value>[];
  readonly onChange: (value: Value) => void;
}

export function SelectField<Value extends string>({ value, options, onChange, disabled, ...frame }: SelectFieldProps<Value>) {
  const id = useId();
  return (
    <FieldFrame id={id} {...frame}>
      <select
        id={id}
        class="input"
        value={value}
        disabled={disabled}
        aria-describedby={describedBy(id)}
        onChange={(event) => {
          const chosen = options.find((option) => option.value === event.currentTarget.value);
          if (chosen !== undefined) onChange(chosen.value);
        }}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </FieldFrame>
  );
}

export interface SwitchProps extends FieldProps {
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}

export function Switch({ isOn, onChange, disabled, ...frame }: SwitchProps) {
  const id = useId();
  return (
    <FieldFrame id={id} {...frame}>
      <input
        id={id}
        class="switch"
        type="checkbox"
        role="switch"
        aria-checked={isOn}
        checked={isOn}
        disabled={disabled}
        aria-describedby={describedBy(id)}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
    </FieldFrame>
  );
}
