/** What an app's assistant knows: its sources with their state, a new one, and what would be read for a question. */

import { useState } from 'preact/hooks';
import { useRoute } from 'preact-iso';
import type { Source, SourceStatus } from '../../../protocol/console/setup-answers.ts';
import type { App } from '../app/app.ts';
import { AppPage } from '../app/app-page.tsx';
import { Card, Problem } from '../parts/card.tsx';
import { Select } from '../parts/choices.tsx';
import { replaceAddress } from '../shell/address.ts';
import { AddSource } from './add-source.tsx';
import { SearchCard } from './search-card.tsx';
import { SourceTable } from './source-table.tsx';
import { useSources } from './sources-hook.ts';

const STATUSES: readonly SourceStatus[] = ['indexed', 'pending', 'indexing', 'failed', 'archived'];

export function KnowledgePage() {
  return <AppPage title="Knowledge">{(app) => <Knowledge app={app} />}</AppPage>;
}

function matches(source: Source, words: string, status: string): boolean {
  if (status !== '' && source.status !== status) return false;
  const text = `${source.title} ${source.uri ?? ''} ${source.external_key}`.toLowerCase();
  return text.includes(words.trim().toLowerCase());
}

function counted(sources: readonly Source[], status: SourceStatus): number {
  return sources.filter((source) => source.status === status).length;
}

function Knowledge({ app }: { readonly app: App }) {
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
            <div class="card-form is-wide row">
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
                options={[['', 'all states'], ...STATUSES.map((each) => [each, `${each} (${counted(sources, each)})`] as const)]}
                onChange={(to) => {
                  choose(to);
                  replaceAddress({ status: to || undefined });
                }}
              />
            </div>
            {found.length === 0 ? (
              <p class="card-empty">None is like that.</p>
            ) : (
              <SourceTable app={app.id} sources={found} onChanged={reload} />
            )}
          </Card>
        </>
      )}
      {sources !== undefined && (
        <Card title={sources.length === 0 ? 'Add the first source' : 'Add a source'} label="Add a source">
          <div class="card-form">
            {sources.length === 0 && (
              <p class="hint">
                The assistant answers from what stands here, and says so when nothing does. Setup adds the pages that it finds; begin by
                hand with the page that people ask about most.
              </p>
            )}
            <AddSource app={app.id} onAdded={reload} />
          </div>
        </Card>
      )}
    </>
  );
}
