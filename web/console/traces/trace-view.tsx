/** A story of traces: steps on the left, the machine in the middle, what happened on the right, time below. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { machineTable } from '../../../machines/table.ts';
import { writeTraceFile } from '../../../machines/trace-file.ts';
import { useAsked } from '../api/asked-hook.ts';
import { Drawing } from '../machines/drawing.tsx';
import { activeOf, type Highlights, highlightsOf } from '../machines/highlights.ts';
import { RegionMatrix } from '../machines/region-matrix.tsx';
import { type MachineAnswer, StateTable } from '../machines/state-table.tsx';
import { Button } from '../parts/card.tsx';
import { saveFile } from '../parts/copy-button.tsx';
import { replaceAddress } from '../shell/address.ts';
import { useShortcut } from '../shell/shortcuts.ts';
import { type Replayed, replayed } from './replayed.ts';
import { SceneCard } from './scene-card.tsx';
import { SceneList } from './scene-list.tsx';
import { type Scale, scaleOf, spansOf } from './spans.ts';
import { changedRegions, type Places, placesOf, type Scene, storyOf, type Trace } from './traces.ts';
import { Waterfall } from './waterfall.tsx';

const PARAMETER = 'step';

/** The step in the address, which counts from 1. */
function readStep(): number | undefined {
  const text = new URLSearchParams(location.search).get(PARAMETER) ?? '';
  return /^[1-9]\d{0,5}$/.test(text) ? Number(text) - 1 : undefined;
}

/** What is shown of one instance: the file opens here again, and with `npm run cli -- replay`. */
const save = (trace: Trace) => saveFile(`${trace.machine}-${trace.instance}.json`, writeTraceFile(trace));

export function TraceView({ traces }: { readonly traces: readonly Trace[] }) {
  const story = useMemo(() => storyOf(traces), [traces]);
  // Undefined: the newest step, whichever that is by now.
  const [chosen, choose] = useState(readStep);
  const last = story.length - 1;
  const at = Math.min(chosen ?? last, last);
  const go = (to: number) => {
    const next = Math.min(Math.max(to, 0), last);
    choose(next === last ? undefined : next);
  };
  useEffect(() => replaceAddress({ [PARAMETER]: String(at + 1) }), [at]);
  useShortcut('ArrowDown', 'The next step', () => go(at + 1));
  useShortcut('ArrowUp', 'The step before', () => go(at - 1));
  useShortcut('Home', 'The first step', () => go(0));
  useShortcut('End', 'The newest step, and follow', () => go(last));
  const scene = story[at];
  const trace = scene?.trace;
  const spans = useMemo(() => spansOf(traces), [traces]);
  const scale = useMemo(() => scaleOf(spans, story), [spans, story]);
  const places = useMemo(() => placesOf(story, at), [story, at]);
  const again = useMemo(() => (trace === undefined ? undefined : replayed(trace)), [trace]);
  if (scene === undefined) return null;
  return (
    <div class="sim trace">
      <section class="panel sim-events" aria-label="Steps">
        <div class="panel-head">
          <h2>Steps</h2>
          <span class="hint">
            {at + 1} of {story.length} <kbd>↑</kbd> <kbd>↓</kbd>
          </span>
        </div>
        <SceneList story={story} at={at} scale={scale} onScene={go} />
      </section>
      <section class="panel sim-picture" aria-label="The machine">
        <ScenePicture key={scene.trace.machine} scene={scene} story={story} replayed={again} places={places} />
      </section>
      <section class="panel sim-step" aria-label="What happened here">
        <SceneCard scene={scene} before={story[at - 1]} walked={again?.way.steps[scene.index]} difference={again?.difference ?? null} />
      </section>
      <section class="panel sim-history" aria-label="Time">
        <div class="panel-head">
          <h2>Time</h2>
          <Button label="Download trace" onClick={() => save(scene.trace)} />
        </div>
        <Waterfall
          spans={spans}
          scale={scale}
          label="Where the time went"
          atMs={scene.step.atMs}
          onMoment={(ms) => go(story.findLastIndex(({ step }) => step.atMs <= ms))}
        >
          <Scrubber story={story} at={at} scale={scale} go={go} />
        </Waterfall>
      </section>
    </div>
  );
}

/** The slider has so many places, from one edge of the chart to the other. */
const PLACES = 1_000;

interface ScrubberProps {
  readonly story: readonly Scene[];
  readonly at: number;
  readonly scale: Scale;
  readonly go: (to: number) => void;
}

/** The playhead to drag: on the chart's own scale. Arrow keys go from step to step, of which several may have one time. */
function Scrubber({ story, at, scale, go }: ScrubberProps) {
  const places = story.map(({ step }) => Math.round(scale.placeOf(step.atMs) * PLACES));
  const since = scale.clockOf(story[at]?.step.atMs ?? 0);
  return (
    <div class="span-row is-scrubber">
      <span class="span-name">Step {at + 1}</span>
      <input
        type="range"
        class="scrubber"
        aria-label="Step"
        aria-valuetext={`Step ${at + 1} of ${story.length}, ${since}`}
        min={0}
        max={PLACES}
        value={places[at]}
        style={{ '--at': `${(places[at] ?? 0) / 10}%` }}
        onInput={({ currentTarget }) => {
          const to = Math.max(
            0,
            places.findLastIndex((place) => place <= Number(currentTarget.value)),
          );
          currentTarget.value = String(places[to]);
          go(to);
        }}
        onKeyDown={(event) => {
          const by = STEP_KEYS[event.key];
          if (by === undefined) return;
          event.preventDefault();
          go(at + by);
        }}
      />
      <span class="span-time">{since}</span>
    </div>
  );
}

const STEP_KEYS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };

interface ScenePictureProps {
  readonly scene: Scene;
  readonly story: readonly Scene[];
  readonly replayed: Replayed | undefined;
  readonly places: Places;
}

function ScenePicture({ scene, story, replayed, places }: ScenePictureProps) {
  const { trace, index, step } = scene;
  const { answer } = useAsked<MachineAnswer>(`/machines/${encodeURIComponent(trace.machine)}`);
  const [chosen, choose] = useState({ step, region: '' });
  const regions = answer?.picture.regions;
  const moved = changedRegions(step)[0]?.region ?? '';
  const region = regions === undefined ? '' : (chosen.step === step && chosen.region) || moved || (regions[0] ?? '');
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
  const numbers = new Map(story.flatMap((one, at) => (one.trace === trace ? [[one.index, at + 1] as const] : [])));
  const { trail, ...lit }: Highlights = explained
    ? highlightsOf(replayed.way, index + 1, active, region)
    : { active, trail: step.from === step.to ? [] : [{ from: step.from, to: step.to, event: step.event.type, at: index + 1 }] };
  const highlights = { ...lit, trail: trail.map((move) => ({ ...move, at: numbers.get(move.at - 1) ?? 0 })) };
  return (
    <>
      <div class="regions-and-picture">
        {regions !== undefined && (
          <RegionMatrix
            picture={answer.picture}
            regions={regions}
            active={active}
            shown={region}
            onRegion={(next) => choose({ step, region: next })}
            onState={undefined}
          />
        )}
        {places.size > 0 && regions === undefined && <PlaceList places={places} />}
        <Drawing picture={answer.picture} highlights={highlights} places={places} region={region} />
      </div>
    </>
  );
}

function PlaceList({ places }: Pick<ScenePictureProps, 'places'>) {
  return (
    <ul class="places" aria-label="Where each instance is">
      {[...places].map(([state, names]) => (
        <li key={state}>
          <b>{names.length}</b> in <code>{state}</code> <span class="reason">{names.join(', ')}</span>
        </li>
      ))}
    </ul>
  );
}
