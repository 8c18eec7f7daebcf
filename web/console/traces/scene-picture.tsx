/** The machine of the step that is looked at, on its picture; one that another version made, as the table of its own definition. */
import { useMemo, useState } from 'preact/hooks';
import { machineTable } from '../../../machines/table.ts';
import { useAsked } from '../api/asked-hook.ts';
import { Drawing } from '../machines/drawing.tsx';
import { activeOf, type Highlights, highlightsOf } from '../machines/highlights.ts';
import { RegionMatrix } from '../machines/region-matrix.tsx';
import { type MachineAnswer, StateTable } from '../machines/state-table.tsx';
import type { Replayed } from './replayed.ts';
import type { Places, Scene } from './traces.ts';

interface ScenePictureProps {
  readonly scene: Scene;
  readonly replayed: Replayed | undefined;
  readonly places: Places;
}

export function ScenePicture({ scene, replayed, places }: ScenePictureProps) {
  const { trace, index, step } = scene;
  const { answer } = useAsked<MachineAnswer>(`/machines/${encodeURIComponent(trace.machine)}`);
  const [chosen, choose] = useState('');
  const regions = answer?.picture.regions;
  const region = regions === undefined ? '' : chosen || regions[0] || '';
  const active = useMemo(() => new Set(activeOf(step.to)), [step]);
  const isOther = answer !== undefined && answer.version !== trace.version;
  if (answer === undefined || isOther) {
    const table = trace.definition === undefined ? undefined : machineTable(trace.definition);
    return (
      <>
        {isOther && (
          <p class="note">
            Made by version <code>{trace.version}</code> of this machine, and shown as that one’s table. This release has{' '}
            <code>{answer.version}</code>.
          </p>
        )}
        {table !== undefined && <StateTable table={table} active={active} />}
      </>
    );
  }
  const explained = replayed !== undefined && index < replayed.way.steps.length;
  const highlights: Highlights = explained
    ? highlightsOf(replayed.way, index + 1, active, region)
    : { active, trail: step.from === step.to ? [] : [{ from: step.from, to: step.to, event: step.event.type }] };
  return (
    <>
      {regions !== undefined && (
        <RegionMatrix picture={answer.picture} regions={regions} active={active} shown={region} onRegion={choose} onState={undefined} />
      )}
      {places.size > 0 && regions === undefined && <PlaceList places={places} />}
      <Drawing picture={answer.picture} highlights={highlights} places={places} />
    </>
  );
}

function PlaceList({ places }: Pick<ScenePictureProps, 'places'>) {
  return (
    <ul class="places" aria-label="Where each instance is">
      {[...places].map(([state, names]) => (
        <li key={state}>
          <b>{names.length}</b> <code>{state}</code> <span class="reason">{names.join(' ')}</span>
        </li>
      ))}
    </ul>
  );
}
