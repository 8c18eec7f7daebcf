/** The conversations that the choices keep, the newest first. */

import { useEffect, useMemo, useRef } from 'preact/hooks';
import { useRoute } from 'preact-iso';
import type { ConversationHead } from '../../../protocol/console/answers.ts';
import { usePages } from '../api/pages-hook.ts';
import { appAddress, appPath } from '../app/app.ts';
import { Card, Problem } from '../parts/card.tsx';
import { More } from '../parts/form.tsx';
import { ConversationTable } from './conversation-table.tsx';
import { choicesOf, questionOf } from './filter.ts';
import { FilterBar } from './filter-bar.tsx';

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

function Nothing({ isChosen, isLooking }: { readonly isChosen: boolean; readonly isLooking: boolean }) {
  if (isLooking) return <p class="card-empty">None so far. Looking further back…</p>;
  if (isChosen) return <p class="card-empty">None is like that.</p>;
  return <p class="card-empty">Nobody has said anything yet. Say something with a test key, and it stands here a moment later.</p>;
}

export function NewestCard({ app }: { readonly app: string }) {
  const { query } = useRoute();
  const choices = choicesOf(query);
  const key = JSON.stringify(choices);
  // The span ends when it was chosen; a list that moved with each drawing would be read again and again.
  const question = useMemo(() => questionOf(choices, Date.now()), [key]);
  const { conversations, isPassing, next, error, isReading, goesOn, reload, more } = useConversations(app, question);
  return (
    <Card title="The newest first" label="Conversations">
      <FilterBar base={appAddress(app, 'conversations')} choices={choices} />
      <Problem error={error} retry={reload} />
      {!isPassing && conversations.length === 0 && error === undefined && <Nothing isChosen={question !== ''} isLooking={goesOn} />}
      {conversations.length > 0 && (
        <div class={isPassing ? 'is-passing' : undefined} aria-busy={isPassing}>
          <ConversationTable app={app} conversations={conversations} />
        </div>
      )}
      <More next={next} isReading={isReading} more={more} />
    </Card>
  );
}
