/** What the app still needs before people get it: the checks of the service, each with what it found. */

import type { AppStatus } from '../../../protocol/console/setup-answers.ts';
import { useAsked } from '../api/asked-hook.ts';
import { Button, Problem } from '../parts/card.tsx';
import { type App, appAddress, appPath } from './app.ts';
import { SECTIONS } from './sections.ts';

/** The section to go to for a check that is not met, if there is such a page. */
const SECTION_OF_CHECK: Readonly<Record<string, string>> = { app: 'setup', knowledge: 'knowledge', screens: 'actions', smoke: 'go-live' };

function SectionLink({ app, section }: { readonly app: App; readonly section: string }) {
  const found = SECTIONS.find(({ name }) => name === section);
  if (found === undefined) return null;
  return <Button label={`Open ${found.label}`} href={appAddress(app.id, section)} />;
}

function CheckCount({ checks }: { readonly checks: AppStatus['go_live'] }) {
  return (
    <small>
      {checks.filter(({ ok }) => ok).length} of {checks.length} checks pass
    </small>
  );
}

export function GoLiveCard({ app }: { readonly app: App }) {
  const { answer, error, reload } = useAsked<AppStatus>(`${appPath(app.id)}/status`);
  const isNew = answer?.steps === null && app.handshake_at === null;
  return (
    <section class="card" aria-label="On the way to people">
      <h2>
        {app.live ? 'Live' : 'On the way to people'} {answer !== undefined && <CheckCount checks={answer.go_live} />}
      </h2>
      <Problem error={error} retry={reload} />
      {isNew && (
        <div class="card-body">
          <p class="hint">
            Next: let a coding agent set the app up. It reads the app's code, writes look, persona and knowledge as drafts, and builds the
            assistant in. You watch each step.
          </p>
          <Button label="Set the app up" look="primary" href={appAddress(app.id, 'setup')} />
        </div>
      )}
      <ul class="lines">
        {answer?.go_live.map(({ key, label, ok, detail }) => (
          <li key={key} class="line">
            <span class={ok ? 'mark is-ok' : 'mark'} aria-hidden="true">
              {ok ? '✓' : ''}
            </span>
            <span class="line-text">
              <b>{label}</b>
              <span class="unseen">{ok ? ', done' : ', open'}</span> <span class="line-note">{detail}</span>
            </span>
            {!ok && <SectionLink app={app} section={SECTION_OF_CHECK[key] ?? 'go-live'} />}
          </li>
        ))}
        {answer?.release.obstacles.map((obstacle) => (
          <li key={obstacle} class="line">
            <span class="mark" aria-hidden="true" />
            <span class="line-text">
              <b>Keeps people from getting it</b> <span class="line-note">{obstacle}</span>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
