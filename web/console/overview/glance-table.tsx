/** Each organisation with its credit and its apps in numbers, as one table. */
import type { AppGlance, Glance, OverviewEntry } from '../../../protocol/console/glance-answers.ts';
import { appAddress, organisationAddress, stateOf } from '../app/app.ts';
import { StateChip } from '../parts/state-chip.tsx';
import { type Column, Scrolling, TableHead, TableRow } from '../parts/table.tsx';
import { momentOf } from '../parts/times.ts';
import { usd } from '../usage/pace.ts';
import { FailedShare, FirstWord, NONE, Spark, WaitLinks } from './glance-parts.tsx';

const COLUMNS: readonly Column<AppGlance>[] = [
  {
    title: 'App',
    of: (app) => (
      <>
        <a href={appAddress(app.id)}>{app.name}</a> {stateOf(app) !== 'live' && <StateChip state={stateOf(app)} />}
      </>
    ),
  },
  { title: 'Answers today', of: ({ ended }) => (ended === 0 ? NONE : <b>{ended.toLocaleString('en')}</b>), look: 'number' },
  {
    title: 'Seven days',
    of: ({ week, channel }) =>
      week.every((turns) => turns === 0) ? (
        NONE
      ) : (
        <Spark numbers={week} label={`Turns of the last seven days${channel === 'test' ? ', by the test key' : ''}: ${week.join(', ')}`} />
      ),
  },
  { title: 'Failed', of: FailedShare, look: 'number' },
  { title: 'First word', of: FirstWord, look: 'number' },
  { title: 'People', of: ({ people }) => people || NONE, look: 'number' },
  { title: 'Spent today', of: ({ spent_usd: spent }) => usd(spent), look: 'number' },
  { title: 'Waits for you', of: (app) => <WaitLinks app={app.id} of={app} /> },
  { title: 'Last said', of: ({ last_at: at }) => (at === null ? NONE : momentOf(at)) },
];

export function GlanceTable({ organisations }: { readonly organisations: readonly OverviewEntry[] }) {
  if (organisations.length === 0) return null;
  return (
    <Scrolling label="Organisations and their apps" isCard>
      <table class="list stacks glance">
        <TableHead columns={COLUMNS} />
        {organisations.map((organisation) => (
          <Organisation key={organisation.id} {...organisation} />
        ))}
      </table>
    </Scrolling>
  );
}

function Organisation({ id, name, plan, glance }: OverviewEntry) {
  const more = (glance?.apps_total ?? 0) - (glance?.apps.length ?? 0);
  return (
    <tbody>
      <tr class="glance-head">
        <th scope="rowgroup" colSpan={COLUMNS.length}>
          <span class="glance-line">
            <a href={organisationAddress(id)}>{name}</a>
            <small>{`${plan.charAt(0).toUpperCase()}${plan.slice(1)} plan`}</small>
            {glance !== null && <Credit id={id} credit={glance.credit} />}
          </span>
        </th>
      </tr>
      {glance?.apps.map((app) =>
        app.last_at === null ? <Unused key={app.id} app={app} /> : <TableRow key={app.id} row={app} columns={COLUMNS} />,
      )}
      {glance === null && <Note id={id} words="Nobody has used it lately." link="Its apps" />}
      {glance?.apps_total === 0 && <Note id={id} words="No apps yet." link="Create one" />}
      {more > 0 && <Note id={id} words={`${more} more, which were used before these.`} link={`All ${glance?.apps_total} apps`} />}
    </tbody>
  );
}

function Credit({ id, credit: { left_usd: left, spent_usd: spent } }: { readonly id: string; readonly credit: Glance['credit'] }) {
  return (
    <a class="glance-credit" href={`${organisationAddress(id)}/usage`}>
      <span class={left <= 0 ? 'is-failing' : ''}>{usd(left)} credit left</span>, {usd(spent)} spent this month
    </a>
  );
}

/** Of an app that nobody has asked there is nothing to count. */
function Unused({ app }: { readonly app: AppGlance }) {
  const [name] = COLUMNS;
  return (
    <tr>
      <th scope="row">{name?.of(app)}</th>
      <td class="glance-note" colSpan={COLUMNS.length - 3}>
        Nobody has asked it anything yet.
      </td>
      <td colSpan={2}>
        <WaitLinks app={app.id} of={app} />
      </td>
    </tr>
  );
}

interface NoteProps {
  readonly id: string;
  readonly words: string;
  readonly link: string;
}

function Note({ id, words, link }: NoteProps) {
  return (
    <tr>
      <td class="glance-note" colSpan={COLUMNS.length}>
        {words} <a href={organisationAddress(id)}>{link}</a>
      </td>
    </tr>
  );
}
