/** `actions`: buttons. */
import type { BlockProps } from './block-view.ts';
import { ActionButton } from './parts/action-button.tsx';

export function Actions({ body: { buttons, layout = 'row' }, around }: BlockProps<'actions'>) {
  return (
    <div class={`buttons is-${layout}`}>
      {buttons.map((action) => (
        <ActionButton key={`${action.kind} ${action.target} ${action.label}`} action={action} around={around} />
      ))}
    </div>
  );
}
