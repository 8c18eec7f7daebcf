/** What happened at one step of a trace: when and where it was committed, what left with it, and why the machine did so. */
import type { Difference } from '../../../machines/replay.ts';
import type { WalkStep } from '../../../machines/simulator/walk.ts';
import { payloadWords } from '../simulator/leaves.ts';
import { ContextNow, Effects, Step } from '../simulator/step-card.tsx';
import { sinceWords } from './scene-list.tsx';
import type { Scene } from './traces.ts';

export interface SceneCardProps {
  readonly scene: Scene;
  /** The one before it in the story. */
  readonly before: Scene | undefined;
  /** The same step as the machine of this page makes it; undefined where it does not. */
  readonly walked: WalkStep | undefined;
  readonly difference: Difference | null;
}

export function SceneCard({ scene: { trace, step }, before, walked, difference }: SceneCardProps) {
  return (
    <>
      <h2 class="panel-head">What happened here</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys. */}
      <section class="panel-body" aria-label="What happened, in detail" tabIndex={0}>
        <dl class="scene-facts">
          <dt>Committed</dt>
          <dd>
            <time>{new Date(step.atMs).toISOString().replace('T', ' ').replace('Z', '')}</time>
            {before !== undefined && <span class="reason"> {sinceWords(step.atMs - before.step.atMs)} after the step before</span>}
          </dd>
          <dt>Instance</dt>
          <dd>
            {trace.machine} <code class="selectable">{trace.instance}</code>
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

/** What the trace itself has, where no replay explains it. */
function Kept({ step: { event, from, to, effects } }: Pick<Scene, 'step'>) {
  const words = payloadWords(event);
  return (
    <>
      <p class="step-event">
        <code>{event.type}</code>
      </p>
      <p class="step-way">
        <code>{from.startsWith('{') ? 'regions' : from}</code> <b>{from === to ? 'stays' : `→ ${to.startsWith('{') ? 'regions' : to}`}</b>
      </p>
      {words !== '' && <p class="reason">{words}</p>}
      <h3>Effects</h3>
      <Effects effects={effects} />
    </>
  );
}
