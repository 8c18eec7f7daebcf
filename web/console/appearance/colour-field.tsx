/** A colour: picked or typed; one that is left out shows what is derived. */
import { useId } from 'preact/hooks';

const COLOUR = /^#[0-9a-f]{6}$/i;
const UNKNOWN = '#808080';

export interface ColourFieldProps {
  readonly label: string;
  readonly value: string;
  /** What is served where nothing is written. */
  readonly derived: string | undefined;
  readonly fault: string;
  readonly onInput: (value: string) => void;
}

export function ColourField({ label, value, derived, fault, onInput }: ColourFieldProps) {
  const id = useId();
  const shown = COLOUR.test(value) ? value : (derived ?? UNKNOWN);
  return (
    <div class="colour">
      <input
        class="colour-swatch"
        type="color"
        value={shown.toLowerCase()}
        aria-label={`Pick: ${label}`}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        class="input mono"
        value={value}
        placeholder={derived === undefined ? '#rrggbb' : `${derived} derived`}
        spellcheck={false}
        autoComplete="off"
        aria-invalid={fault !== ''}
        aria-describedby={`${id}-fault`}
        onInput={(event) => onInput(event.currentTarget.value.trim())}
      />
      <p id={`${id}-fault`} class="fault" role="alert">
        {fault}
      </p>
    </div>
  );
}
