/** What an appearance has beside colours: shape, type, places and words. */
import {
  COMPOSER_HINT_MAX_CHARS,
  FONT_FAMILY_MAX_CHARS,
  FONT_SCALE_MAX,
  FONT_SCALE_MIN,
  LAUNCHER_LABEL_MAX_CHARS,
  RADIUS_MAX_PX,
} from '../../../protocol/limits.ts';
import { NumberField, SelectField, type SelectOption, Switch, TextField } from '../parts/fields.tsx';
import type { Form } from '../parts/form-hook.ts';
import { type AppearanceFields, LABELS } from './theme-fields.ts';

const FONT_STEP = 0.05;

const CHOICES: Readonly<Record<string, readonly SelectOption[]>> = {
  'theme.spacing': [
    { value: '', label: "The widget's own" },
    { value: 'compact', label: 'Compact' },
    { value: 'cosy', label: 'Cosy' },
    { value: 'roomy', label: 'Roomy' },
  ],
  'theme.style': [
    { value: '', label: "The widget's own" },
    { value: 'flat', label: 'Flat' },
    { value: 'soft', label: 'Soft' },
    { value: 'outlined', label: 'Outlined' },
  ],
  'theme.launcherPosition': [
    { value: '', label: 'At the end (right, where text runs to the right)' },
    { value: 'end', label: 'At the end' },
    { value: 'start', label: 'At the start' },
  ],
};

export function MeasuresCard({ form }: { readonly form: Form<AppearanceFields> }) {
  const frame = (path: string) => ({ label: LABELS[path] ?? path, fault: form.faultOf(path) });
  const text = (path: string) => ({ ...frame(path), value: String(form.values[path] ?? ''), onInput: (to: string) => form.set(path, to) });
  const number = (path: string) => {
    const value = form.values[path];
    return { ...frame(path), value: typeof value === 'number' ? value : null, onInput: (to: number | null) => form.set(path, to) };
  };
  return (
    <section class="card" aria-label="Shape and words">
      <h2>Shape and words</h2>
      <div class="fields">
        <NumberField {...number('theme.radius')} min={0} max={RADIUS_MAX_PX} unit="px" hint="Of the panel; smaller parts follow." />
        {Object.entries(CHOICES).map(([path, options]) => (
          <SelectField
            key={path}
            {...frame(path)}
            value={String(form.values[path] ?? '')}
            options={options}
            onChange={(to) => form.set(path, to)}
          />
        ))}
        <TextField
          {...text('theme.fontFamily')}
          max={FONT_FAMILY_MAX_CHARS}
          placeholder="system-ui"
          hint="One that the page or the device has; nothing is loaded."
        />
        <NumberField {...number('theme.fontScale')} min={FONT_SCALE_MIN} max={FONT_SCALE_MAX} step={FONT_STEP} hint="1: as designed." />
        <TextField {...text('copilot.launcherLabel')} max={LAUNCHER_LABEL_MAX_CHARS} hint="Empty: the icon alone." />
        <TextField {...text('copilot.composerHint')} max={COMPOSER_HINT_MAX_CHARS} placeholder="Write a message" />
        <Switch
          {...frame('copilot.feedback')}
          isOn={form.values['copilot.feedback'] === true}
          hint="People rate answers; you find them by it."
          onChange={(to) => form.set('copilot.feedback', to)}
        />
      </div>
    </section>
  );
}
