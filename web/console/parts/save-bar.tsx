/** Below a form: what was changed and is not saved yet, and what went wrong when it was to be. */

import { Button, Problem } from './card.tsx';
import type { Values } from './draft-hook.ts';
import type { Form } from './form-hook.ts';

interface SaveBarProps<Fields extends Values> {
  readonly form: Form<Fields>;
  readonly labels: Readonly<Partial<Record<keyof Fields & string, string>>>;
  readonly verb?: string;
}

function namesOf<Fields extends Values>(names: readonly (keyof Fields & string)[], labels: SaveBarProps<Fields>['labels']): string {
  return names.map((name) => labels[name] ?? name).join(', ');
}

const THEIRS_MAX_CHARS = 160;

function shownValue(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text === '') return 'nothing';
  return text.length > THEIRS_MAX_CHARS ? `${text.slice(0, THEIRS_MAX_CHARS)}…` : text;
}

export function SaveBar<Fields extends Values>({ form, labels, verb = 'Save changes' }: SaveBarProps<Fields>) {
  const { changed, overtaken, act } = form;
  if (changed.length === 0 && act.error === undefined) return null;
  return (
    <section class="save-bar" aria-label="Changes">
      <Problem error={act.error} />
      {overtaken.length > 0 && (
        <div class="save-note" role="status">
          <p>Saved with another value by somebody else meanwhile. Saving puts yours in its place; Discard keeps theirs.</p>
          <ul>
            {overtaken.map((name) => (
              <li key={name}>
                <b>{labels[name] ?? name}</b>, theirs: {shownValue(form.saved[name])}
              </li>
            ))}
          </ul>
        </div>
      )}
      <div class="save-line">
        <p class="save-what">
          <b>Not saved yet:</b> {namesOf<Fields>(changed, labels)}
        </p>
        <Button label="Discard" look="bare" disabled={act.isUnderWay} onClick={form.discard} />
        <Button
          label={act.isUnderWay ? 'Saving…' : verb}
          look="primary"
          disabled={act.isUnderWay || changed.length === 0}
          onClick={form.save}
        />
      </div>
    </section>
  );
}
