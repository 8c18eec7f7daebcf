/** "What would it read?": a question, the passages that the assistant would get for it, and why. */

import { useEffect, useState } from 'preact/hooks';
import { useRoute } from 'preact-iso';
import { useAct } from '../api/act-hook.ts';
import { ask } from '../api/api.ts';
import { appPath } from '../app/app.ts';
import { Card, Problem } from '../parts/card.tsx';
import { replaceAddress } from '../shell/address.ts';

interface FoundPassage {
  readonly source_id: string;
  readonly external_key: string;
  readonly title: string;
  readonly headings: readonly string[];
  readonly text: string;
  readonly words_rank: number | null;
  readonly meaning_rank: number | null;
}

interface SearchAnswer {
  readonly by_meaning: boolean;
  readonly terms: readonly string[];
  readonly passages: readonly FoundPassage[];
  readonly prompt: string;
}

/** How many places a ranking has that could win; the bars are drawn against it. */
const RANKS = 24;

function Bar({ label, rank, kind }: { readonly label: string; readonly rank: number | null; readonly kind: string }) {
  return (
    <span class="rank">
      <span class="rank-label">{label}</span>
      <meter
        class={`rank-bar is-${kind}`}
        min={0}
        max={RANKS}
        value={rank === null ? 0 : Math.max(RANKS - rank + 1, 1)}
        aria-label={label}
      />
      <span class="rank-place">{rank === null ? 'not found' : `place ${rank}`}</span>
    </span>
  );
}

function Marked({ text, terms }: { readonly text: string; readonly terms: readonly string[] }) {
  const wanted = terms.filter((term) => term.length > 1).map((term) => term.toLowerCase());
  const parts = text.split(/([\p{L}\p{N}]+)/u);
  return (
    <>
      {parts.map((part, at) =>
        at % 2 === 1 && wanted.some((term) => part.toLowerCase().startsWith(term)) ? <mark key={at}>{part}</mark> : part,
      )}
    </>
  );
}

export function SearchCard({ app }: { readonly app: string }) {
  const { query } = useRoute();
  const [question, type] = useState(query.question ?? '');
  const [answer, show] = useState<SearchAnswer>();
  const act = useAct();
  const search = (text: string) =>
    act.run(async () => show(await ask<SearchAnswer>('POST', `${appPath(app)}/knowledge/search`, { question: text })));
  useEffect(() => {
    if (question !== '') search(question);
  }, [app]);
  return (
    <Card title="What would it read?" note="no model call">
      <form
        class="card-form is-wide row"
        onSubmit={(event) => {
          event.preventDefault();
          replaceAddress({ question });
          search(question);
        }}
      >
        <input
          class="input grows"
          aria-label="A question, as a person would ask it"
          placeholder="How do I return something?"
          value={question}
          onInput={(event) => type(event.currentTarget.value)}
        />
        <button type="submit" class="button primary" disabled={question.trim() === '' || act.isUnderWay}>
          Find passages
        </button>
      </form>
      <Problem error={act.error} />
      {answer !== undefined && <Found answer={answer} />}
    </Card>
  );
}

function Found({ answer }: { readonly answer: SearchAnswer }) {
  if (answer.passages.length === 0) {
    return <p class="card-empty">It would read nothing: no source has a word of it. Add one that answers it.</p>;
  }
  return (
    <>
      <ol class="passages">
        {answer.passages.map((passage, at) => (
          <li key={`${passage.source_id} ${at}`} class="passage">
            <p class="passage-head">
              <b>{passage.title === '' ? passage.external_key : passage.title}</b>
              <small>{passage.headings.join(' › ')}</small>
            </p>
            <p class="passage-text">
              <Marked text={passage.text} terms={answer.terms} />
            </p>
            <p class="ranks">
              <Bar label="By words" rank={passage.words_rank} kind="words" />
              {answer.by_meaning && <Bar label="By meaning" rank={passage.meaning_rank} kind="meaning" />}
            </p>
          </li>
        ))}
      </ol>
      <details class="more-colours">
        <summary>As the model would get it</summary>
        <pre class="prompt">{answer.prompt}</pre>
      </details>
    </>
  );
}
