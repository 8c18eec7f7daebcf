/** The nodes and cells of the service, what lives on them, and what is wrong. */

import { useState } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import type { ActorEntry, ActorsAnswer, CellsAnswer, NodeEntry, NodesAnswer } from '../../../protocol/console/answers.ts';
import type { MoveReply } from '../../../protocol/console/organisations.ts';
import { useAct } from '../api/act-hook.ts';
import { ask } from '../api/api.ts';
import { POLLED, useAsked } from '../api/asked-hook.ts';
import { appAddress, organisationAddress } from '../app/app.ts';
import { NONE, NumberList } from '../overview/glance-parts.tsx';
import { Problem } from '../parts/card.tsx';
import { Select } from '../parts/choices.tsx';
import { Confirm } from '../parts/dialog.tsx';
import { StateChip } from '../parts/state-chip.tsx';
import { stateWords } from '../parts/states.ts';
import { Scrolling, Table } from '../parts/table.tsx';
import { momentOf } from '../parts/times.ts';
import { ConditionList, heldFor } from '../shell/conditions.tsx';
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
      <StateChip state={step} /> {error}
    </>
  );
}

const REDIS_WORDS = { connected: 'Redis is connected.', away: 'Redis is away.', none: 'One process, without Redis.' } as const;

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
          <NodeCards nodes={answer.nodes} onDrain={drain} />
          <MoveTable moves={answer.moves} />
          {cells !== undefined && cells.cells.length > 0 && <CellTable cells={cells.cells} />}
          <ActorTable nodes={answer.nodes} />
        </>
      )}
      {draining !== undefined && (
        <DrainDialog
          node={draining}
          isOnly={answer?.nodes.length === 1}
          onEnd={() => {
            drain(undefined);
            reload();
          }}
        />
      )}
    </Page>
  );
}

/** Only what there is: one process has no Redis that could fail. */
function Facts({ redis, conditions }: NodesAnswer) {
  const isFine = conditions.length === 0;
  return (
    <>
      {isFine && <span>Nothing is known to be wrong.</span>}
      <span>{REDIS_WORDS[redis ?? 'none']}</span>
      {isFine && (
        <span>
          Watched: the model, the apps’ own servers, knowledge, mails, credit, the disk{redis === null ? '' : ', Redis'} and, where there is
          one, the replica.
        </span>
      )}
    </>
  );
}

interface NodeCardsProps {
  readonly nodes: readonly NodeEntry[];
  readonly onDrain: (node: NodeEntry) => void;
}

/** One card each. */
function NodeCards({ nodes, onDrain }: NodeCardsProps) {
  return (
    <section class="node-cards" aria-label="Nodes">
      {nodes.map((node) => (
        <NodeCard key={node.id} node={node} onDrain={() => onDrain(node)} />
      ))}
    </section>
  );
}

function NodeCard({ node, onDrain }: { readonly node: NodeEntry; readonly onDrain: () => void }) {
  const { id, name, state, actors, self, cell, url, pid, started_at: since } = node;
  const { query } = useRoute();
  const { node: chosen, ...others } = query;
  const isChosen = chosen === id;
  return (
    <section class="card" aria-label={name}>
      <h2>
        <span>
          <Named name={name} isThis={self} /> <code class="quiet selectable">{id}</code>
        </span>
        <StateChip state={state} />
      </h2>
      <NumberList
        cells={[
          ['At work now', actors.toLocaleString('en'), 'turns and setup sessions'],
          ['Up for', heldFor(since), `since ${momentOf(since)}`],
          ['Process', pid, url ?? 'not listening yet'],
          ...(cell === null ? [] : [['Cell', cell] as const]),
        ]}
      />
      <div class="card-foot row">
        <a href={`/console/nodes?${new URLSearchParams(isChosen ? others : { ...others, node: id })}`}>
          {isChosen ? 'Show all nodes' : 'Show only this node'}
        </a>
        <span class="node-drain">
          <button type="button" class="button" disabled={state === 'draining'} onClick={onDrain}>
            Drain…<span class="unseen"> {name}</span>
          </button>
          <small>{state === 'draining' ? 'It ends its turns and exits.' : 'Takes it out of service: its turns end first.'}</small>
        </span>
      </div>
    </section>
  );
}

function Named({ name, isThis }: { readonly name: string; readonly isThis: boolean }) {
  return (
    <>
      {name} {isThis && <small>this one</small>}
    </>
  );
}

interface DrainProps {
  readonly node: NodeEntry;
  /** Nobody else serves. */
  readonly isOnly: boolean;
  readonly onEnd: () => void;
}

function DrainDialog({ node, isOnly, onEnd }: DrainProps) {
  const act = useAct();
  const send = async () => {
    await ask('POST', `/nodes/${encodeURIComponent(node.id)}/drain`);
    onEnd();
  };
  return (
    <Confirm title={`Drain ${node.name}?`} verb="Drain it" keep="Cancel" act={act} onConfirm={() => act.run(send)} onClose={onEnd}>
      <p class="hint">
        It takes no new connections, lets turns end for 30 seconds at most, and exits. A supervisor starts it again; without one it stays
        away.{' '}
        {isOnly
          ? 'It is the only node: until it is back nobody is served, this page included.'
          : `The other nodes serve meanwhile.${node.self ? ' It is the node that answers this page.' : ''}`}
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
      <StateChip state={reachable ? 'answers' : 'away'} /> {fault}
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
    <Scrolling label="At work now" isCard>
      <h2>
        <span>
          At work now{node === undefined ? '' : ` on ${node.name}`} <small>{shownOf(answer)}</small>
        </span>
        <Select label="Kind of work" value={kind} options={Object.entries(KINDS)} onChange={choose} />
      </h2>
      <Problem error={error} retry={reload} />
      {answer !== undefined && answer.unreachable.length > 0 && (
        <p class="fault">These nodes did not answer: {answer.unreachable.join(', ')}.</p>
      )}
      {answer?.actors.length === 0 && (
        <p class="card-empty">Nothing is at work. Turns that run or wait, and setup sessions with an agent at work, are listed here.</p>
      )}
      {answer !== undefined && answer.actors.length > 0 && <Actors actors={answer.actors} nodes={nodes} />}
    </Scrolling>
  );
}

const KIND_WORDS = { conversation: 'Conversation', setup_session: 'Setup session' } as const;

function Actors({ actors, nodes }: { readonly actors: readonly ActorEntry[]; readonly nodes: readonly NodeEntry[] }) {
  return (
    <Table
      look="list stacks"
      rows={actors}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'What',
          of: (actor) => (
            <>
              <a href={diagramAddress(actor)}>
                {KIND_WORDS[actor.kind]}
                {actor.app !== undefined && ` of ${actor.app}`}
              </a>
              <code class="below is-id" title={actor.id}>
                {actor.id}
              </code>
            </>
          ),
        },
        { title: 'State', of: ({ state }) => stateWords(state) },
        { title: 'In it for', of: ({ since }) => heldFor(since) },
        { title: 'Requests that wait', of: ({ waiting }) => (waiting === 0 ? NONE : waiting), look: 'number' },
        { title: 'Node', of: ({ node }) => nodes.find(({ id }) => id === node)?.name ?? node },
        { title: 'App', of: ({ app, app_id: id }) => <a href={appAddress(id)}>{app ?? id}</a> },
      ]}
    />
  );
}
