/** The palette once it is open: one field, and below it what it finds. Up, down and Enter choose. */

import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useStore } from '../../sdk/store-hook.ts';
import { useAct } from '../api/act-hook.ts';
import { ask } from '../api/api.ts';
import { appPath } from '../app/app.ts';
import { openedApp } from '../app/app-store.ts';
import { Problem } from '../parts/card.tsx';
import { useApps } from '../traces/app-hook.ts';
import { addressOf, type ConversationChoice, entriesOf, foundIn, type PaletteEntry } from './palette-entries.ts';

const CONVERSATIONS_READ = 20;

const KINDS: Readonly<Record<PaletteEntry['kind'], string>> = { page: 'page', app: 'app', conversation: 'conversation', id: 'id' };

function useConversations(app: string | undefined): readonly ConversationChoice[] {
  const [found, hold] = useState<readonly ConversationChoice[]>([]);
  useEffect(() => {
    if (app === undefined) return undefined;
    const aborted = new AbortController();
    ask<{ readonly conversations: readonly ConversationChoice[] }>(
      'GET',
      `${appPath(app)}/conversations?limit=${CONVERSATIONS_READ}`,
      undefined,
      aborted.signal,
    ).then(
      ({ conversations }) => hold(conversations),
      // Without them the palette finds everything else.
      () => undefined,
    );
    return () => aborted.abort();
  }, [app]);
  return found;
}

export function PaletteDialog({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useId();
  const { path, route } = useLocation();
  const [text, type] = useState('');
  const [at, setAt] = useState(0);
  // Keys may come faster than pictures: what they choose from is what was typed, and not what was drawn.
  const latest = useRef(0);
  const move = (to: number) => {
    latest.current = to;
    setAt(to);
  };
  const [fault, setFault] = useState('');
  const act = useAct();
  const known = useApps();
  const apps = known ?? [];
  const [wanted, want] = useState<string>();
  const opened = useStore(openedApp, (context) => context.app);
  const app = opened !== undefined && path.includes(`/apps/${encodeURIComponent(opened.id)}`) ? opened : undefined;
  const entries = entriesOf(apps, app, useConversations(app?.id));
  const found = foundIn(entries, text);
  const chosen = Math.min(at, found.length - 1);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const go = (entry: PaletteEntry | undefined) => {
    if (entry?.href !== undefined) {
      dialog.current?.close();
      route(entry.href);
    } else if (entry !== undefined) want(entry.label);
  };
  // An id is looked for in every app, so not before they are known.
  useEffect(() => {
    if (wanted === undefined || known === undefined) return;
    want(undefined);
    act.run(async () => {
      const address = await addressOf(known, wanted);
      if (address === undefined) setFault(`Nothing is kept of ${wanted}.`);
      else {
        dialog.current?.close();
        route(address);
      }
    });
  }, [wanted, known]);
  const pressed = (event: KeyboardEvent & { readonly currentTarget: HTMLInputElement }) => {
    const now = foundIn(entries, event.currentTarget.value);
    if (event.key === 'Enter') go(now[Math.min(latest.current, now.length - 1)]);
    else if (event.key === 'ArrowDown') move(Math.min(latest.current + 1, now.length - 1));
    else if (event.key === 'ArrowUp') move(Math.max(latest.current - 1, 0));
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={dialog} class="palette" aria-label="Find" onClose={onClose}>
      <input
        class="palette-field"
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={found.length === 0 ? undefined : `${list}-${chosen}`}
        aria-label="Find a page, an app, a conversation, or a request id"
        placeholder="A page, an app, a conversation, or any id of a log line"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => {
          type(event.currentTarget.value);
          move(0);
          setFault('');
        }}
        onKeyDown={pressed}
      />
      <Found entries={found} list={list} chosen={chosen} go={go} />
      <p class="palette-note" role="status">
        {fault !== '' ? fault : act.isUnderWay ? 'Looking for it…' : found.length === 0 ? 'Nothing is called so.' : ''}
      </p>
      <Problem error={act.error} />
    </dialog>
  );
}

interface FoundProps {
  readonly entries: readonly PaletteEntry[];
  readonly list: string;
  readonly chosen: number;
  readonly go: (entry: PaletteEntry) => void;
}

function Found({ entries, list, chosen, go }: FoundProps) {
  return (
    <div class="palette-list" role="listbox" id={list} aria-label="Found">
      {entries.map((entry, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus, and its keys choose.
        <div
          key={`${entry.kind} ${entry.href ?? entry.label}`}
          id={`${list}-${index}`}
          class="palette-entry"
          role="option"
          tabIndex={-1}
          aria-selected={index === chosen}
          onClick={() => go(entry)}
        >
          <span class="palette-label">{entry.label}</span>
          <span class="palette-of">{entry.of}</span>
          <span class="chip">{KINDS[entry.kind]}</span>
        </div>
      ))}
    </div>
  );
}
