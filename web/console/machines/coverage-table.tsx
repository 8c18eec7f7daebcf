/** Which cells of a machine the traffic of an app has hit in a chosen time, and how often; what was never hit stands out. */
import { useState } from 'preact/hooks';
import { Problem } from '../api/problem.tsx';
import { useResource } from '../api/resource.ts';
import { useApps } from '../traces/app-hook.ts';
import type { MachineAnswer } from './machine-answers.ts';
import { StateTable } from './state-table.tsx';

interface CoverageAnswer {
  readonly cells: readonly { readonly machine: string; readonly state: string; readonly event: string; readonly count: number }[];
  readonly complete: boolean;
}

const TIMES: readonly (readonly [hours: number, words: string])[] = [
  [1, 'the last hour'],
  [24, 'the last day'],
  [24 * 7, 'the last week'],
  [24 * 90, 'the last three months'],
];

/** Counts of the table's cells by `state event`; those of equal regions are added up, as the table has one of them. */
function countsOf(machine: MachineAnswer, cells: CoverageAnswer['cells']): ReadonlyMap<string, number> {
  const { regions } = machine.picture;
  const counts = new Map<string, number>();
  for (const { machine: name, state, event, count } of cells) {
    if (name !== machine.name) continue;
    const own = regions === undefined ? state : state.slice(state.indexOf('.') + 1);
    counts.set(`${own} ${event}`, (counts.get(`${own} ${event}`) ?? 0) + count);
  }
  return counts;
}

export interface CoverageTableProps {
  readonly machine: MachineAnswer;
  readonly active: ReadonlySet<string>;
}

export function CoverageTable({ machine, active }: CoverageTableProps) {
  const apps = useApps();
  const [chosen, choose] = useState('');
  const [hours, setHours] = useState(24);
  const app = chosen || apps?.[0]?.id;
  return (
    <>
      <div class="coverage-head">
        <label>
          What{' '}
          <select class="select" value={app ?? ''} onChange={(event) => choose(event.currentTarget.value)}>
            {apps?.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          has hit in{' '}
          <select class="select" value={String(hours)} onChange={(event) => setHours(Number(event.currentTarget.value))}>
            {TIMES.map(([value, words]) => (
              <option key={value} value={String(value)}>
                {words}
              </option>
            ))}
          </select>
        </label>
        {apps?.length === 0 && <span>There is no app yet.</span>}
      </div>
      {app !== undefined && (
        <Counts machine={machine} active={active} path={`/apps/${encodeURIComponent(app)}/traces/coverage?hours=${hours}`} />
      )}
    </>
  );
}

function Counts({ machine, active, path }: CoverageTableProps & { readonly path: string }) {
  const { answer, error, reload } = useResource<CoverageAnswer>(path);
  if (error !== undefined) return <Problem error={error} retry={reload} />;
  if (answer === undefined) return null;
  return (
    <>
      {!answer.complete && <p class="note">There was more traffic in this time than is counted: these are the newest.</p>}
      <StateTable table={machine.table} active={active} counts={countsOf(machine, answer.cells)} />
    </>
  );
}
