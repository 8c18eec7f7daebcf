/** One step looked at: the event, the guards, the effects, what changed in the context. */
import type { SampleEvent } from '../../../machines/simulator/samples.ts';
import type { Asked, Moment, Question, Verdict } from '../../../machines/simulator/verdict.ts';
import type { WalkStep } from '../../../machines/simulator/walk.ts';
import { differencesOf, outcomeWords, payloadWords, valueWords } from './leaves.ts';

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
        {before.state.startsWith('{') || <code>{before.state}</code>} <b>{outcomeWords(verdict)}</b>
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

/** Where many regions all say no, these show why. */
const REGIONS_SHOWN = 2;

export function Questions({ verdict }: { readonly verdict: Verdict }) {
  const { asked, outcome } = verdict;
  const taken = asked.filter((region) => region.taken !== undefined);
  const shown = taken.length > 0 ? taken : asked.slice(0, REGIONS_SHOWN);
  const left = taken.length > 0 ? 0 : asked.length - shown.length;
  if (outcome === 'ignored') return <p class="reason">Nothing listens for it in this state.</p>;
  if (outcome === 'refused' && asked.length === 0) return <p class="reason">The machine ignores it here, and who sent it is refused.</p>;
  if (outcome === 'broken') return <p class="reason">A guard cannot make anything of this payload.</p>;
  if (asked.every(({ questions }) => questions.length === 0)) return <p class="reason">No guard is asked.</p>;
  return (
    <>
      {shown.map((region) => (
        <RegionQuestions key={region.region} {...region} />
      ))}
      {left > 0 && <p class="reason">{left} more regions say no.</p>}
    </>
  );
}

function RegionQuestions({ region, questions, taken }: Asked) {
  const isOtherwise = taken !== undefined && questions.length > 0 && questions.every(({ answer }) => !answer);
  return (
    <>
      {region !== '' && <p class="reason region-name">{region}</p>}
      <ol class="questions">
        {questions.map((question) => (
          <QuestionLine key={question.guard} {...question} />
        ))}
        {isOtherwise && (
          <li class="question is-yes">
            <Mark answer />
            <span class="question-name">otherwise</span>
          </li>
        )}
      </ol>
    </>
  );
}

function Mark({ answer }: { readonly answer: boolean }) {
  return <span class="said">{answer ? 'yes' : 'no'}</span>;
}

function QuestionLine({ guard, answer, readings }: Question) {
  return (
    <li class={answer ? 'question is-yes' : 'question is-no'}>
      <Mark answer={answer} />
      <span class="question-name">{guard}</span>
      <span class="readings">
        {readings.map(({ path, value }) => (
          <span key={path} class="reading">
            {path} <b>{valueWords(value)}</b>
          </span>
        ))}
      </span>
    </li>
  );
}
