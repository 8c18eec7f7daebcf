/** The first page: what is wrong, and how each organisation and app is, while one looks. */

import { useRef, useState } from 'preact/hooks';
import { useRoute } from 'preact-iso';
import type { NodesAnswer } from '../../../protocol/console/answers.ts';
import type { AppGlance, Overview, OverviewEntry } from '../../../protocol/console/glance-answers.ts';
import { ask } from '../api/api.ts';
import { useAsked } from '../api/asked-hook.ts';
import { appAddress } from '../app/app.ts';
import { NewOrganisation } from '../organisations/new-forms.tsx';
import { Button, Card, Problem } from '../parts/card.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { replaceAddress } from '../shell/address.ts';
import { ConditionList } from '../shell/conditions.tsx';
import { Page } from '../shell/page.tsx';
import { usd } from '../usage/pace.ts';
import { EventsCard, FailedShare, GLANCED, NumberList, waitingOf } from './glance-parts.tsx';
import { GlanceTable } from './glance-table.tsx';

const ORGANISATIONS_SHOWN = 50;
const EVENTS_SHOWN = 8;
const FEW = 8;

/** All pages that are shown are asked again; those that were shown stay until there are others. */
function useOverview(name: string) {
  const [asked, readOn] = useState({ name, pages: 1 });
  const pages = asked.name === name ? asked.pages : 1;
  const path = `/overview?limit=${ORGANISATIONS_SHOWN}${name === '' ? '' : `&name=${encodeURIComponent(name)}`}`;
  const read = async (signal: AbortSignal): Promise<Overview> => {
    const orgs: OverviewEntry[] = [];
    let next: string | null = null;
    for (let page = 0; page < pages && (page === 0 || next !== null); page += 1) {
      const more: string = next === null ? '' : `&after=${encodeURIComponent(next)}`;
      const answer: Overview = await ask<Overview>('GET', `${path}${more}`, undefined, signal);
      orgs.push(...answer.orgs);
      next = answer.next;
    }
    return { orgs, next };
  };
  const { answer, error, reload } = useAsked<Overview>(`${path}#${pages}`, { ...GLANCED, read });
  const shown = useRef<Overview | undefined>(undefined);
  if (answer !== undefined) shown.current = answer;
  const more = () => readOn({ name, pages: pages + 1 });
  return { shown: shown.current, isReading: answer === undefined, error, reload, more };
}

export function OverviewPage() {
  const { query } = useRoute();
  const [name, type] = useState(query.find ?? '');
  const [isCreating, create] = useState(false);
  const { shown, error, isReading, reload, more } = useOverview(name.trim());
  const { answer: nodes } = useAsked<NodesAnswer>('/nodes', GLANCED);
  const organisations = shown?.orgs;
  const next = shown?.next ?? null;
  const isEmpty = organisations?.length === 0 && name.trim() === '';
  const hasMany = name !== '' || next !== null || (organisations?.length ?? 0) > FEW;
  const button = <Button label="New organisation" onClick={() => create(true)} />;
  return (
    <Page title="Overview" {...(isEmpty || organisations === undefined ? {} : { actions: button })}>
      {nodes?.conditions.length === 0 && organisations !== undefined && !isEmpty && <Well apps={appsOf(organisations)} />}
      <ConditionList conditions={nodes?.conditions ?? []} />
      <Problem error={error} retry={reload} />
      {isEmpty && <FirstOrganisation />}
      {hasMany && (
        <input
          class="input find-organisation"
          type="search"
          aria-label="Find an organisation"
          placeholder="Find an organisation by its name"
          value={name}
          onInput={(event) => {
            type(event.currentTarget.value);
            replaceAddress({ find: event.currentTarget.value || undefined });
          }}
        />
      )}
      <TodayCard organisations={organisations ?? []} isPart={next !== null} />
      {!isReading && organisations?.length === 0 && name.trim() !== '' && (
        <p class="card card-empty">No organisation has {name.trim()} in its name.</p>
      )}
      <GlanceTable organisations={organisations ?? []} />
      {next !== null && (
        <p class="more">
          <Button label="Show more" disabled={isReading} onClick={more} />
        </p>
      )}
      <NewestEvents organisations={organisations ?? []} />
      {isCreating && (
        <Dialog title="New organisation" onClose={() => create(false)}>
          <NewOrganisation />
        </Dialog>
      )}
    </Page>
  );
}

function appsOf(organisations: readonly OverviewEntry[]): readonly AppGlance[] {
  return organisations.flatMap(({ glance }) => glance?.apps ?? []);
}

function sumOf(apps: readonly AppGlance[], of: (app: AppGlance) => number): number {
  return apps.reduce((all, app) => all + of(app), 0);
}

/** While no condition holds: what failed all the same, and where most. */
function Well({ apps }: { readonly apps: readonly AppGlance[] }) {
  const failed = sumOf(apps, (app) => app.failed);
  const [worst] = apps.toSorted((one, other) => other.failed - one.failed);
  if (worst === undefined || failed === 0) return <p class="facts">Nothing is known to be wrong.</p>;
  return (
    <p class="facts">
      <span>
        {failed} of {sumOf(apps, ({ ended }) => ended)} answers failed today, {worst.failed === failed ? 'all' : worst.failed} of them in{' '}
        <a href={appAddress(worst.id, 'conversations?state=failed')}>{worst.name}</a>.
      </span>
    </p>
  );
}

interface TodayProps {
  readonly organisations: readonly OverviewEntry[];
  /** There are more organisations than are shown. */
  readonly isPart: boolean;
}

/** All apps together; of one alone its row says the same. */
function TodayCard({ organisations, isPart }: TodayProps) {
  const apps = appsOf(organisations);
  if (apps.length < 2) return null;
  const sum = (of: (app: AppGlance) => number) => sumOf(apps, of);
  const [ended, failed] = [sum((app) => app.ended), sum((app) => app.failed)];
  const month = organisations.reduce((all, { glance }) => all + (glance?.credit.spent_usd ?? 0), 0);
  const waits = apps.map((app) => waitingOf(app).length).filter((count) => count > 0);
  return (
    <section class="card" aria-label="Today">
      <NumberList
        cells={[
          [
            isPart ? 'Answers today, as shown' : 'Answers today',
            ended.toLocaleString('en'),
            `${apps.filter((app) => app.ended > 0).length} of ${apps.length} apps in use`,
          ],
          [
            'Failed',
            <FailedShare key="failed" ended={ended} failed={failed} />,
            ended === 0 ? 'nothing was asked' : `${failed} of ${ended} answers`,
          ],
          ['People', sum(({ people }) => people ?? 0).toLocaleString('en'), 'opened a live app'],
          ['Spent today', usd(sum(({ spent_usd: spent }) => spent)), `${usd(month)} this month`],
          [
            'Waits for you',
            waits.reduce((all, count) => all + count, 0),
            waits.length === 0 ? 'nothing to do' : `in ${waits.length} ${waits.length === 1 ? 'app' : 'apps'}`,
          ],
        ]}
      />
    </section>
  );
}

function FirstOrganisation() {
  return (
    <Card title="Create the first organisation" label="The first organisation">
      <div class="card-form">
        <p class="hint">
          An organisation is a customer of this service: its apps, its people and what they spend belong together. Then it gets an app, and
          a coding agent sets that up.
        </p>
        <NewOrganisation />
      </div>
    </Card>
  );
}

function NewestEvents({ organisations }: { readonly organisations: readonly OverviewEntry[] }) {
  const glances = organisations.flatMap(({ glance }) => glance ?? []);
  const names = new Map(glances.flatMap(({ apps }) => apps.map(({ id, name }) => [id, name] as const)));
  const events = glances.flatMap((glance) => glance.events).sort((one, other) => (one.at < other.at ? 1 : -1));
  return <EventsCard events={events.slice(0, EVENTS_SHOWN)} names={names} />;
}
