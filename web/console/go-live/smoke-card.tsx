/** The smoke test: questions made of the configuration, what was answered, and what each answer stood on. */

import type { SmokeAnswer, SmokeRun } from '../../../protocol/console/setup-answers.ts';
import { useAct } from '../api/act-hook.ts';
import { ask } from '../api/api.ts';
import { useAsked } from '../api/asked-hook.ts';
import { type App, appPath } from '../app/app.ts';
import { readApp } from '../app/app-store.ts';
import { Button, Card, Problem } from '../parts/card.tsx';
import { StateChip } from '../parts/state-chip.tsx';
import { wholeMomentOf } from '../parts/times.ts';
import { quietScene } from '../preview/preview-scene.ts';

const ORIGINS: Readonly<Record<SmokeAnswer['from'], string>> = {
  suggestion: 'from a suggestion',
  knowledge: 'from a source',
  action: 'from an action',
  general: 'general',
};

export function SmokeCard({ app, onRun }: { readonly app: App; readonly onRun: () => void }) {
  const path = `${appPath(app.id)}/smoke`;
  const { answer, error, reload } = useAsked<{ readonly run: SmokeRun | null }>(path);
  const act = useAct();
  const run = () =>
    act.run(async () => {
      await ask('POST', path);
      reload();
      onRun();
      // The last check that passes may have taken the app live.
      await readApp(app.id);
    });
  const last = answer?.run;
  return (
    <Card title="Smoke test" aside={last != null && <StateChip state={last.passed ? 'passed' : 'failed'} />}>
      <div class="card-body">
        <p class="hint">
          Asks the assistant three to five questions made of its suggestions, sources and actions, on the test side. It is never billed, and
          no conversation stays.
        </p>
        <div class="row">
          <Button
            label={act.isUnderWay ? 'Asking…' : last == null ? 'Run the smoke test' : 'Run it again'}
            look={last?.passed === true ? '' : 'primary'}
            disabled={act.isUnderWay}
            onClick={run}
          />
          <span class="hint" role="status">
            {act.isUnderWay && 'This may take two minutes. You may leave the page: the run goes on, and its answers are here afterwards.'}
          </span>
        </div>
        <Problem error={act.error} retry={run} />
        <Problem error={error} retry={reload} />
      </div>
      {last != null && <Answers run={last} />}
    </Card>
  );
}

function Answers({ run }: { readonly run: SmokeRun }) {
  const { Prose } = quietScene().around;
  return (
    <>
      <p class="smoke-when">
        Run on {wholeMomentOf(run.createdAt)}
        {run.platformFailure && '. The service itself could not answer: change nothing, and run it again later.'}
      </p>
      <ol class="smoke-answers" aria-label="Questions and answers">
        {run.results.map((result, index) => (
          <li key={`${index} ${result.question}`} class="smoke-answer">
            <p class="smoke-question">
              <span class={result.ok ? 'mark is-ok' : 'mark'} aria-hidden="true">
                {result.ok ? '✓' : ''}
              </span>
              <b>{result.question}</b>
              <small>{ORIGINS[result.from]}</small>
            </p>
            {result.answer !== '' && (
              <div class="smoke-text">
                <Prose md={result.answer} />
              </div>
            )}
            <p class="smoke-ground">{groundOf(result)}</p>
          </li>
        ))}
      </ol>
    </>
  );
}

function groundOf({ ok, grounded, actionBacked, actions, error }: SmokeAnswer): string {
  if (error !== null) return `Ended in an error: ${error.code}`;
  const stood = [...(grounded ? ['the knowledge it was given'] : []), ...(actionBacked ? [`its action ${actions.join(', ')}`] : [])];
  if (stood.length > 0) return `Stood on ${stood.join(' and ')}`;
  return ok ? '' : 'Stood on nothing: add a source that answers this, titled by the question, or an action that does.';
}
