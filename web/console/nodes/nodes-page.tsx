/** The nodes and cells of the service, what lives on them, and what is wrong. */
import { useState } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import type { ActorEntry, ActorsAnswer, CellsAnswer, NodeEntry, NodesAnswer } from '../../../protocol/console/answers.ts';
import type { MoveReply } from '../../../protocol/console/organisations.ts';
import { useAct } from '../api/act-hook.ts';
import { ask } from '../api/api.ts';
import { POLLED, useAsked } from '../api/asked-hook.ts';
import { appAddress, organisationAddress } from '../app/app.ts';
import { Problem } from '../parts/card.tsx';
import { Select } from '../parts/choices.tsx';
import { Confirm } from '../parts/dialog.tsx';
import { Scrolling, Table, UNSEEN_TITLE } from '../parts/table.tsx';
import { momentOf } from '../parts/times.ts';
import { ConditionList } from '../shell/conditions.tsx';
import { Page } from '../shell/page.tsx';

function MoveTable({ moves }: { readonly moves: readonly MoveReply[] }) {
  if (moves.length === 0) return null;
  return (
    <Scrolling label="Moves" isCard>
      <h2>Moves</h2>
      <Table
        rows={moves}
        keyOf={(move) => move.move_id}
        columns={[
          { title: 'Organisation', of: ({ organisation_id: id }) => <a href={organisationAddress(id)}>{id}</a> },
          { title: 'From, to', of: (move) => `${move.source_cell} → ${move.target_cell}` },
          { title: 'Last step', of: StepOfMove },
          { title: 'Begun', of: (move) => momentOf(move.started_at) },
          {
            title: 'Trace',
            of: ({ step, organisation_id: id }) =>
              step !== 'begun' && <a href={`/console/traces/moves/${encodeURIComponent(id)}`}>Step by step</a>,
          },
        ]}
      />
    </Scrolling>
  );
}

function StepOfMove({ step, error }: MoveReply) {
  return (
    <>
      <span class={`chip ${step === 'aborted' ? 'is-bad' : 'is-wait'}`}>{step}</span> {error}
    </>
  );
}

const REDIS_WORDS = { connected: 'Redis is connected', away: 'Redis is away', none: 'One process, which needs no Redis' } as const;

export function NodesPage() {
  const { answer, error, reload } = useAsked<NodesAnswer>('/nodes', POLLED);
  const { answer: cells } = useAsked<CellsAnswer>('/cells', POLLED);
  const [draining, drain] = useState<NodeEntry>();
  return (
    <Page title="Nodes" facts={answer === undefined ? undefined : <Facts {...answer} />}>
      <Problem error={error} retry={reload} />
      {answer !== undefined && (
        <>
          <ConditionList conditions={answer.conditions} />
          <NodeTable nodes={answer.nodes} onDrain={drain} />
          <MoveTable moves={answer.moves} />
          {cells !== undefined && cells.cells.length > 0 && <CellTable cells={cells.cells} />}
          <ActorTable nodes={answer.nodes} />
        </>
      )}
      {draining !== undefined && (
        <DrainDialog
          node={draining}
          onEnd={() => {
            drain(undefined);
            reload();
          }}
        />
      )}
    </Page>
  );
}

function Facts({ redis, conditions }: NodesAnswer) {
  return (
    <>
      <span>{REDIS_WORDS[redis ?? 'none']}</span>
      {conditions.length === 0 && <span>Nothing is wrong with the node that answers</span>}
    </>
  );
}

function NodeTable({ nodes, onDrain }: { readonly nodes: readonly NodeEntry[]; readonly onDrain: (node: NodeEntry) => void }) {
  const { route } = useLocation();
  const { query } = useRoute();
  const { node: chosen, ...others } = query;
  return (
    <Scrolling label="Nodes" isCard>
      <Table
        rows={nodes}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Node', of: ({ name, self }) => <Named name={name} isThis={self} /> },
          { title: 'State', of: ({ state }) => <span class={`chip ${state === 'serving' ? 'is-ok' : 'is-wait'}`}>{state}</span> },
          ...(nodes.some(({ cell }) => cell !== null) ? [{ title: 'Cell', of: ({ cell }: NodeEntry) => cell ?? '·' }] : []),
          { title: 'Address', of: ({ url }) => <code class="selectable">{url ?? 'not listening yet'}</code> },
          { title: 'Process', of: ({ pid }) => pid },
          { title: 'Since', of: (node) => momentOf(node.started_at) },
          {
            title: 'Actors',
            of: ({ id, actors }) => (
              <button
                type="button"
                class="link"
                aria-pressed={chosen === id}
                onClick={() => route(`/console/nodes?${new URLSearchParams(chosen === id ? others : { ...others, node: id })}`)}
              >
                {actors} {actors === 1 ? 'actor' : 'actors'}
              </button>
            ),
          },
          {
            title: UNSEEN_TITLE,
            of: (node) => (
              <button type="button" class="button" disabled={node.state === 'draining'} onClick={() => onDrain(node)}>
                Drain<span class="unseen"> {node.name}</span>
              </button>
            ),
          },
        ]}
      />
    </Scrolling>
  );
}

function Named({ name, isThis }: { readonly name: string; readonly isThis: boolean }) {
  return (
    <>
      {name} {isThis && <small>this one</small>}
    </>
  );
}

function DrainDialog({ node, onEnd }: { readonly node: NodeEntry; readonly onEnd: () => void }) {
  const act = useAct();
  const send = async () => {
    await ask('POST', `/nodes/${encodeURIComponent(node.id)}/drain`);
    onEnd();
  };
  return (
    <Confirm title={`Drain ${node.name}?`} verb="Drain it" keep="Cancel" act={act} onConfirm={() => act.run(send)} onClose={onEnd}>
      <p class="hint">
        It takes no new connections, lets turns end for 30 seconds at most, and exits. A supervisor starts it again; without one it stays
        away.
        {node.self && ' It is the node that answers this page.'}
      </p>
    </Confirm>
  );
}

function CellTable({ cells }: Pick<CellsAnswer, 'cells'>) {
  return (
    <Scrolling label="Cells" isCard>
      <h2>Cells</h2>
      <Table
        rows={cells}
        keyOf={({ cell }) => cell}
        columns={[
          { title: 'Cell', of: ({ cell, is_this: isThis }) => <Named name={cell} isThis={isThis} /> },
          { title: 'State', of: CellState },
          { title: 'Address', of: ({ url }) => <code class="selectable">{url}</code> },
          { title: 'Organisations placed', of: (cell) => cell.placed_organisations },
          { title: 'Seen', of: (cell) => momentOf(cell.seen_at) },
        ]}
      />
    </Scrolling>
  );
}

function CellState({ reachable, fault }: CellsAnswer['cells'][number]) {
  return (
    <>
      <span class={`chip ${reachable ? 'is-ok' : 'is-bad'}`}>{reachable ? 'answers' : 'away'}</span> {fault}
    </>
  );
}

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

function ActorTable({ nodes }: { readonly nodes: readonly NodeEntry[] }) {
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
        <p class="card-empty">Nothing is at work. A turn that runs or waits, and a session that is worked on, are here as they live.</p>
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
