/** One of a few: as a list that opens, or side by side. */
import { useId } from 'preact/hooks';

export interface ChoiceProps<Value extends string> {
  readonly label?: string;
  readonly value: Value | undefined;
  readonly options: readonly (readonly [value: Value, name: string])[];
  readonly onChange: (value: Value) => void;
}

interface SelectProps<Value extends string> extends ChoiceProps<Value> {
  readonly look?: string;
  /** What it says of its field, where it is one. */
  readonly own?: object;
}

export function Select<Value extends string>({ label, value, options, onChange, look = 'select', own }: SelectProps<Value>) {
  return (
    <select
      class={look}
      aria-label={label}
      value={value}
      {...own}
      onChange={(event) => {
        const chosen = options.find(([each]) => each === event.currentTarget.value);
        if (chosen !== undefined) onChange(chosen[0]);
      }}
    >
      {options.map(([each, name]) => (
        <option key={each} value={each}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** With words before it; `look` is theirs. */
export function WordedSelect<Value extends string>({ before, look, ...choice }: SelectProps<Value> & { readonly before: string }) {
  const id = useId();
  return (
    <label class={look} htmlFor={id}>
      {before} <Select {...choice} own={{ id }} />
    </label>
  );
}

export function SideBySide<Value extends string>({ label, value, options, onChange }: ChoiceProps<Value>) {
  return (
    <fieldset class="choice">
      <legend class="unseen">{label}</legend>
      {options.map(([each, name]) => (
        <label key={each} class="choice-part">
          <input type="radio" name={label} value={each} checked={value === each} onChange={() => onChange(each)} />
          {name}
        </label>
      ))}
    </fieldset>
  );
}
