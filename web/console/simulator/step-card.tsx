/** One step looked at: the event, the guards, the effects, what changed in the context. */
import type { SampleEvent } from '../../../machines/simulator/samples.ts';
import type { Moment } from '../../../machines/simulator/verdict.ts';
import type { WalkStep } from '../../../machines/simulator/walk.ts';
import { differencesOf, payloadWords, valueWords } from './leaves.ts';
import { Questions } from './questions.tsx';
import { outcomeWords } from './words.ts';

export function StepCard({ step, now }: { readonly step: WalkStep | undefined; readonly now: Moment }) {
  return (
    <>
      <h2 class="panel-head">{step === undefined ? 'At the start' : 'This step'}</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys. */}
      <section class="panel-body" aria-label="The step, in detail" tabIndex={0}>
        {step === undefined ? <Invitation /> : <Step step={step} />}
        <h3>Context</h3>
        <ContextNow context={now.context} />
      </section>
    </>
  );
}

function Invitation() {
  return (
    <p class="hint">
      Send an event from the list, or click a state in the picture to take the shortest way there. Nothing of it reaches the service: the
      machine runs in this page.
    </p>
  );
}

export function Step({ step: { event, before, verdict } }: { readonly step: WalkStep }) {
  const words = payloadWords(event);
  return (
    <>
      <p class="step-event">
        <code>{event.type}</code>
      </p>
      <p class="step-way">
        <code>{shortState(before)}</code> <b>{outcomeWords(verdict)}</b>
      </p>
      {words !== '' && <p class="reason">{words}</p>}
      <h3>Guards</h3>
      <Questions verdict={verdict} />
      <h3>Effects</h3>
      <Effects effects={verdict.effects} />
      <h3>What changed in its context</h3>
      <Changes before={before.context} after={verdict.after.context} />
    </>
  );
}

function shortState({ state }: Moment): string {
  return state.startsWith('{') ? 'regions' : state;
}

export function Effects({ effects }: { readonly effects: readonly SampleEvent[] }) {
  if (effects.length === 0) return <p class="reason">None.</p>;
  return (
    <ul class="effects">
      {effects.map((effect, index) => (
        <li key={index} class="effect">
          <b>{effect.type}</b> {payloadWords(effect)}
        </li>
      ))}
    </ul>
  );
}

function Changes({ before, after }: { readonly before: object; readonly after: object }) {
  const changes = differencesOf(before, after);
  if (changes.length === 0) return <p class="reason">Nothing.</p>;
  return (
    <dl class="changes">
      {changes.map(({ path, before: old, after: now }) => (
        <div key={path}>
          <dt>
            <code>{path}</code>
          </dt>
          <dd>
            <del>{valueWords(old)}</del> <ins>{valueWords(now)}</ins>
          </dd>
        </div>
      ))}
    </dl>
  );
}

export function ContextNow({ context }: { readonly context: object }) {
  const text = JSON.stringify(context, null, 2);
  return text === '{}' ? <p class="reason">This machine keeps none.</p> : <pre class="context">{text}</pre>;
}
