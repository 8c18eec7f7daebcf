/** Finding a trace: by any id that a log line or an answer has, or among the newest of an app. */

import { useState } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import type { NewestTrace } from '../../../protocol/console/answers.ts';
import { useAsked } from '../api/asked-hook.ts';
import { shortCause } from '../conversations/conversation-table.tsx';
import { Button, Problem } from '../parts/card.tsx';
import { WordedSelect } from '../parts/choices.tsx';
import { StateChip } from '../parts/state-chip.tsx';
import { Scrolling, Table } from '../parts/table.tsx';
import { exactMomentOf, momentOf } from '../parts/times.ts';
import { Page } from '../shell/page.tsx';
import { usd } from '../usage/pace.ts';
import { type AppChoice, findTrace, NAMES, newestAddress, useApps } from './find.ts';

export function TracesPage() {
  const apps = useApps();
  const { query } = useRoute();
  const { route } = useLocation();
  const app = apps?.find(({ id }) => id === query.app) ?? apps?.[0];
  return (
    <Page
      title="Traces"
      facts="Every step that a turn, a call, a setup session, a source, a pairing or an app took, as it was committed."
      actions={<Button label="Open trace file" href="/console/traces/file" />}
    >
      {apps !== undefined && <FindForm apps={apps} />}
      {apps?.length === 0 && <p class="empty">There is no app yet, so nothing was traced.</p>}
      {apps !== undefined && app !== undefined && (
        <>
          <WordedSelect
            look="app-choice"
            before="Newest of"
            value={app.id}
            options={apps.map(({ id, name }) => [id, name])}
            onChange={(id) => route(`/console/traces?app=${id}`, true)}
          />
          <NewestTraces key={app.id} app={app} />
        </>
      )}
    </Page>
  );
}

function FindForm({ apps }: { readonly apps: readonly AppChoice[] }) {
  const { route } = useLocation();
  const [fault, setFault] = useState('');
  const search = async (id: string) => {
    try {
      const address = await findTrace(apps, id);
      if (address === undefined) setFault(`Nothing is kept of ${id}. Traces are deleted when they are old.`);
      else route(address);
    } catch (error) {
      setFault(error instanceof Error ? error.message : 'Looking for it failed.');
    }
  };
  return (
    <form
      class="form find"
      onSubmit={(event) => {
        event.preventDefault();
        const id = String(new FormData(event.currentTarget).get('id') ?? '').trim();
        if (id !== '') void search(id);
      }}
    >
      <label for="find-id">A request id from a log line, or another id</label>
      <div class="find-row">
        <input id="find-id" name="id" class="input mono" autocomplete="off" spellcheck={false} aria-describedby="find-hint find-fault" />
        <button type="submit" class="button primary">
          Show its steps
        </button>
      </div>
      <p id="find-hint" class="field-hint">
        Of a turn, a conversation, a call, a setup session, a source, a pairing or an app, as an answer or a page names it.
      </p>
      <p id="find-fault" class="fault" role="status">
        {fault}
      </p>
    </form>
  );
}

const tookWords = (ms: number) => (ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`);

function Outcome({ state, failure }: NewestTrace) {
  if (state === null) return null;
  return (
    <>
      <StateChip state={state} />
      {failure !== null && <span class="line-note"> {failure.cause === undefined ? failure.message : shortCause(failure.cause)}</span>}
    </>
  );
}

function NewestTraces({ app }: { readonly app: AppChoice }) {
  const { answer, error, reload } = useAsked<{ readonly newest: readonly NewestTrace[] }>(
    `/apps/${encodeURIComponent(app.id)}/traces/newest`,
  );
  if (error !== undefined) return <Problem error={error} retry={reload} />;
  if (answer === undefined) return null;
  if (answer.newest.length === 0) {
    return (
      <p class="empty">Nothing was traced of {app.name} yet. Send it a message, or start a setup session, and its steps appear here.</p>
    );
  }
  return (
    <Scrolling label={`Newest of ${app.name}`} isCard>
      <Table
        look="list stacks"
        rows={answer.newest}
        keyOf={({ machine, instance }) => `${machine} ${instance}`}
        columns={[
          {
            title: 'What it is',
            of: (trace) => (
              <>
                <a class="clipped said-title" href={newestAddress(app.id, trace)}>
                  {trace.words || (NAMES[trace.machine] ?? trace.machine)}
                </a>
                <code class="said-id">{trace.instance}</code>
              </>
            ),
          },
          { title: 'Outcome', of: Outcome },
          { title: 'Took', of: ({ took_ms: took }) => (took === null ? '' : tookWords(took)), look: 'number' },
          { title: 'Cost', of: ({ cost_usd: cost }) => (cost === null ? '' : usd(cost)), look: 'number' },
          {
            title: 'Updated',
            of: ({ at_ms: atMs }) => <time title={exactMomentOf(atMs)}>{momentOf(new Date(atMs).toISOString())}</time>,
          },
        ]}
      />
    </Scrolling>
  );
}
