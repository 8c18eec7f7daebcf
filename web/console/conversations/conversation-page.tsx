/** A conversation: the thread as the person saw it, beside how each turn went. */

import { useEffect, useRef } from 'preact/hooks';
import { useRoute } from 'preact-iso';
import type { Message, Transcript } from '../../../protocol/console/answers.ts';
import { usePages } from '../api/pages-hook.ts';
import { type App, appAddress } from '../app/app.ts';
import { AppPage } from '../app/app-page.tsx';
import { Button, Card, Problem } from '../parts/card.tsx';
import { signalOf } from './conversations.ts';
import { MessageDrawing } from './message-drawing.tsx';
import { MessageFacts } from './message-facts.tsx';

export function ConversationPage() {
  return <AppPage title="A conversation">{(app) => <Conversation app={app} />}</AppPage>;
}

interface RowProps {
  readonly app: App;
  readonly message: Message;
  readonly isMeant: boolean;
}

function Row({ app, message, isMeant }: RowProps) {
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isMeant) row.current?.scrollIntoView({ block: 'center' });
  }, [isMeant]);
  return (
    <li ref={row} class={isMeant ? 'said-row is-meant' : 'said-row'}>
      <MessageDrawing message={message} />
      <MessageFacts app={app} message={message} />
    </li>
  );
}

function Conversation({ app }: { readonly app: App }) {
  const { params, query } = useRoute();
  const id = params.conversation ?? '';
  const path = `/conversations/${encodeURIComponent(id)}?app=${encodeURIComponent(app.id)}&limit=50`;
  const { pages, next, error, isReading, reload, more } = usePages<Transcript>(path);
  const head = pages[0]?.conversation;
  const base = appAddress(app.id, 'conversations');
  return (
    <>
      <p class="facts">
        <a href={base}>All conversations</a>
        {head !== undefined && (
          <>
            <code class="selectable">{head.id}</code>
            {head.turn_state !== null && <span class={`chip ${signalOf(head.turn_state)}`}>{head.turn_state.replaceAll('_', ' ')}</span>}
            <span>{head.channel === 'live' ? 'live' : 'test'}</span>
            {head.external_user_id !== null && (
              <a href={`${base}?person=${encodeURIComponent(head.external_user_id)}`}>{head.external_user_id}</a>
            )}
            <a href={`/console/traces/${encodeURIComponent(app.id)}?conversation_id=${encodeURIComponent(head.id)}`}>
              All turns, step by step
            </a>
          </>
        )}
      </p>
      <Problem error={error} retry={reload} />
      {head !== undefined && (
        <Card title="What was said" note="personal data as placeholders, as it is stored">
          <ol class="said-rows">
            {pages
              .flatMap((page) => page.messages)
              .map((message) => (
                <Row key={message.id} app={app} message={message} isMeant={query.of === message.id || query.of === message.turn?.turn_id} />
              ))}
          </ol>
          {next !== null && (
            <div class="card-foot">
              <Button label="Show what came after" disabled={isReading} onClick={more} />
            </div>
          )}
        </Card>
      )}
    </>
  );
}
