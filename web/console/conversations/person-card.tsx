/** A person of an app as it names them: their conversations, what is kept of them as a file, and erasing them. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { ConversationHead, Person } from '../../../protocol/console/answers.ts';
import { useAct } from '../api/act-hook.ts';
import { ask } from '../api/api.ts';
import { useAsked } from '../api/asked-hook.ts';
import { type App, appAddress, appPath } from '../app/app.ts';
import { Button, Problem } from '../parts/card.tsx';
import { ConfirmByName } from '../parts/confirm-by-name.tsx';
import { saveFile } from '../parts/copy-button.tsx';
import { dayOf } from '../parts/times.ts';
import { toast } from '../shell/toasts.tsx';
import { ConversationTable } from './conversation-table.tsx';

export function PersonCard({ app, name }: { readonly app: App; readonly name: string }) {
  const path = `${appPath(app.id)}/end-users?external_user_id=${encodeURIComponent(name)}`;
  const { answer, error, reload } = useAsked<{ readonly end_users: readonly Person[] }>(path);
  return (
    <>
      <p class="more">
        <a href={appAddress(app.id, 'conversations')}>All conversations</a>
      </p>
      <Problem error={error} retry={reload} />
      {answer?.end_users.length === 0 && <p class="empty">The app has nobody of the name {name}.</p>}
      {answer?.end_users.map((person) => (
        <OnePerson key={person.id} app={app} person={person} />
      ))}
    </>
  );
}

function OnePerson({ app, person }: { readonly app: App; readonly person: Person }) {
  const { route } = useLocation();
  const own = `${appPath(app.id)}/end-users/${encodeURIComponent(person.id)}`;
  const conversations = useAsked<{ readonly conversations: readonly ConversationHead[]; readonly next: string | null }>(
    `${appPath(app.id)}/conversations?limit=200&end_user_id=${encodeURIComponent(person.id)}`,
  );
  const [isErasing, startErasing] = useState(false);
  const act = useAct();
  const save = () => act.run(async () => saveFile(`${person.id}.json`, JSON.stringify(await ask('GET', `${own}/export`), undefined, 2)));
  const erase = async () => {
    const { conversations: count } = await ask<{ readonly conversations: number }>('DELETE', own);
    toast(`${person.external_user_id} is erased, with ${count} conversations.`);
    route(appAddress(app.id, 'conversations'));
  };
  return (
    <section class="card" aria-label={person.external_user_id}>
      <h2>
        {person.external_user_id}
        <small>
          {person.channel}, {person.verified ? 'verified by a signature' : 'never verified'}, since {dayOf(person.created_at)}
        </small>
      </h2>
      <Problem error={act.error} />
      <div class="card-body row">
        <Button label="Save what is kept" disabled={act.isUnderWay} onClick={save} />
        <Button label="Erase…" look="danger" onClick={() => startErasing(true)} />
      </div>
      <Problem error={conversations.error} retry={conversations.reload} />
      {conversations.answer !== undefined && <ConversationTable app={app.id} conversations={conversations.answer.conversations} />}
      {isErasing && (
        <ConfirmByName
          title={`Erase ${person.external_user_id}`}
          name={person.external_user_id}
          verb="Erase the person"
          onConfirm={erase}
          onClose={() => startErasing(false)}
        >
          Their record, conversations, files, thumbs and ratings are gone, on disk too. What was spent stays in the usage, which names
          nobody. Older backups still hold them.
        </ConfirmByName>
      )}
    </section>
  );
}
