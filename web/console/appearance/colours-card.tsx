/** The colours of the light and the dark theme. */
import { Card } from '../parts/card.tsx';
import type { Form } from '../parts/form-hook.ts';
import type { ServedThemes } from '../preview/drafts-hook.ts';
import { ColourField } from './colour-field.tsx';
import { type AppearanceFields, BASE_COLOURS, type ColourRow, DERIVED_COLOURS } from './theme-fields.ts';

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
    <Card title="Colours" note="what is left out is derived">
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
