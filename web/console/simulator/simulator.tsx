/** The simulator: events on the left, the picture in the middle, the step on the right, the steps below. It runs in this page alone. */

import { useMemo, useState } from 'preact/hooks';
import type { Moment } from '../../../machines/simulator/verdict.ts';
import { momentAfter, type SimulatedMachine, WALK_EVENTS_MAX, type WalkedWay, walked } from '../../../machines/simulator/walk.ts';
import { wayTo } from '../../../machines/simulator/way.ts';
import { CoverageView } from '../machines/coverage-view.tsx';
import { Drawing } from '../machines/drawing.tsx';
import { activeStates, changedRegion, highlightsOf } from '../machines/highlights.ts';
import { RegionMatrix } from '../machines/region-matrix.tsx';
import { type MachineAnswer, StateTable } from '../machines/state-table.tsx';
import { Select } from '../parts/choices.tsx';
import { toast } from '../shell/toasts.tsx';
import { EventList } from './event-list.tsx';
import { payloadWords } from './leaves.ts';
import { StepCard } from './step-card.tsx';
import { StepHistory } from './step-history.tsx';
import { useWalk, type WalkStore } from './walk-hook.ts';

export const VIEWS = [
  ['picture', 'Picture'],
  ['table', 'Table'],
  ['coverage', 'Coverage'],
] as const;
export type View = (typeof VIEWS)[number][0];

interface SimulatorProps {
  readonly machine: MachineAnswer;
  readonly simulated: SimulatedMachine;
  readonly view: View;
}

export function Simulator({ machine, simulated, view }: SimulatorProps) {
  const { store, walk, fault } = useWalk(simulated);
  const { input, events, at } = walk;
  const way = useMemo(() => walked(simulated, { input, events }), [simulated, input, events]);
  const now = momentAfter(way, at);
  const goTo = (state: string) => {
    const found = wayTo(simulated, now, input, state);
    if (found === undefined) toast(`No samples lead to ${state}.`);
    else if (at + found.events.length > WALK_EVENTS_MAX) toast(`A walk has ${WALK_EVENTS_MAX} steps at most. Start again.`);
    else if (found.events.length > 0 || found.input !== undefined) {
      store.send({ type: 'took', way: found });
      toast(wayWords(state, found.events.length, found.input !== undefined));
    }
  };
  return (
    <div class="sim">
      {fault !== '' && (
        <p class="sim-fault problem" role="alert">
          {fault}
        </p>
      )}
      <section class="panel sim-events" aria-label="Events">
        <div class="panel-head">
          <h2>Events</h2>
          <Beginning simulated={simulated} store={store} input={input} />
        </div>
        <EventList simulated={simulated} now={now} onSend={(event) => store.send({ type: 'sent', event })} />
      </section>
      <section class="panel sim-picture" aria-label="The machine">
        <MachineView machine={machine} view={view} way={way} at={at} now={now} goTo={goTo} />
      </section>
      <section class="panel sim-step" aria-label="The step">
        <StepCard step={way.steps[at - 1]} now={now} />
      </section>
      <section class="panel sim-history" aria-label="Steps">
        <StepHistory store={store} way={way} at={at} input={input} />
      </section>
    </div>
  );
}

interface MachineViewProps extends Pick<SimulatorProps, 'machine' | 'view'> {
  readonly way: WalkedWay;
  readonly at: number;
  readonly now: Moment;
  readonly goTo: (state: string) => void;
}

function MachineView({ machine, view, way, at, now, goTo }: MachineViewProps) {
  const { regions } = machine.picture;
  // Chosen by hand until the next step: the picture follows what moved.
  const [chosen, choose] = useState({ way, at, region: '' });
  const isStill = chosen.way === way && chosen.at === at;
  const region = regions === undefined ? '' : (isStill && chosen.region) || changedRegion(way, at) || (regions[0] ?? '');
  const setRegion = (next: string) => choose({ way, at, region: next });
  const active = useMemo(() => new Set(activeStates(now.value)), [now]);
  const highlights = useMemo(() => highlightsOf(way, at, active, region), [way, at, active, region]);
  const shownActive = region === '' ? active : highlights.active;
  const goInside = (state: string) => goTo(region === '' ? state : `${region}.${state}`);
  return (
    <div class="regions-and-picture">
      {regions !== undefined && view !== 'coverage' && (
        <RegionMatrix
          picture={machine.picture}
          regions={regions}
          active={active}
          shown={region}
          onRegion={setRegion}
          onState={(state) => {
            setRegion(state.slice(0, state.indexOf('.')));
            goTo(state);
          }}
        />
      )}
      {view === 'picture' && <Drawing picture={machine.picture} highlights={highlights} region={region} onState={goInside} />}
      {view === 'table' && <StateTable table={machine.table} active={shownActive} onState={goInside} />}
      {view === 'coverage' && <CoverageView machine={machine} />}
    </div>
  );
}

function wayWords(state: string, events: number, isAnew: boolean): string {
  const count = events === 1 ? 'One event' : `${events} events`;
  return isAnew ? `${count} from a new start: ${state} cannot be reached from where it was.` : `${count} to ${state}.`;
}

interface BeginningProps {
  readonly simulated: SimulatedMachine;
  readonly store: WalkStore;
  readonly input: number;
}

function Beginning({ simulated: { samples }, store, input }: BeginningProps) {
  if (samples.inputs.length < 2) return null;
  return (
    <Select
      label="It begins as"
      value={String(input)}
      options={samples.inputs.map((one, index) => [String(index), payloadWords({ type: '', ...one })])}
      onChange={(value) => store.send({ type: 'began', input: Number(value) })}
    />
  );
}
