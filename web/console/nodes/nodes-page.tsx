/** The nodes and cells of the service, what lives on them, and what is wrong. */
import { useState } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import { useAct } from '../api/act-hook.ts';
import { ask } from '../api/api.ts';
import { POLLED, useAsked } from '../api/asked-hook.ts';
import { Problem } from '../api/problem.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { momentOf } from '../parts/times.ts';
import { Page } from '../shell/page.tsx';
import { ActorTable } from './actor-table.tsx';
import { ConditionList } from './condition-list.tsx';
import { MoveTable } from './move-table.tsx';
import type { CellsAnswer, NodeEntry, NodesAnswer } from './node-answers.ts';

const REDIS_WORDS = { connected: 'Redis is connected', away: 'Redis is away', none: 'One process, which needs no Redis' } as const;

export function NodesPage() {
  const { answer, error, reload } = useAsked<NodesAnswer>('/nodes', POLLED);
  const { answer: cells } = useAsked<CellsAnswer>('/cells', POLLED);
  const [draining, drain] = useState<NodeEntry>();
  return (
    <Page title="Nodes" facts={answer === undefined ? undefined : <Facts {...answer} />}>
      {error !== undefined && <Problem error={error} retry={reload} />}
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

interface NodeTableProps {
  readonly nodes: readonly NodeEntry[];
  readonly onDrain: (node: NodeEntry) => void;
}

function NodeTable({ nodes, onDrain }: NodeTableProps) {
  const { route } = useLocation();
  const { query } = useRoute();
  const { node: chosen, ...others } = query;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys.
    <section class="card scroll-x" aria-label="Nodes" tabIndex={0}>
      <table class="list">
        <thead>
          <tr>
            <th scope="col">Node</th>
            <th scope="col">State</th>
            <th scope="col">Cell</th>
            <th scope="col">Address</th>
            <th scope="col">Process</th>
            <th scope="col">Since</th>
            <th scope="col">Actors</th>
            <th scope="col">
              <span class="unseen">What can be done</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {nodes.map((node) => (
            <tr key={node.id}>
              <th scope="row">
                {node.name} {node.self && <small>this one</small>}
              </th>
              <td>
                <span class={`chip ${node.state === 'serving' ? 'is-ok' : 'is-wait'}`}>{node.state}</span>
              </td>
              <td>{node.cell ?? '·'}</td>
              <td>
                <code class="selectable">{node.url ?? 'not listening yet'}</code>
              </td>
              <td>{node.pid}</td>
              <td>{momentOf(node.started_at)}</td>
              <td>
                <button
                  type="button"
                  class="link"
                  aria-pressed={chosen === node.id}
                  onClick={() => route(`/console/nodes?${new URLSearchParams(chosen === node.id ? others : { ...others, node: node.id })}`)}
                >
                  {node.actors} {node.actors === 1 ? 'actor' : 'actors'}
                </button>
              </td>
              <td>
                <button type="button" class="button" disabled={node.state === 'draining'} onClick={() => onDrain(node)}>
                  Drain<span class="unseen"> {node.name}</span>
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function DrainDialog({ node, onEnd }: { readonly node: NodeEntry; readonly onEnd: () => void }) {
  const { isUnderWay, error, run } = useAct();
  const send = async () => {
    await ask('POST', `/nodes/${encodeURIComponent(node.id)}/drain`);
    onEnd();
  };
  return (
    <Dialog title={`Drain ${node.name}?`} onClose={onEnd}>
      <p class="hint">
        It takes no new connections, lets turns end for 30 seconds at most, and exits. A supervisor starts it again; without one it stays
        away.
        {node.self && ' It is the node that answers this page.'}
      </p>
      {error !== undefined && <Problem error={error} retry={() => run(send)} />}
      <div class="row">
        <button type="button" class="button" onClick={onEnd}>
          Cancel
        </button>
        <button type="button" class="button danger" disabled={isUnderWay} onClick={() => run(send)}>
          Drain it
        </button>
      </div>
    </Dialog>
  );
}

function CellTable({ cells }: Pick<CellsAnswer, 'cells'>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys.
    <section class="card scroll-x" aria-label="Cells" tabIndex={0}>
      <h2>Cells</h2>
      <table class="list">
        <thead>
          <tr>
            <th scope="col">Cell</th>
            <th scope="col">State</th>
            <th scope="col">Address</th>
            <th scope="col">Organisations placed</th>
            <th scope="col">Seen</th>
          </tr>
        </thead>
        <tbody>
          {cells.map(({ cell, url, is_this: isThis, reachable, fault, placed_organisations: placed, seen_at: seen }) => (
            <tr key={cell}>
              <th scope="row">
                {cell} {isThis && <small>this one</small>}
              </th>
              <td>
                <span class={`chip ${reachable ? 'is-ok' : 'is-bad'}`}>{reachable ? 'answers' : 'away'}</span> {fault}
              </td>
              <td>
                <code class="selectable">{url}</code>
              </td>
              <td>{placed}</td>
              <td>{momentOf(seen)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
