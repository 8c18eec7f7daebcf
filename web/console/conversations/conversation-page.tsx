/** A conversation: the thread as the person saw it, beside how each turn went. */

import { h, render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useRoute } from 'preact-iso';
import type { Message, Transcript } from '../../../protocol/console/answers.ts';
import { widgetSheets } from '../../sdk/look/sheets.ts';
import { useStore } from '../../sdk/store-hook.ts';
import { Answer } from '../../sdk/thread/answer.tsx';
import { Said } from '../../sdk/thread/message.tsx';
import { usePages } from '../api/pages-hook.ts';
import type { App } from '../app/app.ts';
import { AppPage } from '../app/app-page.tsx';
import { Button, Card, Problem } from '../parts/card.tsx';
import { StateChip } from '../parts/state-chip.tsx';
import { momentOf } from '../parts/times.ts';
import { quietScene } from '../preview/preview-scene.ts';
import { chosenTheme } from '../shell/theme.ts';
import { Person } from './conversation-table.tsx';
import { MessageFacts } from './message-facts.tsx';

const PLACE_CSS = `
  :host { display: block !important; }
  .message { font: 400 calc(14.5px * var(--scale)) / 1.5 var(--font); color: var(--ink); display: grid; }
`;

let sheets: CSSStyleSheet[] | undefined;

function wordsOf({ blocks }: Message): string {
  return blocks.flatMap(({ body, fallback_text: fallback }) => (typeof body.md === 'string' ? body.md : (fallback ?? []))).join('\n');
}

function drawn(message: Message) {
  const { around, words } = quietScene();
  if (message.role === 'user') {
    const files = (message.attachments ?? []).map(({ media_type: type, size }) => ({
      name: `${type}, ${size.toLocaleString('en')} bytes`,
    }));
    return h(Said, { text: wordsOf(message), files, label: words.you });
  }
  const blocks = message.blocks.map((block) => ({
    phase: 'ready' as const,
    index: block.index,
    id: block.id,
    blockType: block.block_type,
    block,
  }));
  const failure = message.turn?.failure;
  return h(
    'article',
    { class: 'answer' },
    h(Answer, { blocks, around, answers: new Map(), calls: [], isNewest: false }),
    failure != null && h('div', { class: 'trouble' }, h('p', null, failure.message)),
  );
}

function MessageDrawing({ message }: { readonly message: Message }) {
  const place = useRef<HTMLDivElement>(null);
  const theme = useStore(chosenTheme, (context) => context.theme);
  useEffect(() => {
    const host = place.current;
    if (host === null) return undefined;
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    sheets ??= widgetSheets(PLACE_CSS);
    root.adoptedStyleSheets = sheets;
    render(h('div', { class: 'message' }, drawn(message)), root);
    return () => render(null, root);
  }, [message]);
  return <div ref={place} class="message-drawing" data-scheme={theme} />;
}

/** Its title is what was asked first. */
export function ConversationPage() {
  const { params } = useRoute();
  const path = `/conversations/${encodeURIComponent(params.conversation ?? '')}?app=${encodeURIComponent(params.app ?? '')}&limit=50`;
  const read = usePages<Transcript>(path);
  const head = read.pages[0]?.conversation;
  return (
    <AppPage
      title={head?.title || 'A conversation'}
      {...(head?.turn_state != null && {
        state: <StateChip state={head.turn_state} />,
      })}
      above={[{ label: 'Conversations', section: 'conversations' }]}
    >
      {(app) => <Conversation app={app} {...read} />}
    </AppPage>
  );
}

function Row({ app, message, isMeant }: { readonly app: App; readonly message: Message; readonly isMeant: boolean }) {
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

type ConversationProps = ReturnType<typeof usePages<Transcript>> & { readonly app: App };

function Conversation({ app, pages, next, error, isReading, reload, more }: ConversationProps) {
  const { query } = useRoute();
  const head = pages[0]?.conversation;
  return (
    <>
      {head !== undefined && (
        <p class="facts">
          <Person app={app.id} head={head} />
          <span>{head.channel === 'live' ? 'by a live key' : 'by a test key'}</span>
          <span>{momentOf(head.created_at)}</span>
          <a href={`/console/traces/${encodeURIComponent(app.id)}?conversation_id=${encodeURIComponent(head.id)}`}>
            All turns, step by step
          </a>
          <code class="selectable quiet">{head.id}</code>
        </p>
      )}
      <Problem error={error} retry={reload} />
      {head !== undefined && (
        <Card title="What was said" note="personal data as placeholders, as it is stored">
          <ol class="said-rows">
            {pages
              .flatMap((page) => page.messages)
              .map((message) => (
                <Row
                  key={message.id}
                  app={app}
                  message={message}
                  isMeant={query.of !== undefined && (query.of === message.id || query.of === message.turn?.turn_id)}
                />
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
