/** What one asked before (WIDGET-21): the caller's own conversations, newest first, found by their first words, and opened again. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ConversationReply } from '../../../../protocol/runtime/conversations.ts';
import { Glyph } from '../../blocks/parts/icon.tsx';
import { laterWords } from '../../later-words.ts';
import conversationsCss from '../../look/conversations.css';
import type { Scene } from '../../scene.ts';

export const LATER_CSS = conversationsCss;

/** The service lists and does not search: as many are read for a search as a person may remember. Ten pages. */
const SEARCHED_MAX = 500;
const BACK = 'M15 6l-6 6 6 6';

function useList({ assistant }: Scene, isSearching: boolean) {
  const [list, setList] = useState<readonly ConversationReply[]>([]);
  const [hasMore, setMore] = useState(true);
  const [phase, setPhase] = useState<'reading' | 'read' | 'failed'>('reading');
  const isOver = useRef(false);
  const read = async () => {
    setPhase('reading');
    try {
      const page = await assistant.list(list.at(-1)?.conversation_id);
      if (isOver.current) return;
      // One that was gone on with meanwhile is there already.
      setList([...list, ...page.conversations.filter((each) => list.every((known) => known.conversation_id !== each.conversation_id))]);
      setMore(page.has_more);
      setPhase('read');
    } catch {
      if (!isOver.current) setPhase('failed');
    }
  };
  useEffect(() => {
    void read();
    return () => {
      isOver.current = true;
    };
  }, []);
  useEffect(() => {
    if (isSearching && phase === 'read' && hasMore && list.length < SEARCHED_MAX) void read();
  }, [isSearching, phase, list]);
  const forget = (id: string) => setList((now) => now.filter((each) => each.conversation_id !== id));
  return { list, hasMore, phase, read, forget };
}

function When({ at, locale }: { readonly at: string; readonly locale: string }) {
  const time = new Date(at);
  const isToday = time.toDateString() === new Date().toDateString();
  return <time dateTime={at}>{time.toLocaleString(locale, isToday ? { timeStyle: 'short' } : { dateStyle: 'medium' })}</time>;
}

const BIN = 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10.5 11v5M13.5 11v5';

/** Deletes a conversation with its second press. */
function Erase({ scene, id, onGone }: { readonly scene: Scene; readonly id: string; readonly onGone: () => void }) {
  const words = laterWords(scene.words);
  const [isAsking, setAsking] = useState(false);
  const press = () => {
    if (isAsking) scene.assistant.erase(id).then(onGone, () => setAsking(false));
    else setAsking(true);
  };
  const label = isAsking ? words.eraseForGood : words.erase;
  return (
    <button type="button" class="past-erase" aria-label={label} title={label} onClick={press} onBlur={() => setAsking(false)}>
      {isAsking ? words.eraseForGood : <Glyph path={BIN} />}
    </button>
  );
}

interface ConversationsProps {
  readonly scene: Scene;
  /** `isOther`: to another conversation than before. */
  readonly onBack: (isOther: boolean) => void;
}

export function Conversations({ scene, onBack }: ConversationsProps) {
  const { around, assistant } = scene;
  const words = laterWords(scene.words);
  const [query, setQuery] = useState('');
  const search = useRef<HTMLInputElement>(null);
  const wanted = query.trim().toLocaleLowerCase();
  const { list, hasMore, phase, read, forget } = useList(scene, wanted !== '');
  const found = wanted === '' ? list : list.filter(({ title }) => title.toLocaleLowerCase().includes(wanted));
  const current = assistant.conversation.store.get().context.conversationId;
  useLayoutEffect(() => search.current?.focus(), []);
  const open = (id: string) => {
    if (id !== current) assistant.open(id);
    onBack(id !== current);
  };
  const gone = (id: string) => {
    forget(id);
    search.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    onBack(false);
  };
  const nothing = wanted === '' ? words.noConversations : words.noMatch.replace('{count}', String(list.length));
  return (
    <section class="past" aria-labelledby="past-title" onKeyDown={onKeyDown}>
      <div class="header">
        <button type="button" class="round is-back" aria-label={around.words.back} title={around.words.back} onClick={() => onBack(false)}>
          <Glyph path={BACK} />
        </button>
        <h2 id="past-title">{words.conversations}</h2>
      </div>
      <input
        ref={search}
        type="search"
        dir="auto"
        aria-label={words.search}
        placeholder={words.search}
        value={query}
        onInput={({ currentTarget }) => setQuery(currentTarget.value)}
      />
      <ul>
        {found.map(({ conversation_id: id, title, updated_at: at }) => (
          <li key={id}>
            <button type="button" class="past-one" aria-current={id === current} onClick={() => open(id)}>
              <span dir="auto">{title === '' ? words.untitled : title}</span>
              <When at={at} locale={around.locale} />
            </button>
            <Erase scene={scene} id={id} onGone={() => gone(id)} />
          </li>
        ))}
      </ul>
      <p role="status">{phase === 'reading' ? words.loadingEarlier : phase === 'read' && found.length === 0 ? nothing : ''}</p>
      {phase === 'failed' ? (
        <p role="alert">
          {words.listFailed}{' '}
          <button type="button" class="text-button" onClick={() => void read()}>
            {words.retry}
          </button>
        </p>
      ) : null}
      {phase === 'read' && hasMore && wanted === '' ? (
        <button type="button" class="text-button" onClick={() => void read()}>
          {around.words.more}
        </button>
      ) : null}
    </section>
  );
}
