/** The simulator: events on the left, the picture in the middle, the step on the right, the steps below. It runs in this page alone. */
import { useMemo, useState } from 'preact/hooks';
import { momentAfter, type SimulatedMachine, WALK_EVENTS_MAX, type WalkedWay, walked } from '../../../machines/simulator/walk.ts';
import { wayTo } from '../../../machines/simulator/way.ts';
import { Drawing } from '../machines/drawing.tsx';
import { activeStates, type Highlights, type Move, TRAIL_MAX, withoutRegion } from '../machines/highlights.ts';
import type { MachineAnswer } from '../machines/machine-answers.ts';
import { RegionMatrix } from '../machines/region-matrix.tsx';
import { StateTable } from '../machines/state-table.tsx';
import { toast } from '../shell/toasts.tsx';
import { EventList } from './event-list.tsx';
import { payloadWords } from './leaves.ts';
import { StepCard } from './step-card.tsx';
import { StepHistory } from './step-history.tsx';
import { useWalk } from './walk-hook.ts';
import type { WalkStore } from './walk-store.ts';

export interface SimulatorProps {
  readonly machine: MachineAnswer;
  readonly simulated: SimulatedMachine;
}

type View = 'picture' | 'table';

export function Simulator({ machine, simulated }: SimulatorProps) {
  const { store, walk, fault } = useWalk(simulated);
  const { input, events, at } = walk;
  const way = useMemo(() => walked(simulated, { input, events }), [simulated, input, events]);
  const now = momentAfter(way, at);
  const [view, setView] = useState<View>('picture');
  const { regions } = machine.picture;
  const [region, setRegion] = useState(regions?.[0] ?? '');
  const active = useMemo(() => new Set(activeStates(now.value)), [now]);
  const highlights = useMemo(() => highlightsOf(way, at, active, region), [way, at, active, region]);
  const goTo = (state: string) => {
    const found = wayTo(simulated, now, input, state);
    if (found === undefined) toast(`No samples lead to ${state}.`);
    else if (at + found.events.length > WALK_EVENTS_MAX) toast(`A walk has ${WALK_EVENTS_MAX} steps at most. Start again.`);
    else if (found.events.length > 0 || found.input !== undefined) {
      store.send({ type: 'took', way: found });
      toast(wayWords(state, found.events.length, found.input !== undefined));
    }
  };
  const shownActive = region === '' ? active : highlights.active;
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
        <ViewChoice view={view} onView={setView} />
        {regions !== undefined && (
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
        {view === 'picture' ? (
          <Drawing
            picture={machine.picture}
            highlights={highlights}
            onState={(state) => goTo(region === '' ? state : `${region}.${state}`)}
          />
        ) : (
          <StateTable table={machine.table} active={shownActive} onState={(state) => goTo(region === '' ? state : `${region}.${state}`)} />
        )}
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

function wayWords(state: string, events: number, isAnew: boolean): string {
  const count = events === 1 ? 'One event' : `${events} events`;
  return isAnew ? `${count} from a new start: ${state} cannot be reached from where it was.` : `${count} to ${state}.`;
}

/** The picture of a machine with regions draws the one that is shown. */
function highlightsOf(way: WalkedWay, at: number, active: ReadonlySet<string>, region: string): Highlights {
  const prefix = region === '' ? '' : `${region}.`;
  const own = (state: string) => (region === '' ? state : withoutRegion(state));
  const trail = way.steps
    .slice(0, at)
    .flatMap(({ event, verdict }): Move[] => {
      const asked = verdict.asked.find((one) => one.region === region);
      const taken = asked?.taken;
      if (asked === undefined || taken === undefined) return [];
      const last = asked.questions.at(-1);
      const to = taken.to === undefined ? {} : { to: own(taken.to) };
      return [{ event: event.type, from: own(taken.from), ...to, ...(last?.answer === true ? { guard: last.guard } : {}) }];
    })
    .slice(-TRAIL_MAX)
    .reverse();
  const inside = [...active].filter((state) => state.startsWith(prefix)).map(own);
  return { active: new Set(inside), trail };
}

interface BeginningProps {
  readonly simulated: SimulatedMachine;
  readonly store: WalkStore;
  readonly input: number;
}

/** What the machine begins with, where it makes a difference. */
function Beginning({ simulated: { samples }, store, input }: BeginningProps) {
  if (samples.inputs.length < 2) return null;
  return (
    <select
      class="select"
      aria-label="It begins as"
      value={String(input)}
      onChange={({ currentTarget: { value } }) => store.send({ type: 'began', input: Number(value) })}
    >
      {samples.inputs.map((one, index) => {
        const words = payloadWords({ type: '', ...one });
        return (
          <option key={words} value={String(index)}>
            {words}
          </option>
        );
      })}
    </select>
  );
}

function ViewChoice({ view, onView }: { readonly view: View; readonly onView: (view: View) => void }) {
  return (
    <fieldset class="choice">
      <legend class="unseen">Show the machine as</legend>
      {(['picture', 'table'] as const).map((one) => (
        <label key={one} class="choice-part">
          <input type="radio" name="view" value={one} checked={view === one} onChange={() => onView(one)} />
          {one === 'picture' ? 'Picture' : 'Table'}
        </label>
      ))}
    </fieldset>
  );
}
