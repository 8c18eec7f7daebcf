/** Actions and screens: what was declared beside what the build registers. */

import { useState } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import type { DeclaredAction, DeclaredScreen } from '../../../protocol/console/setup-answers.ts';
import { useAct } from '../api/act-hook.ts';
import { ask } from '../api/api.ts';
import { useAsked } from '../api/asked-hook.ts';
import { type App, appAddress, appPath } from '../app/app.ts';
import { AppPage } from '../app/app-page.tsx';
import { NONE } from '../overview/glance-parts.tsx';
import { Button, Card, Problem } from '../parts/card.tsx';
import { SideBySide } from '../parts/choices.tsx';
import { Form } from '../parts/form.tsx';
import { StateChip } from '../parts/state-chip.tsx';
import { Scrolling, Table } from '../parts/table.tsx';
import { toast } from '../shell/toasts.tsx';
import { type Builds, BuildsCard } from './builds-card.tsx';
import {
  actionMark,
  type Definition,
  definitionOf,
  differing,
  type Mark,
  RISKS,
  type Row,
  rowsOf,
  screenMark,
  titleOf,
} from './declared.ts';
import { DefinitionCard, DefinitionFacts, type Kind, NEW_ITEM } from './definition-card.tsx';
import { TrialCard } from './trial-card.tsx';

/** An app has 200 actions in service; archived ones may come on top, and are left out here. */
const LISTED_MAX = 200;

const KINDS = [
  ['actions', 'Actions'],
  ['screens', 'Screens'],
] as const;

export function ActionsPage() {
  const { params, query } = useRoute();
  const { route } = useLocation();
  const kind: Kind = query.show === 'screens' ? 'screens' : 'actions';
  return (
    <AppPage
      title="Actions and screens"
      facts="What the assistant can do and where it can lead. Declared here or by an agent, or registered by the app's own build."
      actions={
        <SideBySide
          label="What is shown"
          value={kind}
          options={KINDS}
          onChange={(value) => route(`${appAddress(params.app ?? '', 'actions')}?show=${value}`)}
        />
      }
    >
      {(app) => <Declared key={kind} app={app} kind={kind} />}
    </AppPage>
  );
}

type DeclaredRow = Row<DeclaredAction | DeclaredScreen>;

interface Lists {
  readonly actions?: readonly DeclaredAction[];
  readonly screens?: readonly DeclaredScreen[];
}

function Declared({ app, kind }: { readonly app: App; readonly kind: Kind }) {
  const { query } = useRoute();
  const { route } = useLocation();
  const list = useAsked<Lists>(`${appPath(app.id)}/${kind}?limit=${LISTED_MAX}`);
  const built = useAsked<Builds>(`${appPath(app.id)}/manifest`);
  const problem = list.error ?? built.error;
  const show = (item: string | undefined) =>
    route(`${appAddress(app.id, 'actions')}?show=${kind}${item === undefined ? '' : `&item=${encodeURIComponent(item)}`}`);
  const reload = () => {
    list.reload();
    built.reload();
  };
  const document = built.answer?.manifest?.document;
  const newest = built.answer?.newest?.document;
  const rows: readonly DeclaredRow[] =
    kind === 'actions'
      ? rowsOf(list.answer?.actions ?? [], document?.actions ?? [], newest?.actions ?? [])
      : rowsOf(list.answer?.screens ?? [], document?.routes ?? [], newest?.routes ?? []);
  const markOf = (row: DeclaredRow): Mark =>
    kind === 'actions' ? actionMark(row as Row<DeclaredAction>) : screenMark(row as Row<DeclaredScreen>);
  return (
    <>
      <Problem error={problem} retry={reload} />
      {list.answer !== undefined && built.answer !== undefined && (
        <>
          <BuildsCard builds={built.answer} />
          <div class="declared is-below">
            <DeclaredTable kind={kind} rows={rows} markOf={markOf} chosen={query.item} show={show} hasNewest={newest !== undefined} />
            <Chosen app={app} kind={kind} item={query.item} rows={rows} markOf={markOf} show={show} onChange={reload} />
          </div>
        </>
      )}
    </>
  );
}

interface ChosenProps {
  readonly app: App;
  readonly kind: Kind;
  readonly item: string | undefined;
  readonly rows: readonly DeclaredRow[];
  readonly markOf: (row: DeclaredRow) => Mark;
  readonly show: (item: string | undefined) => void;
  readonly onChange: () => void;
}

function Chosen({ app, kind, item, rows, markOf, show, onChange }: ChosenProps) {
  if (item === undefined) return null;
  const row = rows.find(({ name }) => name === item);
  if (item !== NEW_ITEM && row === undefined) return <p class="empty">There is no {item} in service any more.</p>;
  const declared = row?.declared;
  return (
    <div class="declared-side">
      {row !== undefined && (
        <section class="card" aria-label={row.name}>
          <h2>
            <span>
              {titleOf(row)} <code class="quiet">{row.name}</code>
            </span>
            <StateChip state={markOf(row).state} />
          </h2>
          <div class="card-body">
            <DefinitionFacts kind={kind} definition={declared === undefined ? (row.build ?? row.newest ?? {}) : definitionOf(declared)} />
            <p class="hint">{markOf(row).what}</p>
            {row.build === undefined && row.newest !== undefined && (
              <details>
                <summary>As the newest build registers it</summary>
                <pre class="definition">{JSON.stringify(row.newest, null, 2)}</pre>
              </details>
            )}
            {row.build !== undefined && (
              <details>
                <summary>As the build registers it</summary>
                <pre class="definition">{JSON.stringify(row.build, null, 2)}</pre>
              </details>
            )}
          </div>
        </section>
      )}
      {declared !== undefined && 'needs_key' in declared && declared.needs_key !== null && (
        <KeyCard key={declared.name} app={app} action={declared} onChange={onChange} />
      )}
      {declared !== undefined && 'enabled' in declared && declared.risk === 'read' && declared.enabled && (
        <TrialCard key={`trial ${declared.name}`} app={app} action={declared} />
      )}
      {(declared !== undefined || item === NEW_ITEM) && (
        <DefinitionCard
          key={item}
          app={app}
          kind={kind}
          item={item}
          definition={declared === undefined ? undefined : definitionOf(declared)}
          onSaved={(name) => {
            onChange();
            show(name);
          }}
        />
      )}
    </div>
  );
}

interface DeclaredTableProps {
  readonly kind: Kind;
  readonly rows: readonly DeclaredRow[];
  readonly markOf: (row: DeclaredRow) => Mark;
  readonly chosen: string | undefined;
  readonly show: (item: string | undefined) => void;
  /** Whether the newest build is another one than that which counts. */
  readonly hasNewest: boolean;
}

function DeclaredTable({ kind, rows, markOf, chosen, show, hasNewest }: DeclaredTableProps) {
  const label = kind === 'actions' ? 'Actions' : 'Screens';
  return (
    <section class="card" aria-label={label}>
      <h2>
        <span>
          {label} <small>{rows.length}</small>
        </span>
        <Button label={kind === 'actions' ? 'Declare an action' : 'Declare a screen'} onClick={() => show(NEW_ITEM)} />
      </h2>
      {rows.length === 0 ? (
        <p class="card-empty">{EMPTY[kind]}</p>
      ) : (
        <Scrolling label={`${label}, side by side`}>
          <Table
            look="list stacks"
            rows={rows}
            keyOf={({ name }) => name}
            isCurrent={({ name }) => name === chosen}
            columns={[
              {
                title: kind === 'actions' ? 'Action' : 'Screen',
                of: (row) => (
                  <>
                    <button type="button" class="link declared-name" onClick={() => show(row.name)}>
                      {titleOf(row)}
                    </button>
                    <code class="below">{row.name}</code>
                  </>
                ),
              },
              { title: 'State', of: (row) => <StateChip state={markOf(row).state} /> },
              { title: 'Declared', of: ({ declared }) => declaredWords(declared) },
              {
                title: hasNewest ? 'In the current build' : 'In the build',
                of: ({ build }) => buildWords(build),
                look: (row) => (differing(row).length > 0 ? 'is-different' : undefined),
              },
              ...(hasNewest ? [{ title: 'In the newest', of: ({ newest }: DeclaredRow) => buildWords(newest) }] : []),
            ]}
          />
        </Scrolling>
      )}
    </section>
  );
}

const EMPTY: Readonly<Record<Kind, string>> = {
  actions:
    'Nothing yet. An action is something that the assistant may do for a person: a call to your backend that you declare here, or a handler that the app registers.',
  screens:
    'Nothing yet. A screen is a place in the app that an answer may lead to. Declare the ones you plan, and the build that registers them is checked against it.',
};

function declaredWords(declared: DeclaredAction | DeclaredScreen | undefined) {
  if (declared === undefined) return NONE;
  return 'method' in declared ? `${RISKS[declared.risk] ?? declared.risk}, at ${declared.host}` : declared.title;
}

function buildWords(build: Definition | undefined) {
  if (build === undefined) return NONE;
  return typeof build.title === 'string' ? build.title : (RISKS[String(build.risk ?? 'read')] ?? String(build.risk));
}

function placeOf({ needs_key: key }: DeclaredAction): string {
  if (key === null || key.kind === 'bearer') return 'as a bearer in Authorization';
  return key.kind === 'query' ? `as ${key.name ?? ''} in the address` : `in the header ${key.name ?? ''}`;
}

function KeyCard({ app, action, onChange }: { readonly app: App; readonly action: DeclaredAction; readonly onChange: () => void }) {
  const [value, type] = useState('');
  const act = useAct();
  const path = `${appPath(app.id)}/actions/${encodeURIComponent(action.name)}/key`;
  const enter = () =>
    act.run(async () => {
      const { host, actions } = await ask<{ readonly host: string; readonly actions: readonly string[] }>('PUT', path, { value });
      type('');
      toast(`The key of ${host} is kept. On now: ${actions.join(', ')}.`);
      onChange();
    });
  const remove = () =>
    act.run(async () => {
      await ask('DELETE', path);
      toast('The key is gone, and what needs it is off.');
      onChange();
    });
  return (
    <Card title="Key" aside={<StateChip state={action.has_key ? 'entered' : 'not_entered'} />}>
      <Form
        look="card-body"
        act={act}
        verb="Enter the key"
        isReady={value !== ''}
        onSubmit={enter}
        more={action.has_key && <Button label="Take the key away" look="danger" disabled={act.isUnderWay} onClick={remove} />}
      >
        <p class="hint">
          {`For ${action.host}, sent ${placeOf(action)}. Every action of that host that needs a key uses it. It is stored encrypted and shown nowhere.`}
        </p>
        {action.needs_key?.note !== undefined && <p class="said-note">{action.needs_key.note}</p>}
        <label class="key-field">
          <span>{action.has_key ? 'Another key' : 'Key'}</span>
          <input class="input mono" type="password" autocomplete="off" value={value} onInput={(event) => type(event.currentTarget.value)} />
        </label>
      </Form>
    </Card>
  );
}
