/** Sources as rows: what state each is in, what went wrong with it, and what can be done. */

import { useState } from 'preact/hooks';
import type { Source } from '../../../protocol/console/setup-answers.ts';
import { useAct } from '../api/act-hook.ts';
import { type ApiError, asApiError } from '../api/request.ts';
import { NONE } from '../overview/glance-parts.tsx';
import { Button, Problem } from '../parts/card.tsx';
import { StateChip } from '../parts/state-chip.tsx';
import { Scrolling, Table, UNSEEN_TITLE } from '../parts/table.tsx';
import { momentOf } from '../parts/times.ts';
import { sendItem } from './add-source.tsx';

const KINDS: Readonly<Record<Source['kind'], string>> = { url: 'link', text: 'text' };

/** Who put it there. */
const ORIGINS: Readonly<Record<string, string>> = {
  console: 'added here',
  setup: 'by the agent',
  proposal: 'by a proposal',
  intake: 'known before setup',
  demo: 'of the demo',
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
          look="list stacks"
          rows={sources.slice(0, shown)}
          keyOf={({ id }) => id}
          columns={[
            { title: 'Source', of: (source) => <SourceName source={source} error={failed[source.id]} />, look: () => 'source' },
            { title: 'State', of: ({ status }) => <StateChip state={status} /> },
            { title: 'Passages', of: ({ chunks }) => (chunks === 0 ? NONE : chunks.toLocaleString('en')), look: 'number' },
            { title: 'From', of: ({ kind, origin }) => `${KINDS[kind]}, ${ORIGINS[origin] ?? origin}` },
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
      {(uri ?? key) !== (title === '' ? key : title) && <small>{uri ?? key}</small>}
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
