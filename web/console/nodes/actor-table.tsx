/** The live actors of all nodes, each with a link to its diagram. */
import { useLocation, useRoute } from 'preact-iso';
import type { ActorEntry, ActorsAnswer, NodeEntry } from '../../../protocol/console/answers.ts';
import { POLLED, useAsked } from '../api/asked-hook.ts';
import { appAddress } from '../app/app.ts';
import { Problem } from '../parts/card.tsx';
import { Select } from '../parts/choices.tsx';
import { Scrolling, Table } from '../parts/table.tsx';
import { momentOf } from '../parts/times.ts';

/** The live diagram of an actor: of the turn that runs, or of what the actor is. */
function diagramAddress({ kind, id, app_id: app, turn_id: turn }: ActorEntry): string {
  const of = encodeURIComponent(app);
  if (turn !== null) return `/console/traces/${of}?turn_id=${encodeURIComponent(turn)}`;
  if (kind === 'conversation') return `/console/traces/${of}?conversation_id=${encodeURIComponent(id)}`;
  return `/console/traces/${of}?machine=setup-session&instance=${encodeURIComponent(id)}`;
}

const KINDS = { '': 'Everything', conversation: 'Conversations', setup_session: 'Setup sessions' } as const;

function shownOf(answer: ActorsAnswer | undefined): string {
  if (answer === undefined) return '';
  const { actors, total } = answer;
  return total > actors.length ? `${actors.length} of ${total}` : String(total);
}

export function ActorTable({ nodes }: { readonly nodes: readonly NodeEntry[] }) {
  const { query } = useRoute();
  const { route } = useLocation();
  const kind = Object.hasOwn(KINDS, query.kind ?? '') ? (query.kind ?? '') : '';
  const node = nodes.find(({ id }) => id === query.node);
  const asked = new URLSearchParams({ ...(kind === '' ? {} : { kind }), ...(node === undefined ? {} : { node: node.id }) });
  const { answer, error, reload } = useAsked<ActorsAnswer>(`/actors?${asked}`, POLLED);
  const choose = (next: string) => {
    const { kind: _, ...others } = query;
    route(`/console/nodes?${new URLSearchParams(next === '' ? others : { ...others, kind: next })}`);
  };
  return (
    <Scrolling label="Actors" isCard>
      <h2>
        <span>
          Actors{node === undefined ? '' : ` on ${node.name}`} <small>{shownOf(answer)}</small>
        </span>
        <Select label="Kind of actors" value={kind} options={Object.entries(KINDS)} onChange={choose} />
      </h2>
      <Problem error={error} retry={reload} />
      {answer !== undefined && answer.unreachable.length > 0 && (
        <p class="fault">These nodes did not answer: {answer.unreachable.join(', ')}.</p>
      )}
      {answer?.actors.length === 0 && (
        <p class="empty">Nothing is at work. A turn that runs or waits, and a session that is worked on, are here as they live.</p>
      )}
      {answer !== undefined && answer.actors.length > 0 && <Actors actors={answer.actors} nodes={nodes} />}
    </Scrolling>
  );
}

function Actors({ actors, nodes }: { readonly actors: readonly ActorEntry[]; readonly nodes: readonly NodeEntry[] }) {
  return (
    <Table
      rows={actors}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Actor', of: (actor) => <Mono href={diagramAddress(actor)} text={actor.id} /> },
        { title: 'State', of: ({ state }) => state },
        { title: 'Waiting', of: ({ waiting }) => waiting },
        { title: 'Node', of: ({ node }) => nodes.find(({ id }) => id === node)?.name ?? node },
        { title: 'App', of: ({ app_id: app }) => <Mono href={appAddress(app)} text={app} /> },
        { title: 'Since', of: ({ since }) => momentOf(since) },
      ]}
    />
  );
}

function Mono({ href, text }: { readonly href: string; readonly text: string }) {
  return (
    <a class="mono" href={href}>
      {text}
    </a>
  );
}
