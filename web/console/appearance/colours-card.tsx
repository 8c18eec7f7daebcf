/** The colours of the light and the dark theme. */

import { useId } from 'preact/hooks';
import { Card } from '../parts/card.tsx';
import type { Form } from '../parts/form-hook.ts';
import type { ServedThemes } from '../preview/drafts-hook.ts';
import { type AppearanceFields, BASE_COLOURS, type ColourRow, DERIVED_COLOURS } from './theme-fields.ts';

const COLOUR = /^#[0-9a-f]{6}$/i;
const UNKNOWN = '#808080';

interface ColourFieldProps {
  readonly label: string;
  readonly value: string;
  readonly derived: string | undefined;
  readonly fault: string;
  readonly onInput: (value: string) => void;
}

function ColourField({ label, value, derived, fault, onInput }: ColourFieldProps) {
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

interface ColoursProps {
  readonly form: Form<AppearanceFields>;
  readonly served: ServedThemes | null;
}

interface RowsProps extends ColoursProps {
  readonly rows: readonly ColourRow[];
  readonly variant: 'theme' | 'themeDark';
}

function Rows({ form, served, rows, variant }: RowsProps) {
  return (
    <div class="colours">
      {rows.map(({ token, label }) => {
        const path = `${variant}.${token}`;
        const derived = served?.[variant][token];
        return (
          <ColourField
            key={path}
            label={variant === 'theme' ? label : `${label} in the dark`}
            value={String(form.values[path] ?? '')}
            derived={typeof derived === 'string' ? derived : undefined}
            fault={form.faultOf(path)}
            onInput={(to) => form.set(path, to)}
          />
        );
      })}
    </div>
  );
}

export function ColoursCard(props: ColoursProps) {
  return (
    <Card title="Colours" note="an empty colour is derived from the others">
      <Rows {...props} rows={BASE_COLOURS} variant="theme" />
      <details class="more-colours">
        <summary>More colours of the light theme</summary>
        <Rows {...props} rows={DERIVED_COLOURS} variant="theme" />
      </details>
      <details class="more-colours">
        <summary>The dark theme</summary>
        <Rows {...props} rows={[...BASE_COLOURS, ...DERIVED_COLOURS]} variant="themeDark" />
      </details>
    </Card>
  );
}
