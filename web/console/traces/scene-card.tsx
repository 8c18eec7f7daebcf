/** What happened at one step of a trace: when and where it was committed, what left with it, and why the machine did so. */
import { type ModelRound, modelRoundAt } from '../../../machines/model-round.ts';
import type { Difference } from '../../../machines/replay.ts';
import type { WalkStep } from '../../../machines/simulator/walk.ts';
import type { StepCommit } from '../../../machines/trace.ts';
import { CopiedId } from '../parts/copy-button.tsx';
import { exactClockOf, exactMomentOf } from '../parts/times.ts';
import { payloadWords } from '../simulator/leaves.ts';
import { ContextNow, Effects, Step } from '../simulator/step-card.tsx';
import { msWords } from './spans.ts';
import { type Scene, wayWords } from './traces.ts';

interface SceneCardProps {
  readonly scene: Scene;
  readonly before: Scene | undefined;
  readonly walked: WalkStep | undefined;
  readonly difference: Difference | null;
}

export function SceneCard({ scene: { trace, step, index }, before, walked, difference }: SceneCardProps) {
  const round = trace.machine === 'chat-turn' ? modelRoundAt(trace.steps, index) : undefined;
  return (
    <>
      <h2 class="panel-head">What happened here</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys. */}
      <section class="panel-body" aria-label="What happened, in detail" tabIndex={0}>
        <dl class="scene-facts">
          <dt>Step</dt>
          <dd>
            <time>{exactMomentOf(step.atMs)}</time>
            {before !== undefined && <span class="reason"> {msWords(step.atMs - before.step.atMs)} after the step before</span>}
          </dd>
          {step.committed !== undefined && <Commit machine={trace.machine} step={step} committed={step.committed} />}
          {round !== undefined && <Round round={round} />}
          <dt>Instance</dt>
          <dd>
            {trace.machine} <CopiedId id={trace.instance} />
          </dd>
          {step.node !== '' && (
            <>
              <dt>Node</dt>
              <dd>
                <code class="selectable">{step.node}</code>
              </dd>
            </>
          )}
        </dl>
        {walked === undefined ? <Kept step={step} /> : <Step step={walked} />}
        {walked !== undefined && (
          <>
            <h3>Context</h3>
            <ContextNow context={walked.verdict.after.context} />
          </>
        )}
        <p class="reason">
          {difference === null
            ? 'Guards and context come from a replay in this page. It performs no effect.'
            : `The machine of this release does otherwise from step ${difference.step} on: ${difference.sentence}`}
        </p>
      </section>
    </>
  );
}

const TABLES: Readonly<Record<string, string>> = {
  'chat-turn': 'turns',
  invocation: 'invocations',
  'setup-session': 'setup_sessions',
  'step-panel': 'setup_sessions',
  'knowledge-source': 'knowledge_sources',
  pairing: 'pairings',
  'app-lifecycle': 'apps',
};

interface CommitProps {
  readonly machine: string;
  readonly step: Scene['step'];
  readonly committed: StepCommit;
}

function Commit({ machine, step: { atMs, from, to }, committed: { commit, atMs: committedAtMs, frames } }: CommitProps) {
  const way = to.startsWith('{') ? 'its regions' : from === to ? `still ${to}` : to;
  return (
    <>
      <dt>Row</dt>
      <dd>
        <code>{TABLES[machine] ?? machine}</code>: {way}, by commit {commit}
        <span class="reason"> after {msWords(Math.max(committedAtMs - atMs, 0))}</span>
      </dd>
      {machine === 'chat-turn' && (
        <>
          <dt>Frames</dt>
          <dd>{frames.length === 0 ? <span class="reason">none left</span> : <FrameRuns frames={frames} />}</dd>
        </>
      )}
    </>
  );
}

function FrameRuns({ frames }: Pick<StepCommit, 'frames'>) {
  return (
    <ul class="frame-runs">
      {frames.map(({ type, seq, count }) => (
        <li key={seq}>
          <span class="reason">{count === 1 ? `#${seq}` : `#${seq} to #${seq + count - 1}`}</span> <code>{type}</code>
        </li>
      ))}
    </ul>
  );
}

function Round({ round: { round, askedAtMs, endedAtMs, endedBy } }: { readonly round: ModelRound }) {
  return (
    <>
      <dt>Model</dt>
      <dd>
        round {round}, asked <time>{exactClockOf(askedAtMs)}</time>
        <span class="reason">{endedAtMs === null ? ', not over yet' : `, over ${msWords(endedAtMs - askedAtMs)} later by ${endedBy}`}</span>
      </dd>
    </>
  );
}

/** What the trace itself has, where no replay explains it. */
function Kept({ step }: Pick<Scene, 'step'>) {
  const { event, effects } = step;
  const words = payloadWords(event);
  return (
    <>
      <p class="step-event">
        <code>{event.type}</code>
      </p>
      <p class="step-way">
        <code>{wayWords(step)}</code>
      </p>
      {words !== '' && <p class="reason">{words}</p>}
      <h3>Effects</h3>
      <Effects effects={effects} />
    </>
  );
}
