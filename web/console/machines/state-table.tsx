/** A machine as a table, states down and events across: the same as its picture, for who reads better so, and for screen readers. */
import type { MachineAnswer, TableCell } from './machine-answers.ts';

/** A dot for what is ignored, so that the rest stands out. */
function wordsOf(state: string, { kind, to = [], refusals = [] }: TableCell): string {
  const refused = refusals.map((code) => `refuses ${code}`);
  if (kind === 'moves') return [...to.map((one) => (one === state ? 'stays' : one)), ...refused].join(' / ');
  if (kind === 'stays') return ['stays', ...refused].join(' / ');
  return kind === 'ignored' ? '·' : refused.join(' / ') || 'refused';
}

export interface StateTableProps {
  readonly table: MachineAnswer['table'];
  /** Innermost states where the machine is. */
  readonly active: ReadonlySet<string>;
  readonly onState?: (state: string) => void;
}

export function StateTable({ table, active, onState }: StateTableProps) {
  return (
    // The table is wider than the page: it can be moved by keys as well.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys.
    <section class="state-table scroll-both" aria-label="States and events" tabIndex={0}>
      <table class="matrix">
        <thead>
          <tr>
            <th scope="col">State</th>
            {table.events.map((event) => (
              <th key={event} scope="col">
                <code>{event}</code>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map(({ state, cells }) => (
            <tr key={state} class={active.has(state) ? 'is-active' : ''}>
              <th scope="row">
                {onState === undefined ? (
                  <code>{state}</code>
                ) : (
                  <button type="button" class="link" onClick={() => onState(state)}>
                    <code>{state}</code>
                  </button>
                )}
                {active.has(state) && <span class="chip is-accent">here</span>}
              </th>
              {cells.map((cell) => (
                <td key={cell.event} class={`cell is-${cell.kind}`}>
                  {wordsOf(state, cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
