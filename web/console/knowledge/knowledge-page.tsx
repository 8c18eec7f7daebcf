/** What an app's assistant knows: its sources with their state, a new one, and what would be read for a question. */

import { useState } from 'preact/hooks';
import { useRoute } from 'preact-iso';
import type { Source, SourceStatus } from '../../../protocol/console/setup-answers.ts';
import { ask } from '../api/api.ts';
import { type Asked, useAsked } from '../api/asked-hook.ts';
import { type App, appPath } from '../app/app.ts';
import { AppPage } from '../app/app-page.tsx';
import { Button, Card, Problem } from '../parts/card.tsx';
import { Select } from '../parts/choices.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { stateWords } from '../parts/states.ts';
import { replaceAddress } from '../shell/address.ts';
import { AddSource } from './add-source.tsx';
import { SearchCard } from './search-card.tsx';
import { SourceTable } from './source-table.tsx';

interface SourcePage {
  readonly sources: readonly Source[];
  readonly next: string | null;
}

const PAGE = 200;
/** An app has 10,000 at most; all of them are in the browser, so that finding one takes no request. */
const PAGES_MAX = 50;
const LOOK_AGAIN_MS = 2_000;

async function readAll(app: string, signal: AbortSignal, onPage: (sources: readonly Source[]) => void): Promise<readonly Source[]> {
  const sources: Source[] = [];
  let after = '';
  for (let page = 0; page < PAGES_MAX; page++) {
    const path = `${appPath(app)}/knowledge?limit=${PAGE}${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`;
    const answer = await ask<SourcePage>('GET', path, undefined, signal);
    sources.push(...answer.sources);
    if (answer.next === null) break;
    onPage([...sources]);
    after = answer.next;
  }
  return sources;
}

function isOnItsWay({ status }: Source): boolean {
  return status === 'pending' || status === 'indexing';
}

/** Those that were shown before stay until all are read anew. */
function useSources(app: string): Asked<readonly Source[]> {
  return useAsked<readonly Source[]>(`${appPath(app)}/knowledge`, {
    read: (signal, show) => readAll(app, signal, show),
    againMs: (sources) => (sources?.some(isOnItsWay) === true ? LOOK_AGAIN_MS : undefined),
  });
}

const STATUSES: readonly SourceStatus[] = ['indexed', 'pending', 'indexing', 'failed', 'archived'];

export function KnowledgePage() {
  const { query } = useRoute();
  const [isAdding, setAdding] = useState(query.add !== undefined);
  // In the address, so that what is being typed is there again after a reload.
  const open = (isOpen: boolean) => {
    setAdding(isOpen);
    replaceAddress({ add: isOpen ? 'source' : undefined });
  };
  return (
    <AppPage
      title="Knowledge"
      facts="What the assistant answers from. Ask as a person would, and see what it would read."
      actions={<Button label="Add a source" look="primary" onClick={() => open(true)} />}
    >
      {(app) => <Knowledge app={app} isAdding={isAdding} open={open} />}
    </AppPage>
  );
}

function matches(source: Source, words: string, status: string): boolean {
  if (status !== '' && source.status !== status) return false;
  const text = `${source.title} ${source.uri ?? ''} ${source.external_key}`.toLowerCase();
  return text.includes(words.trim().toLowerCase());
}

function counted(sources: readonly Source[], status: SourceStatus): number {
  return sources.filter((source) => source.status === status).length;
}

interface KnowledgeProps {
  readonly app: App;
  readonly isAdding: boolean;
  readonly open: (isOpen: boolean) => void;
}

function Knowledge({ app, isAdding, open }: KnowledgeProps) {
  const { query } = useRoute();
  const { answer: sources, error, reload } = useSources(app.id);
  const [words, type] = useState(query.find ?? '');
  const [status, choose] = useState(query.status ?? '');
  const found = sources?.filter((source) => matches(source, words, status)) ?? [];
  return (
    <>
      <Problem error={error} retry={reload} />
      {sources !== undefined && sources.length > 0 && (
        <>
          <SearchCard app={app.id} />
          <Card title="Sources" label="What it knows" note={sources.length.toLocaleString('en')}>
            <search class="filter-bar">
              <input
                class="input grows"
                type="search"
                aria-label="Find a source"
                placeholder="Find by title, address or name"
                value={words}
                onInput={(event) => {
                  type(event.currentTarget.value);
                  replaceAddress({ find: event.currentTarget.value || undefined });
                }}
              />
              <Select
                label="State"
                value={status}
                options={[
                  ['', 'all states'],
                  ...STATUSES.map((each) => [each, `${stateWords(each)} (${counted(sources, each)})`] as const),
                ]}
                onChange={(to) => {
                  choose(to);
                  replaceAddress({ status: to || undefined });
                }}
              />
            </search>
            {found.length === 0 ? (
              <p class="card-empty">None is like that.</p>
            ) : (
              <SourceTable app={app.id} sources={found} onChanged={reload} />
            )}
          </Card>
        </>
      )}
      {sources?.length === 0 && (
        <section class="empty">
          <h2>It knows nothing yet</h2>
          <p>
            The assistant answers from what stands here, and says so when nothing does. Setup adds the pages that it finds; begin by hand
            with the page that people ask about most.
          </p>
          <Button label="Add the first source" onClick={() => open(true)} />
        </section>
      )}
      {isAdding && (
        <Dialog title="Add a source" onClose={() => open(false)}>
          <AddSource
            app={app.id}
            onAdded={() => {
              open(false);
              reload();
            }}
          />
        </Dialog>
      )}
    </>
  );
}
