/** What was said with an app's assistant: the newest conversations, what people thought of answers, and one found by any of its ids. */
import { useState } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import type { ConversationHead, Person } from '../../../protocol/console/answers.ts';
import { useAct } from '../api/act-hook.ts';
import { ask } from '../api/api.ts';
import { type App, appAddress, appPath } from '../app/app.ts';
import { AppPage } from '../app/app-page.tsx';
import { FeedbackList } from './feedback-list.tsx';
import { NewestCard } from './newest-card.tsx';
import { PersonCard } from './person-card.tsx';

const SECTION = 'conversations';

export function ConversationsPage() {
  return <AppPage title="Conversations">{(app) => <Conversations app={app} />}</AppPage>;
}

interface Found {
  readonly conversations: readonly ConversationHead[];
}

/** The address that an id leads to: of a conversation, a request, a turn or a person. @throws ApiError */
async function addressOf(app: string, id: string): Promise<string | undefined> {
  const base = appAddress(app, SECTION);
  const value = encodeURIComponent(id);
  if (id.startsWith('cnv_')) return `${base}/${value}`;
  const { conversations } = await ask<Found>('GET', `${appPath(app)}/conversations?request_id=${value}`);
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
      {view === 'feedback' ? <FeedbackList app={app.id} /> : <NewestCard app={app.id} />}
    </>
  );
}
