/** What was said with an app's assistant: the newest conversations, what people thought of answers, and one found by any of its ids. */
import { useState } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import { useAct } from '../api/act-hook.ts';
import { ask } from '../api/api.ts';
import { Problem } from '../api/problem.tsx';
import { type App, appAddress, appPath } from '../app/app.ts';
import { AppPage } from '../app/app-page.tsx';
import { ConversationTable } from './conversation-table.tsx';
import type { ConversationHead } from './conversations.ts';
import { FeedbackList } from './feedback-list.tsx';
import { useNewest } from './newest-hook.ts';
import { type Person, PersonCard } from './person-card.tsx';

const SECTION = 'conversations';

export function ConversationsPage() {
  return <AppPage title="Conversations">{(app) => <Conversations app={app} />}</AppPage>;
}

interface Listed {
  readonly conversations: readonly ConversationHead[];
  readonly next: string | null;
}

/** The address that an id leads to: of a conversation, a request, a turn or a person. @throws ApiError */
async function addressOf(app: string, id: string): Promise<string | undefined> {
  const base = appAddress(app, SECTION);
  const value = encodeURIComponent(id);
  if (id.startsWith('cnv_')) return `${base}/${value}`;
  const { conversations } = await ask<Listed>('GET', `${appPath(app)}/conversations?request_id=${value}`);
  const first = conversations[0];
  if (first !== undefined) return `${base}/${encodeURIComponent(first.id)}?of=${value}`;
  const { end_users: people } = await ask<{ readonly end_users: readonly Person[] }>(
    'GET',
    `${appPath(app)}/end-users?external_user_id=${value}`,
  );
  return people.length === 0 ? undefined : `${base}?person=${value}`;
}

function FindForm({ app }: { readonly app: App }) {
  const { route } = useLocation();
  const [id, type] = useState('');
  const [missing, miss] = useState('');
  const act = useAct();
  const find = () =>
    act.run(async () => {
      const address = await addressOf(app.id, id.trim());
      if (address === undefined) miss(id.trim());
      else route(address);
    });
  return (
    <form
      class="find-by row"
      onSubmit={(event) => {
        event.preventDefault();
        miss('');
        if (id.trim() !== '') find();
      }}
    >
      <input
        class="input mono grows"
        aria-label="Id of a conversation, a request, a turn or a person"
        placeholder="Find by id: conversation, request, turn, or a person as the app names them"
        value={id}
        onInput={(event) => type(event.currentTarget.value)}
      />
      <button type="submit" class="button" disabled={act.isUnderWay}>
        Find
      </button>
      <p class="fault" role="alert">
        {act.error?.message ?? (missing === '' ? '' : `Nothing of this app has the id ${missing}.`)}
      </p>
    </form>
  );
}

function Conversations({ app }: { readonly app: App }) {
  const { query } = useRoute();
  const { route } = useLocation();
  const base = appAddress(app.id, SECTION);
  if (query.person !== undefined) return <PersonCard app={app} name={query.person} />;
  const view = query.view === 'feedback' ? 'feedback' : 'newest';
  return (
    <>
      <FindForm app={app} />
      <nav class="tabs" aria-label="What is listed">
        <a href={base} aria-current={view === 'newest' ? 'page' : undefined}>
          Newest
        </a>
        <a href={`${base}?view=feedback`} aria-current={view === 'feedback' ? 'page' : undefined}>
          What people thought
        </a>
      </nav>
      {view === 'feedback' ? (
        <FeedbackList app={app.id} />
      ) : (
        <Newest app={app.id} channel={query.channel ?? ''} onChannel={(to) => route(to === '' ? base : `${base}?channel=${to}`, true)} />
      )}
    </>
  );
}

interface NewestProps {
  readonly app: string;
  readonly channel: string;
  readonly onChannel: (channel: string) => void;
}

function Newest({ app, channel, onChannel }: NewestProps) {
  const filter = channel === '' ? '' : `&channel=${encodeURIComponent(channel)}`;
  const { pages, next, error, isReading, reload, more } = useNewest<Listed>(`${appPath(app)}/conversations?limit=50${filter}`);
  const conversations = pages.flatMap((page) => page.conversations);
  return (
    <section class="card" aria-label="Conversations">
      <h2>
        The newest first
        <select class="select" aria-label="Of which key" value={channel} onChange={(event) => onChannel(event.currentTarget.value)}>
          <option value="">live and test</option>
          <option value="live">live</option>
          <option value="sandbox">test</option>
        </select>
      </h2>
      {error !== undefined && <Problem error={error} retry={reload} />}
      {pages.length > 0 && conversations.length === 0 && (
        <p class="card-empty">Nobody has said anything yet. Say something with a test key, and it stands here a moment later.</p>
      )}
      {conversations.length > 0 && <ConversationTable app={app} conversations={conversations} />}
      {next !== null && (
        <div class="card-foot">
          <button type="button" class="button" disabled={isReading} onClick={more}>
            Show older
          </button>
        </div>
      )}
    </section>
  );
}
