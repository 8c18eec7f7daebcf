/** Sources as rows: what state each is in, what went wrong with it, and what can be done. */
import { useState } from 'preact/hooks';
import { useAct } from '../api/act-hook.ts';
import { Problem } from '../api/problem.tsx';
import { momentOf } from '../parts/times.ts';
import { sendItem } from './send-item.ts';
import type { Source, SourceStatus } from './sources-hook.ts';

const SIGNALS: Readonly<Record<SourceStatus, string>> = {
  pending: 'is-wait',
  indexing: 'is-accent',
  indexed: 'is-ok',
  failed: 'is-bad',
  archived: '',
};

/** So many rows at first, and so many more with each press. */
const ROWS_SHOWN = 100;

export interface SourceTableProps {
  readonly app: string;
  readonly sources: readonly Source[];
  readonly onChanged: () => void;
}

export function SourceTable({ app, sources, onChanged }: SourceTableProps) {
  const [shown, show] = useState(ROWS_SHOWN);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys. */}
      <section class="scroll-x" aria-label="Sources" tabIndex={0}>
        <table class="list">
          <thead>
            <tr>
              <th scope="col">Source</th>
              <th scope="col">State</th>
              <th scope="col" class="number">
                Chunks
              </th>
              <th scope="col">From</th>
              <th scope="col">Changed</th>
              <th scope="col">
                <span class="unseen">What can be done</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {sources.slice(0, shown).map((source) => (
              <SourceRow key={source.id} app={app} source={source} onChanged={onChanged} />
            ))}
          </tbody>
        </table>
      </section>
      {sources.length > shown && (
        <div class="card-foot row">
          <button type="button" class="button" onClick={() => show(shown + ROWS_SHOWN)}>
            Show more
          </button>
          <small>
            {shown} of {sources.length.toLocaleString('en')}
          </small>
        </div>
      )}
    </>
  );
}

interface SourceRowProps {
  readonly app: string;
  readonly source: Source;
  readonly onChanged: () => void;
}

function SourceRow({ app, source, onChanged }: SourceRowProps) {
  const act = useAct();
  const { external_key: key, uri, title, status } = source;
  const send = (items: readonly Readonly<Record<string, unknown>>[]) =>
    act.run(async () => {
      for (const item of items) await sendItem(app, item);
      onChanged();
    });
  const link = { external_key: key, kind: 'url', uri, ...(title === '' ? {} : { title }) };
  const archive = { op: 'archive', external_key: key };
  return (
    <tr>
      <th scope="row" class="source">
        <span>{title === '' ? key : title}</span>
        <small>{uri ?? key}</small>
        {source.error !== null && <span class="fault">{source.error}</span>}
        {act.error !== undefined && <Problem error={act.error} />}
      </th>
      <td>
        <span class={`chip ${SIGNALS[status]}`}>{status}</span>
      </td>
      <td class="number">{source.chunks}</td>
      <td>{source.origin}</td>
      <td>{momentOf(source.updated_at)}</td>
      <td class="row-actions">
        {uri !== null && (
          <button
            type="button"
            class="button bare"
            disabled={act.isUnderWay}
            onClick={() => send(status === 'archived' ? [link] : [archive, link])}
          >
            {status === 'archived' ? 'Take back' : 'Read anew'}
            <span class="unseen"> {key}</span>
          </button>
        )}
        {status !== 'archived' && (
          <button type="button" class="button bare" disabled={act.isUnderWay} onClick={() => send([archive])}>
            Archive<span class="unseen"> {key}</span>
          </button>
        )}
      </td>
    </tr>
  );
}
