/** A form on the page: its fields, what went wrong, and its button. */

import type { ComponentChildren } from 'preact';
import type { Act } from '../api/act-hook.ts';
import { Button, Problem } from './card.tsx';

interface FormProps {
  readonly label?: string;
  readonly look?: string;
  readonly act: Act;
  readonly verb: string;
  readonly button?: 'primary' | 'danger' | '';
  readonly isReady?: boolean;
  readonly onSubmit: () => void;
  readonly more?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Form({ label, look = 'stack', act, verb, button = 'primary', isReady = true, onSubmit, more, children }: FormProps) {
  return (
    <form
      noValidate
      class={look}
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) onSubmit();
      }}
    >
      {children}
      <Problem error={act.error} />
      <div class="row">
        <button type="submit" class={`button ${button}`} disabled={act.isUnderWay || !isReady}>
          {verb}
        </button>
        {more}
      </div>
    </form>
  );
}

interface MoreProps {
  readonly verb?: string;
  readonly next: string | null;
  readonly isReading: boolean;
  readonly more: () => void;
}

export function More({ verb = 'Show older', next, isReading, more }: MoreProps) {
  if (next === null) return null;
  return (
    <div class="card-foot">
      <Button label={verb} disabled={isReading} onClick={more} />
    </div>
  );
}
