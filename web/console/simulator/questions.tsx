/** The guards that were asked about an event, in order, what each said, and the values it looked at. */
import type { Asked, Question, Verdict } from '../../../machines/simulator/verdict.ts';
import { valueWords } from './leaves.ts';

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
