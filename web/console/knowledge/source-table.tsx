/** Sources as rows: what state each is in, what went wrong with it, and what can be done. */

import { useState } from 'preact/hooks';
import type { Source, SourceStatus } from '../../../protocol/console/setup-answers.ts';
import { useAct } from '../api/act-hook.ts';
import { type ApiError, asApiError } from '../api/request.ts';
import { Button, Problem } from '../parts/card.tsx';
import { Scrolling, Table, UNSEEN_TITLE } from '../parts/table.tsx';
import { momentOf } from '../parts/times.ts';
import { sendItem } from './add-source.tsx';

const SIGNALS: Readonly<Record<SourceStatus, string>> = {
  pending: 'is-wait',
  indexing: 'is-accent',
  indexed: 'is-ok',
  failed: 'is-bad',
  archived: '',
};

/** So many rows at first, and so many more with each press. */
const ROWS_SHOWN = 100;

interface SourceTableProps {
  readonly app: string;
  readonly sources: readonly Source[];
  readonly onChanged: () => void;
}

export function SourceTable({ app, sources, onChanged }: SourceTableProps) {
  const [shown, show] = useState(ROWS_SHOWN);
  const [failed, fail] = useState<Readonly<Record<string, ApiError | undefined>>>({});
  return (
    <>
      <Scrolling label="Sources">
        <Table
          rows={sources.slice(0, shown)}
          keyOf={({ id }) => id}
          columns={[
            { title: 'Source', of: (source) => <SourceName source={source} error={failed[source.id]} />, look: () => 'source' },
            { title: 'State', of: ({ status }) => <span class={`chip ${SIGNALS[status]}`}>{status}</span> },
            { title: 'Chunks', of: ({ chunks }) => chunks, look: 'number' },
            { title: 'From', of: ({ origin }) => origin },
            { title: 'Changed', of: (source) => momentOf(source.updated_at) },
            {
              title: UNSEEN_TITLE,
              of: (source) => {
                const onFailed = (error: ApiError | undefined) => fail((before) => ({ ...before, [source.id]: error }));
                return <SourceActs app={app} source={source} onChanged={onChanged} onFailed={onFailed} />;
              },
              look: () => 'row-actions',
            },
          ]}
        />
      </Scrolling>
      {sources.length > shown && (
        <div class="card-foot row">
          <Button label="Show more" onClick={() => show(shown + ROWS_SHOWN)} />
          <small>
            {shown} of {sources.length.toLocaleString('en')}
          </small>
        </div>
      )}
    </>
  );
}

function SourceName({
  source: { title, external_key: key, uri, error },
  error: fault,
}: {
  readonly source: Source;
  readonly error: ApiError | undefined;
}) {
  return (
    <>
      <span>{title === '' ? key : title}</span>
      <small>{uri ?? key}</small>
      {error !== null && <span class="fault">{error}</span>}
      <Problem error={fault} />
    </>
  );
}

interface SourceActsProps {
  readonly app: string;
  readonly source: Source;
  readonly onChanged: () => void;
  /** Undefined: it worked, or is tried again. */
  readonly onFailed: (error: ApiError | undefined) => void;
}

function SourceActs({ app, source, onChanged, onFailed }: SourceActsProps) {
  const act = useAct();
  const { external_key: key, uri, title, status } = source;
  const send = (items: readonly Readonly<Record<string, unknown>>[]) =>
    act.run(async () => {
      onFailed(undefined);
      try {
        for (const item of items) await sendItem(app, item);
        onChanged();
      } catch (error) {
        onFailed(asApiError(error));
      }
    });
  const link = { external_key: key, kind: 'url', uri, ...(title === '' ? {} : { title }) };
  const archive = { op: 'archive', external_key: key };
  return (
    <>
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
    </>
  );
}
