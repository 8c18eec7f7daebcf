/** Which cells of a machine the traffic of an app has hit in a chosen time, and how often; what was never hit stands out. */

import { useEffect, useMemo, useState } from 'preact/hooks';
import { useAsked } from '../api/asked-hook.ts';
import { Problem } from '../parts/card.tsx';
import { WordedSelect } from '../parts/choices.tsx';
import { replaceAddress } from '../shell/address.ts';
import { useApps } from '../traces/find.ts';
import { type CoveredCell, countsOf, hitsOf, ownCells } from './coverage.ts';
import { Drawing } from './drawing.tsx';
import type { Highlights } from './highlights.ts';
import { type MachineAnswer, StateTable } from './state-table.tsx';

interface CoverageAnswer {
  readonly cells: readonly CoveredCell[];
  readonly complete: boolean;
}

const TIMES: readonly (readonly [hours: number, words: string])[] = [
  [1, 'the last hour'],
  [24, 'the last day'],
  [24 * 7, 'the last week'],
  [24 * 90, 'the last three months'],
];
const SHOWN_ON = [
  ['picture', 'picture'],
  ['table', 'table'],
] as const;
const HOURS_DEFAULT = 24;

interface Choices {
  /** '': the first app. */
  readonly app: string;
  readonly hours: number;
  readonly on: 'picture' | 'table';
}

function readChoices(): Choices {
  const query = new URLSearchParams(location.search);
  const hours = TIMES.find(([value]) => String(value) === query.get('hours'))?.[0] ?? HOURS_DEFAULT;
  return { app: query.get('app') ?? '', hours, on: query.get('on') === 'table' ? 'table' : 'picture' };
}

function useChoices(): readonly [Choices, (change: Partial<Choices>) => void] {
  const [asked, hold] = useState(readChoices);
  useEffect(() => replaceAddress({ app: asked.app === '' ? undefined : asked.app, hours: String(asked.hours), on: asked.on }), [asked]);
  useEffect(() => () => replaceAddress({ app: undefined, hours: undefined, on: undefined }), []);
  return [asked, (change) => hold((before) => ({ ...before, ...change }))];
}

export function CoverageView({ machine }: { readonly machine: MachineAnswer }) {
  const apps = useApps();
  const [{ app: chosen, hours, on }, ask] = useChoices();
  const app = chosen || apps?.[0]?.id;
  return (
    <>
      <div class="coverage-head">
        <WordedSelect
          before="What"
          value={app ?? ''}
          options={apps?.map(({ id, name }) => [id, name]) ?? []}
          onChange={(id) => ask({ app: id })}
        />
        <WordedSelect
          before="has hit in"
          value={String(hours)}
          options={TIMES.map(([value, words]) => [String(value), words])}
          onChange={(value) => ask({ hours: Number(value) })}
        />
        <WordedSelect before="on the" value={on} options={SHOWN_ON} onChange={(value) => ask({ on: value })} />
        {on === 'picture' && <Legend />}
        {apps?.length === 0 && <span>There is no app yet.</span>}
      </div>
      {app !== undefined && <Counts machine={machine} on={on} path={`/apps/${encodeURIComponent(app)}/traces/coverage?hours=${hours}`} />}
    </>
  );
}

/** As often as each look stands for, from never on. */
const LEGEND = [
  ['is-never', 'never'],
  ['is-hit-1', '1 to 9 times'],
  ['is-hit-2', '10 to 99'],
  ['is-hit-3', '100 and more'],
] as const;

function Legend() {
  return (
    <ul class="waterfall-legend" aria-label="What the looks say">
      {LEGEND.map(([look, words]) => (
        <li key={look}>
          <svg width="24" height="10" aria-hidden="true">
            <path d="M0 5h24" class={`edge ${look}`} />
          </svg>
          {words}
        </li>
      ))}
    </ul>
  );
}

interface CountsProps extends Pick<Choices, 'on'> {
  readonly machine: MachineAnswer;
  readonly path: string;
}

function Counts({ machine, on, path }: CountsProps) {
  const { answer, error, reload } = useAsked<CoverageAnswer>(path);
  const cells = useMemo(() => ownCells(machine.name, machine.picture, answer?.cells ?? []), [machine, answer]);
  const hits = useMemo(() => hitsOf(machine.picture, cells), [machine, cells]);
  if (error !== undefined) return <Problem error={error} retry={reload} />;
  if (answer === undefined) return null;
  return (
    <>
      {!answer.complete && <p class="note">There was more traffic in this time than is counted: these are the newest.</p>}
      {on === 'picture' ? (
        <Drawing picture={machine.picture} highlights={NOWHERE} hits={hits} />
      ) : (
        <StateTable table={machine.table} active={NOWHERE.active} counts={countsOf(cells)} />
      )}
    </>
  );
}

/** Counts are of all instances: the machine is nowhere. */
const NOWHERE: Highlights = { active: new Set(), trail: [] };
