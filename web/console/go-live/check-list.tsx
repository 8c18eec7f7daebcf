/** The four checks: what the service found, and for each that is not met what to do and where. */

import type { Check, CheckKey } from '../../../protocol/console/setup-answers.ts';
import { type App, appAddress } from '../app/app.ts';
import { hasSection } from '../app/sections.ts';
import { Button } from '../parts/card.tsx';

interface Place {
  readonly section: string;
  readonly label: string;
  readonly todo: string;
}

const PLACES: Readonly<Record<CheckKey, Place>> = {
  app: { section: 'setup', label: 'Let an agent build it in', todo: 'Its first call with the test key is seen here by itself.' },
  knowledge: { section: 'knowledge', label: 'Look at the sources', todo: 'This page looks again by itself.' },
  screens: { section: 'actions', label: 'Compare with the build', todo: 'A build that registers them is seen here by itself.' },
  smoke: { section: '', label: '', todo: 'Run it below.' },
};

export function CheckList({ app, checks }: { readonly app: App; readonly checks: readonly Check[] }) {
  const passed = checks.filter(({ ok }) => ok).length;
  return (
    <section class="card" aria-label="Checks">
      <h2>
        Checks <small role="status">{`${passed} of ${checks.length} pass`}</small>
      </h2>
      <ul class="lines">
        {checks.map((check) => (
          <CheckLine key={check.key} app={app} check={check} />
        ))}
      </ul>
    </section>
  );
}

function CheckLine({ app, check: { key, label, ok, detail } }: { readonly app: App; readonly check: Check }) {
  const place = PLACES[key];
  return (
    <li class="line" data-check={key} data-ok={ok}>
      <span class={ok ? 'mark is-ok' : 'mark'} aria-hidden="true">
        {ok ? '✓' : ''}
      </span>
      <div class="line-text">
        <b>{label}</b>
        <span class="unseen">{ok ? ', passed' : ', open'}</span>
        <p class="line-note">
          {detail} {!ok && place.todo}
        </p>
      </div>
      {!ok && hasSection(place.section) && place.section !== '' && <Button label={place.label} href={appAddress(app.id, place.section)} />}
    </li>
  );
}
