/** A state as a chip: its word in its colour. */
import { signalOf, stateWords } from './states.ts';

/** `words`: of what it is, where its state is told by the colour alone. */
export function StateChip({
  state,
  words = stateWords(state),
  role,
}: {
  readonly state: string;
  readonly words?: string;
  readonly role?: 'status';
}) {
  return (
    <span class={`chip ${signalOf(state)}`} role={role}>
      {words}
    </span>
  );
}
