/** The table of names: left what was declared, right what the build registers, and what is to be said of both. */

import type { DeclaredAction, DeclaredScreen } from '../../../protocol/console/setup-answers.ts';
import { Button } from '../parts/card.tsx';
import { Scrolling, Table } from '../parts/table.tsx';
import { differing, type Mark, type Row } from './declared.ts';
import { type Kind, NEW_ITEM } from './definition-card.tsx';

export interface DeclaredTableProps {
  readonly kind: Kind;
  readonly rows: readonly Row<DeclaredAction | DeclaredScreen>[];
  readonly markOf: (row: Row<DeclaredAction | DeclaredScreen>) => Mark;
  readonly chosen: string | undefined;
  readonly show: (item: string | undefined) => void;
  /** The build whose manifest counts; undefined: none called in. */
  readonly sdk: string | undefined;
}

export function DeclaredTable({ kind, rows, markOf, chosen, show, sdk }: DeclaredTableProps) {
  const label = kind === 'actions' ? 'Actions' : 'Screens';
  return (
    <section class="card" aria-label={label}>
      <h2>
        <span>
          {label} <small>{sdk === undefined ? 'no build has called in yet' : `beside the build of ${sdk}`}</small>
        </span>
        <Button label={kind === 'actions' ? 'Declare an action' : 'Declare a screen'} onClick={() => show(NEW_ITEM)} />
      </h2>
      {rows.length === 0 ? (
        <p class="card-empty">{EMPTY[kind]}</p>
      ) : (
        <Scrolling label={`${label}, side by side`}>
          <Table
            rows={rows}
            keyOf={({ name }) => name}
            isCurrent={({ name }) => name === chosen}
            columns={[
              {
                title: 'Name',
                of: ({ name }) => (
                  <button type="button" class="link" onClick={() => show(name)}>
                    <code class="declared-name">{name}</code>
                  </button>
                ),
              },
              { title: 'Declared', of: ({ declared }) => declaredWords(declared) },
              { title: 'In the build', of: buildWords, look: (row) => (differing(row).length > 0 ? 'is-different' : undefined) },
              { title: 'State', of: (row) => <span class={`chip ${markOf(row).signal}`}>{markOf(row).word}</span> },
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

function declaredWords(declared: DeclaredAction | DeclaredScreen | undefined): string {
  if (declared === undefined) return '·';
  return 'method' in declared ? `${declared.method} ${declared.host}, ${declared.risk}` : declared.title;
}

function buildWords(row: Row<DeclaredAction | DeclaredScreen>): string {
  const { build } = row;
  if (build === undefined) return '·';
  const said = build.title ?? build.risk ?? 'read';
  return typeof said === 'string' ? said : '';
}
