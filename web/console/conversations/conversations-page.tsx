/** What was said with an app's assistant: the newest conversations, what people thought of answers, and one found by any of its ids. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import type { ConversationHead, Opinion, Opinions, Person } from '../../../protocol/console/answers.ts';
import { useAct } from '../api/act-hook.ts';
import { ask } from '../api/api.ts';
import { usePages } from '../api/pages-hook.ts';
import { type App, appAddress, appPath } from '../app/app.ts';
import { AppPage } from '../app/app-page.tsx';
import { Problem } from '../parts/card.tsx';
import { More } from '../parts/form.tsx';
import { StateChip } from '../parts/state-chip.tsx';
import { momentOf } from '../parts/times.ts';
import { ConversationTable } from './conversation-table.tsx';
import { addressWith, choicesOf, questionOf } from './filter.ts';
import { FilterBar } from './filter-bar.tsx';
import { PersonCard } from './person-card.tsx';

function Mark({ opinion }: { readonly opinion: Opinion }) {
  if (opinion.kind === 'rating') return <span class="chip is-accent">rated {opinion.value}</span>;
  return <StateChip state={opinion.rating === 1 ? 'helpful' : 'not_helpful'} />;
}

function FeedbackList({ app }: { readonly app: string }) {
  const { pages, next, error, isReading, reload, more } = usePages<Opinions>(`${appPath(app)}/feedback?limit=50`);
  const opinions = pages.flatMap((page) => page.feedback);
  return (
    <section class="card" aria-label="What people thought">
      <Problem error={error} retry={reload} />
      {pages.length > 0 && opinions.length === 0 && (
        <p class="card-empty">
          Nothing yet. Thumbs under answers are switched on in <a href={appAddress(app, 'appearance')}>Appearance</a>.
        </p>
      )}
      <ul class="lines">
        {opinions.map((opinion) => (
          <li key={`${opinion.message_id} ${opinion.updated_at} ${opinion.kind}`} class="line">
            <Mark opinion={opinion} />
            <span class="line-text">{opinion.reason ?? opinion.comment ?? <span class="line-note">without a word</span>}</span>
            <small>{opinion.channel === 'live' ? 'live' : 'test'}</small>
            <small>{momentOf(opinion.updated_at)}</small>
            <a
              href={`${appAddress(app, 'conversations')}/${encodeURIComponent(opinion.conversation_id)}?of=${encodeURIComponent(opinion.message_id)}`}
            >
              What was said
            </a>
          </li>
        ))}
      </ul>
      <More next={next} isReading={isReading} more={more} />
    </section>
  );
}

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

interface FindProps {
  readonly app: string;
  readonly words: string | undefined;
  readonly onWords: (words: string) => void;
}

/** One field for both: what is no id of anything is looked for in first questions. */
function FindForm({ app, words = '', onWords }: FindProps) {
  const { route } = useLocation();
  const [text, type] = useState(words);
  const act = useAct();
  const find = (wanted: string) =>
    act.run(async () => {
      const address = wanted === '' || /\s/.test(wanted) ? undefined : await addressOf(app, wanted);
      if (address === undefined) onWords(wanted);
      else route(address);
    });
  return (
    <form
      class="find-by"
      onSubmit={(event) => {
        event.preventDefault();
        find(text.trim());
      }}
    >
      <input
        class="input"
        type="search"
        aria-label="Find by words of the first question, or by any id"
        placeholder="Words of the first question, or any id"
        value={text}
        onInput={(event) => type(event.currentTarget.value)}
      />
      <p class="fault" role="alert">
        {act.error?.message}
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

interface Listed {
  readonly conversations: readonly ConversationHead[];
  readonly next: string | null;
}

/** A page of what is rare may be empty: reading goes on by itself until so many are found, */
const ENOUGH = 20;
/** or so many pages are read, each of which looks through 5,000 conversations at most. */
const READ_AT_ONCE_MAX = 20;

function useConversations(app: string, question: string) {
  const list = usePages<Listed>(`${appPath(app)}/conversations?limit=50${question}`);
  const conversations = list.pages.flatMap((page) => page.conversations);
  const { next, isReading, error, more } = list;
  // While other choices are read, what was shown stays, so that the page does not jump.
  const shown = useRef<readonly ConversationHead[]>([]);
  const isPassing = list.pages.length === 0 && error === undefined;
  if (!isPassing) shown.current = conversations;
  const goesOn = next !== null && error === undefined && conversations.length < ENOUGH && list.pages.length < READ_AT_ONCE_MAX;
  useEffect(() => {
    if (goesOn && !isReading) more();
  });
  return { ...list, conversations: shown.current, isPassing, goesOn };
}

interface NothingProps {
  readonly isChosen: boolean;
  readonly isLooking: boolean;
  readonly hasOlder: boolean;
}

function Nothing({ isChosen, isLooking, hasOlder }: NothingProps) {
  if (isLooking) return <p class="card-empty">None so far. Looking further back…</p>;
  if (hasOlder) return <p class="card-empty">None so far. There are older ones, which were not looked through yet.</p>;
  if (isChosen) return <p class="card-empty">None is like that.</p>;
  return <p class="card-empty">Nobody has said anything yet. Say something with a test key, and it stands here a moment later.</p>;
}

function NewestCard({ app }: { readonly app: string }) {
  const { query } = useRoute();
  const { route } = useLocation();
  const choices = choicesOf(query);
  const key = JSON.stringify(choices);
  // The span ends when it was chosen; a list that moved with each drawing would be read again and again.
  const question = useMemo(() => questionOf(choices, Date.now()), [key]);
  const { conversations, isPassing, next, error, isReading, goesOn, reload, more } = useConversations(app, question);
  const base = appAddress(app, 'conversations');
  return (
    <section class="card" aria-label="Conversations">
      <FilterBar base={base} choices={choices}>
        <FindForm
          key={choices.words}
          app={app}
          words={choices.words}
          onWords={(words) => route(addressWith(base, { ...choices, words }))}
        />
      </FilterBar>
      <Problem error={error} retry={reload} />
      {!isPassing && conversations.length === 0 && error === undefined && (
        <Nothing isChosen={question !== ''} isLooking={goesOn} hasOlder={next !== null} />
      )}
      {conversations.length > 0 && (
        <div class={isPassing ? 'is-passing' : undefined} aria-busy={isPassing}>
          <ConversationTable app={app} conversations={conversations} />
        </div>
      )}
      <More next={next} isReading={isReading} more={more} />
    </section>
  );
}
