/** The mark of a step: done, current, to come, failed. */
import { Icon } from './icon.tsx';

export function StepMark({ state }: { readonly state: string }) {
  return (
    <span class="step" aria-hidden="true">
      {state === 'done' ? <Icon name="check" /> : state === 'failed' ? <Icon name="cross" /> : null}
    </span>
  );
}
