/** One setting as a field of the form. */
import { NumberField, Switch, TextArea, TextField } from '../parts/fields.tsx';
import type { Form } from '../parts/form-hook.ts';
import { pathOf, type Setting, type SettingFields } from './settings.ts';

/** A list of a few lines; it grows with what is in it. */
const LINES_SHOWN = 2;

export function SettingField({ form, setting }: { readonly form: Form<SettingFields>; readonly setting: Setting }) {
  const { name, kind, ...rest } = setting;
  const value = form.values[name];
  const frame = { ...rest, fault: form.faultOf(pathOf(name)) };
  const set = (to: unknown) => form.set(name, to as never);
  if (kind === 'switch') return <Switch {...frame} isOn={value === true} onChange={set} />;
  if (kind === 'number') return <NumberField {...frame} value={value as number | null} onInput={set} />;
  if (kind === 'lines') return <TextArea {...frame} isMono rows={LINES_SHOWN} value={String(value)} onInput={set} />;
  if (kind === 'long') return <TextArea {...frame} value={String(value)} onInput={set} />;
  return <TextField {...frame} isMono={kind === 'mono'} value={String(value)} onInput={set} />;
}
