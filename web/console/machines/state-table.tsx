/** A machine as a table, states down and events across: the same as its picture, for who reads better so, and for screen readers. */

import type { MachineGraph } from '../../../machines/graph.ts';
import type { MachinePicture } from '../../../machines/picture.ts';
import type { MachineTable, TableCell } from '../../../machines/table.ts';
import { tintOf } from './coverage.ts';

export interface MachineLine {
  readonly name: string;
  readonly title: string;
  readonly source: string;
  readonly version: string;
  readonly states: number;
  readonly events: number;
}

export interface MachinesAnswer {
  readonly machines: readonly MachineLine[];
}

export interface MachineAnswer {
  readonly name: string;
  readonly title: string;
  readonly source: string;
  readonly version: string;
  readonly definition: MachineGraph;
  readonly table: MachineTable;
  readonly picture: MachinePicture;
}

function wordsOf(state: string, { kind, to = [], refusals = [] }: TableCell): string {
  const refused = refusals.map((code) => `refuses ${code}`);
  if (kind === 'moves') return [...to.map((one) => (one === state ? 'stays' : one)), ...refused].join(',\n');
  if (kind === 'stays') return ['stays', ...refused].join(',\n');
  return kind === 'ignored' ? '·' : refused.join(',\n') || 'refused';
}

/** What each machine decides, in one line. */
export const DECIDES: Readonly<Record<string, string>> = {
  'chat-turn': 'One answer: from the question, through rounds of the model and calls of actions, to its end.',
  invocation: 'One call of an action: who runs it, whether a person is asked first, and how it ends.',
  'setup-session': 'Whether a call of the agent that sets an app up is admitted, and when its token stops working.',
  'step-panel': 'How far each of the thirteen steps of a setup is. All steps follow the same diagram.',
  'knowledge-source': 'Whether a source waits, is indexed, can be searched, failed, or is out of service.',
  pairing: 'Whether a code of the Test page waits for a build, shows its turns, or is over.',
  'organisation-move': 'How far an organisation is on its way to another cell, where it goes on after any crash.',
  'app-lifecycle': 'Whether an app is live.',
};

interface StateTableProps {
  readonly table: MachineAnswer['table'];
  readonly active: ReadonlySet<string>;
  readonly onState?: (state: string) => void;
  readonly counts?: ReadonlyMap<string, number>;
}

function lookOf({ kind }: TableCell, count: number | undefined): string {
  if (count === undefined) return `cell is-${kind}`;
  if (count > 0) return `cell is-${kind} is-hit-${tintOf(count)}`;
  return kind === 'ignored' ? `cell is-${kind}` : `cell is-${kind} is-never`;
}

function StateCell({ state, cell, count }: { readonly state: string; readonly cell: TableCell; readonly count: number | undefined }) {
  const isCounted = count !== undefined && (count > 0 || cell.kind !== 'ignored');
  return (
    <td class={lookOf(cell, count)} title={count === undefined ? undefined : wordsOf(state, cell)}>
      {isCounted ? <span class="cell-count">{count === 0 ? 'never' : `${count}×`}</span> : wordsOf(state, cell)}
    </td>
  );
}

export function StateTable({ table, active, onState, counts }: StateTableProps) {
  return (
    // The table is wider than the page: it can be moved by keys as well.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys.
    <section class="state-table scroll-both" aria-label="States and events" tabIndex={0}>
      <table class={counts === undefined ? 'matrix' : 'matrix is-counted'}>
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
                <StateCell
                  key={cell.event}
                  state={state}
                  cell={cell}
                  count={counts === undefined ? undefined : (counts.get(`${state} ${cell.event}`) ?? 0)}
                />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
