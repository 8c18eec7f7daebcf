/** The first page of an app: how it goes, what talks to it, how far it is on the way to its people, and the keys that it is built with. */
import { useState } from 'preact/hooks';
import type { ConversationHead, Key } from '../../../protocol/console/answers.ts';
import type { AppSummary, Build, Counts } from '../../../protocol/console/glance-answers.ts';
import type { AppStatus, Check, CheckKey } from '../../../protocol/console/setup-answers.ts';
import { useAsked } from '../api/asked-hook.ts';
import { ConversationTable } from '../conversations/conversation-table.tsx';
import {
  EventsCard,
  FailedShare,
  FirstWord,
  GLANCED,
  NONE,
  type NumberCell,
  NumberList,
  Spark,
  WaitLinks,
  waitingOf,
} from '../overview/glance-parts.tsx';
import { Button, Card, Problem } from '../parts/card.tsx';
import { SideBySide } from '../parts/choices.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { StateChip } from '../parts/state-chip.tsx';
import { Scrolling, Table } from '../parts/table.tsx';
import { momentOf } from '../parts/times.ts';
import { usd } from '../usage/pace.ts';
import { type App, appAddress, appPath, buildName, checksOf, markOf, NOTHING_TO_CHECK, SECTIONS } from './app.ts';
import { AppPage } from './app-page.tsx';

const SECTION_OF_CHECK: Readonly<Record<CheckKey, string>> = {
  ...{ app: 'setup', knowledge: 'knowledge', screens: 'actions', smoke: 'go-live' },
  ...{ domains: 'settings', addresses: 'actions', answered: 'test', models: 'assistant' },
};

function SectionLink({ app, section }: { readonly app: App; readonly section: string }) {
  const found = SECTIONS.find(({ name }) => name === section);
  if (found === undefined) return null;
  return <Button label={`Open ${found.label}`} href={appAddress(app.id, section)} />;
}

/** What has nothing to check neither passes nor is open. */
function CheckCount({ status }: { readonly status: AppStatus }) {
  const checked = checksOf(status).filter((check) => markOf(check, status.facts).word !== NOTHING_TO_CHECK);
  return (
    <small>
      {checked.filter(({ ok }) => ok).length} of {checked.length} checks pass
    </small>
  );
}

interface CheckLineProps {
  readonly app: App;
  readonly check: Check;
  readonly facts: AppStatus['facts'];
}

function CheckLine({ app, check, facts }: CheckLineProps) {
  const { look, sign, word } = markOf(check, facts);
  return (
    <li class="line">
      <span class={look} aria-hidden="true">
        {sign}
      </span>
      <span class="line-text">
        <b>{check.label}</b>
        <span class="unseen">, {word}</span> <span class="line-note">{check.detail}</span>
      </span>
      {!check.ok && <SectionLink app={app} section={SECTION_OF_CHECK[check.key]} />}
    </li>
  );
}

function GoLiveCard({ app }: { readonly app: App }) {
  const { answer, error, reload } = useAsked<AppStatus>(`${appPath(app.id)}/status`);
  const isNew = answer?.steps === null && app.handshake_at === null;
  return (
    <section class="card" aria-label="Checks">
      <h2>
        {app.live ? 'Checks' : 'Before going live'} {answer !== undefined && <CheckCount status={answer} />}
      </h2>
      <Problem error={error} retry={reload} />
      {isNew && (
        <div class="card-body">
          <p class="hint">
            Next: let a coding agent set the app up. It reads the app's code, writes appearance, assistant and knowledge as drafts, and
            builds the assistant in. You watch each step.
          </p>
          <Button label="Set the app up" look="primary" href={appAddress(app.id, 'setup')} />
        </div>
      )}
      <ul class="lines">
        {answer !== undefined &&
          checksOf(answer).map((check) => <CheckLine key={check.key} app={app} check={check} facts={answer.facts} />)}
      </ul>
    </section>
  );
}

function KeysCard({ id }: { readonly id: string }) {
  const { answer, error, reload } = useAsked<{ readonly keys: readonly Key[] }>(`${appPath(id)}/keys`);
  return (
    <Card title="Keys" note="public by design: they ship inside the app">
      <Problem error={error} retry={reload} />
      <ul class="lines">
        {answer?.keys.map(({ id: keyId, key, channel }) => (
          <li key={keyId} class="line">
            <span class="chip">{channel}</span>
            <code class="line-text selectable">{key}</code>
            <CopyButton text={key} label={`Copy the ${channel} key`} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

const SPANS = [
  ['1', 'Today'],
  ['7', '7 days'],
  ['30', '30 days'],
] as const;

type Span = (typeof SPANS)[number][0];

const DAY_HOURS = 24;

function Numbers({ summary }: { readonly summary: AppSummary }) {
  const { total, series, days } = summary;
  const by = days === 1 ? 'hour' : 'day';
  const line = (what: string, of: (counts: Counts) => number, look = '') => (
    <Spark
      numbers={series.map(of)}
      room={days === 1 ? DAY_HOURS : days}
      label={`${what} by ${by}: ${series.map(of).join(', ')}`}
      look={look}
    />
  );
  const cells: readonly NumberCell[] = [
    ['Answers', total.ended.toLocaleString('en'), line('Answers', ({ ended }) => ended)],
    ['Failed', <FailedShare key="failed" {...total} />, line('Failed answers', ({ failed }) => failed, 'is-failing')],
    ['First word, median', <FirstWord key="word" {...total} />, line('Milliseconds', ({ first_word_ms: ms }) => ms ?? 0)],
    [
      days === 1 ? 'People' : 'People a day',
      total.people === null ? NONE : Math.round(total.people / days),
      line('People', ({ people }) => people ?? 0),
    ],
    ['Spent', usd(total.spent_usd), days > 1 && line('Spent', ({ spent_usd: spent }) => spent)],
  ];
  return <NumberList cells={cells} />;
}

function BuildsCard({ app, builds }: { readonly app: string; readonly builds: readonly Build[] }) {
  if (builds.length === 0) return null;
  const newest = builds[0]?.hash;
  return (
    <Card title="Builds that connect" aside={<a href={appAddress(app, 'actions')}>Actions and screens</a>} label="Builds">
      <Scrolling label="Builds that connect">
        <Table
          look="list stacks"
          rows={builds}
          keyOf={({ hash }) => hash}
          columns={[
            {
              title: 'Platform and version',
              of: ({ sdk, hash, counts }) => (
                <>
                  {buildName(sdk)} {counts && <StateChip state="current" />} {hash === newest && !counts && <StateChip state="newest" />}
                </>
              ),
            },
            { title: 'Actions', of: ({ actions }) => actions, look: 'number' },
            { title: 'Screens', of: ({ screens }) => screens, look: 'number' },
            { title: 'First connected', of: ({ first_seen_at: at }) => momentOf(at) },
            { title: 'Last connected', of: ({ last_seen_at: at }) => momentOf(at) },
          ]}
        />
      </Scrolling>
    </Card>
  );
}

const CONVERSATIONS_SHOWN = 5;

function NewestConversations({ app }: { readonly app: string }) {
  const path = `${appPath(app)}/conversations?limit=${CONVERSATIONS_SHOWN}`;
  const { answer, error, reload } = useAsked<{ readonly conversations: readonly ConversationHead[] }>(path, GLANCED);
  if (answer?.conversations.length === 0) return null;
  return (
    <Card title="Newest conversations" aside={<a href={appAddress(app, 'conversations')}>All conversations</a>}>
      <Problem error={error} retry={reload} />
      {answer !== undefined && <ConversationTable app={app} conversations={answer.conversations} />}
    </Card>
  );
}

function HowItGoes({ app }: { readonly app: App }) {
  const [span, show] = useState<Span>('1');
  const { answer, error, reload } = useAsked<AppSummary>(`${appPath(app.id)}/summary?days=${span}`, GLANCED);
  return (
    <>
      <Card
        title={<span>Activity {!app.live && <small>by the test key, until the app is live</small>}</span>}
        label="Activity"
        aside={<SideBySide label="Time" value={span} options={SPANS} onChange={show} />}
      >
        <Problem error={error} retry={reload} />
        {answer !== undefined && <Numbers summary={answer} />}
        {answer !== undefined && waitingOf({ ...app, waits: answer.waits }).length > 0 && (
          <p class="card-waits">
            <b>Waits for you</b> <WaitLinks app={app.id} of={{ ...app, waits: answer.waits }} />
          </p>
        )}
      </Card>
      <NewestConversations app={app.id} />
      {answer !== undefined && <BuildsCard app={app.id} builds={answer.builds} />}
      {answer !== undefined && <EventsCard events={answer.events} />}
    </>
  );
}

function Facts({ app }: { readonly app: App }) {
  return (
    <p class="facts">
      <span>{app.published_version === null ? 'Nothing published yet' : `Version ${app.published_version} is published`}</span>
      <span>{app.handshake_at === null ? 'The app has not connected yet' : 'The app has connected'}</span>
      <code class="selectable quiet">{app.id}</code>
    </p>
  );
}

export function AppOverviewPage() {
  return (
    <AppPage>
      {(app) => (
        <>
          <Facts app={app} />
          {!app.live && <GoLiveCard app={app} />}
          <HowItGoes app={app} />
          {app.live && <GoLiveCard app={app} />}
          <KeysCard id={app.id} />
        </>
      )}
    </AppPage>
  );
}
