/** The story on a line of time: a bar for each instance, in the colour of what its time goes to, and one playhead over all. */

import { edgesOfTime, NAME_CHARS, type Scene, type Trace } from './traces.ts';

const SPANS: Readonly<Record<string, string>> = {
  new: 'admit',
  answering: 'model',
  working: 'call',
  executing: 'call',
  dispatched: 'call',
  indexing: 'find',
};

function spanOf(state: string): string {
  if (state.startsWith('awaiting') || state.startsWith('pending')) return 'wait';
  return SPANS[state] ?? 'commit';
}

const WIDTH = 1_000;

/** Ids begin alike: where there are several of one machine, their ends tell them apart. */
function laneName(traces: readonly Trace[], { machine, instance }: Trace): string {
  const alike = traces.filter((other) => other.machine === machine);
  return alike.length > 1 ? `${machine} ${instance.slice(-NAME_CHARS)}` : machine;
}

interface TimelineProps {
  readonly traces: readonly Trace[];
  readonly story: readonly Scene[];
  readonly at: number;
  readonly onScene: (at: number) => void;
}

export function Timeline({ traces, story, at, onScene }: TimelineProps) {
  const { places, gaps } = edgesOfTime(
    story.map(({ step }) => step.atMs),
    WIDTH,
  );
  const playhead = places[at] ?? 0;
  return (
    <div class="timeline">
      {traces.map((trace) => (
        <div key={`${trace.machine} ${trace.instance}`} class="lane">
          <span class="lane-name">{laneName(traces, trace)}</span>
          <svg class="lane-bar" viewBox={`0 0 ${WIDTH} 20`} preserveAspectRatio="none" aria-hidden="true">
            <LaneSpans trace={trace} story={story} places={places} />
            {gaps.map((x) => (
              <rect key={x} x={x - 3} y={0} width={6} height={20} class="lane-gap" />
            ))}
            <path d={`M${playhead} 0V20`} class="playhead" />
          </svg>
        </div>
      ))}
      <input
        type="range"
        class="scrubber"
        aria-label="Step"
        min={0}
        max={story.length - 1}
        value={at}
        onInput={(event) => onScene(Number(event.currentTarget.value))}
      />
    </div>
  );
}

function LaneSpans({
  trace,
  story,
  places,
}: {
  readonly trace: Trace;
  readonly story: readonly Scene[];
  readonly places: readonly number[];
}) {
  const own = story.flatMap((scene, at) => (scene.trace === trace ? [{ scene, x: places[at] ?? 0 }] : []));
  return (
    <>
      {own.map(({ scene, x }, index) => {
        const next = own[index + 1];
        return (
          <g key={scene.index}>
            {next !== undefined && (
              <rect x={x} y={5} width={Math.max(next.x - x, 1)} height={10} class={`span is-${spanOf(scene.step.to)}`} />
            )}
            <path d={`M${x} 2V18`} class="tick" />
          </g>
        );
      })}
    </>
  );
}
