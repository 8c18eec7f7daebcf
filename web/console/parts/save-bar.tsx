/** Below a form: what was changed and is not saved yet, and what went wrong when it was to be. */
import { Problem } from '../api/problem.tsx';
import type { Values } from './draft-hook.ts';
import type { Form } from './form-hook.ts';

export interface SaveBarProps<Fields extends Values> {
  readonly form: Form<Fields>;
  /** What people call the fields. */
  readonly labels: Readonly<Partial<Record<keyof Fields & string, string>>>;
  /** What the button does. */
  readonly verb?: string;
}

function namesOf<Fields extends Values>(names: readonly (keyof Fields & string)[], labels: SaveBarProps<Fields>['labels']): string {
  return names.map((name) => labels[name] ?? name).join(', ');
}

export function SaveBar<Fields extends Values>({ form, labels, verb = 'Save changes' }: SaveBarProps<Fields>) {
  const { changed, overtaken, act } = form;
  if (changed.length === 0 && act.error === undefined) return null;
  return (
    <section class="save-bar" aria-label="Changes">
      {act.error !== undefined && <Problem error={act.error} />}
      {overtaken.length > 0 && (
        <p class="save-note" role="status">
          Saved with another value by somebody else meanwhile: {namesOf<Fields>(overtaken, labels)}. Saving puts yours in its place.
        </p>
      )}
      <div class="save-line">
        <p class="save-what">
          <b>Not saved yet:</b> {namesOf<Fields>(changed, labels)}
        </p>
        <button type="button" class="button bare" disabled={act.isUnderWay} onClick={form.discard}>
          Discard
        </button>
        <button type="button" class="button primary" disabled={act.isUnderWay || changed.length === 0} onClick={form.save}>
          {act.isUnderWay ? 'Saving…' : verb}
        </button>
      </div>
    </section>
  );
}
