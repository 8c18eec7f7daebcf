/** The launcher and the panel, or the panel alone in a place of the app. */

import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Conversation } from '../../client/conversation/conversation.ts';
import { Glyph } from '../blocks/parts/icon.tsx';
import { useStyled } from '../blocks/parts/lazy-hook.ts';
import { filled } from '../blocks/words.ts';
import { Composer } from '../composer/composer.tsx';
import type { Scene } from '../scene.ts';
import { useStore } from '../store-hook.ts';
import { Thread } from '../thread/thread.tsx';

function Logo({ scene }: { readonly scene: Scene }) {
  useStore(scene.assistant.app, ({ configuration }) => configuration);
  const { logo, copilot } = scene.appearance();
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    if (logo === undefined) return;
    let made: string | undefined;
    let isOver = false;
    scene.logo().then(
      (image) => {
        if (isOver || image === undefined) return;
        made = URL.createObjectURL(image);
        setAddress(made);
      },
      () => {},
    );
    return () => {
      isOver = true;
      if (made !== undefined) URL.revokeObjectURL(made);
      setAddress(undefined);
    };
  }, [scene, logo]);
  const name = copilot.assistantName ?? scene.words.assistant;
  const letter = [...name][0]?.toLocaleUpperCase() ?? '';
  return (
    <span class="mark" aria-hidden="true">
      {/* A page whose policy allows no pictures of ours shows the letter. */}
      {address === undefined ? letter : <img src={address} alt="" onError={() => setAddress(undefined)} />}
    </span>
  );
}

/** As the style has it. */
const FULL_SCREEN = '(max-width: 480px)';
const FOCUSABLE =
  'button:not(:disabled), a[href], input:not(:disabled, [hidden]), select:not(:disabled), textarea:not(:disabled), [tabindex="0"]';

/** Whether the panel fills the screen. Then it is all there is: what lies behind it is neither read nor reached with Tab (WIDGET-11). */
function useModal(panel: RefObject<HTMLElement | null>, { isInline, isWhole }: Scene): boolean {
  const [isFull, setFull] = useState(() => matchMedia(FULL_SCREEN).matches);
  const isModal = (isFull || isWhole?.() === true) && !isInline;
  useEffect(() => {
    const media = matchMedia(FULL_SCREEN);
    const look = () => setFull(media.matches);
    look();
    media.addEventListener('change', look);
    return () => media.removeEventListener('change', look);
  }, []);
  // With the layout, not after the paint: between the two a Tab would leave a panel that already says that it is modal.
  useLayoutEffect(() => {
    const element = panel.current;
    if (element === null || !isModal) return;
    const goRound = (event: KeyboardEvent) => {
      if (event.key !== 'Tab' || event.defaultPrevented) return;
      const all = [...element.querySelectorAll<HTMLElement>(FOCUSABLE)].filter(
        (each) => each.checkVisibility() && each.closest('[inert]') === null,
      );
      const [from, to] = event.shiftKey ? [all[0], all.at(-1)] : [all.at(-1), all[0]];
      if (from === undefined || (element.getRootNode() as ShadowRoot).activeElement !== from) return;
      event.preventDefault();
      to?.focus();
    };
    element.addEventListener('keydown', goRound);
    return () => element.removeEventListener('keydown', goRound);
  }, [panel.current, isModal]);
  return isModal;
}

/** Puts the widget above the whole page, whatever the page's transforms, clips and stacking say (WIDGET-4). A browser without popovers draws it fixed. */
function useTopLayer(layer: RefObject<HTMLElement | null>, isShown: boolean): void {
  useLayoutEffect(() => {
    const element = layer.current;
    if (element === null || typeof element.showPopover !== 'function') return;
    const isOpen = element.matches(':popover-open');
    try {
      if (isShown && !isOpen) element.showPopover();
      if (!isShown && isOpen) element.hidePopover();
    } catch {
      // Not in the page yet, or a page that forbids it: then it is drawn in its place.
    }
  }, [layer, isShown]);
}

/** Less is a bar that slides in, and no keyboard. */
const KEYBOARD_MIN_PX = 120;

/** Keeps the panel in what a keyboard on the screen leaves free: browsers on iOS tell that by the visual viewport alone. */
function useVisibleHeight(panel: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const viewport = window.visualViewport;
    const element = panel.current;
    if (viewport === null || viewport === undefined || element === null) return;
    const fit = () => {
      const hidden = window.innerHeight - viewport.height - viewport.offsetTop;
      if (hidden < KEYBOARD_MIN_PX) element.style.removeProperty('--keyboard');
      else element.style.setProperty('--keyboard', `${Math.round(hidden)}px`);
    };
    fit();
    viewport.addEventListener('resize', fit);
    viewport.addEventListener('scroll', fit);
    return () => {
      viewport.removeEventListener('resize', fit);
      viewport.removeEventListener('scroll', fit);
    };
  }, [panel]);
}

function useConversation({ assistant }: Scene): Conversation {
  const [conversation, setConversation] = useState(assistant.conversation);
  useEffect(() => {
    setConversation(assistant.conversation);
    return assistant.onConversation(setConversation);
  }, [assistant]);
  return conversation;
}

function Banner({ scene }: { readonly scene: Scene }) {
  const isOnline = useStore(scene.panel, (now) => now.isOnline);
  const away = useStore(scene.assistant.app, ({ availability, failure }) =>
    availability === 'unavailable' && failure !== undefined ? failure : null,
  );
  const text = isOnline ? (away === null ? '' : scene.words.away) : scene.words.offline;
  return (
    <p class="banner" role="status" hidden={text === ''}>
      {text}
    </p>
  );
}

interface HeaderProps {
  readonly scene: Scene;
  readonly titleId: string;
  readonly list: RefObject<HTMLButtonElement | null>;
  readonly onList: () => void;
}

function Header({ scene, titleId, list, onList }: HeaderProps) {
  const { words, assistant, isInline } = scene;
  const { copilot } = scene.appearance();
  return (
    <div class="header" part="header">
      <Logo scene={scene} />
      <h2 id={titleId}>{copilot.assistantName ?? words.assistant}</h2>
      <button ref={list} type="button" class="round" aria-label={words.conversations} title={words.conversations} onClick={onList}>
        <Glyph path="M4 6v4h4M4.6 9.5A8 8 0 1 1 4 13M12 8v4.5l3 1.8" />
      </button>
      <button type="button" class="round" aria-label={words.newConversation} title={words.newConversation} onClick={() => assistant.open()}>
        <Glyph path="M5 19l1-4L16 5l3 3L9 18zM5 19h14" />
      </button>
      {isInline ? null : (
        <button type="button" class="round" aria-label={words.close} title={words.close} onClick={() => scene.close()}>
          <Glyph path="M6 6l12 12M18 6L6 18" />
        </button>
      )}
    </div>
  );
}

const loadPast = () => import('./lazy/conversations.tsx');

interface PastProps {
  readonly scene: Scene;
  readonly onBack: (isOther: boolean) => void;
  /** It covers what lies below. */
  readonly onShown: () => void;
}

/** Earlier conversations, above the panel. Where they cannot be loaded, the conversation stays as it is. */
function Past({ scene, onBack, onShown }: PastProps) {
  const place = useRef<HTMLDivElement>(null);
  const loaded = useStyled(loadPast, place, scene.around);
  useLayoutEffect(() => {
    if (loaded) onShown();
  }, [loaded]);
  return <div ref={place}>{loaded ? <loaded.Conversations scene={scene} onBack={onBack} /> : null}</div>;
}

function useDrop(scene: Scene) {
  const [isOver, setOver] = useState(false);
  const hasFiles = (event: DragEvent) => [...(event.dataTransfer?.types ?? [])].includes('Files');
  return {
    isOver,
    handlers: {
      onDragOver: (event: DragEvent) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setOver(true);
      },
      onDragLeave: () => setOver(false),
      onDrop: (event: DragEvent) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setOver(false);
        scene.attaching.add([...(event.dataTransfer?.files ?? [])]);
      },
    },
  };
}

/** Whether the list of earlier conversations is there, and where the focus goes after it. */
function usePast(conversation: Conversation, panel: RefObject<HTMLElement | null>) {
  const [past, setPast] = useState<'none' | 'asked' | 'shown'>('none');
  const list = useRef<HTMLButtonElement>(null);
  // Another conversation, or another person: the list of before is over.
  useEffect(() => setPast('none'), [conversation]);
  const back = (isOther: boolean) => {
    setPast('none');
    // Once it is drawn: until then all below is inert.
    requestAnimationFrame(() => (isOther ? panel.current?.querySelector('textarea') : list.current)?.focus());
  };
  return { list, past, setPast, back };
}

const TITLE_ID = 'assistant-title';

function Panel({ scene }: { readonly scene: Scene }) {
  const conversation = useConversation(scene);
  const panel = useRef<HTMLElement>(null);
  const { list, past, setPast, back } = usePast(conversation, panel);
  const said = useStore(scene.panel, (now) => now.said);
  const person = useStore(scene.panel, (now) => now.person);
  const { isOver, handlers } = useDrop(scene);
  useVisibleHeight(panel);
  const isModal = useModal(panel, scene);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && !scene.isInline && !event.defaultPrevented) scene.close();
  };
  return (
    <section
      ref={panel}
      class={`panel${scene.isInline ? ' is-inline' : ''}`}
      part="panel"
      role={scene.isInline ? 'region' : 'dialog'}
      aria-labelledby={TITLE_ID}
      {...(isModal ? { 'aria-modal': true } : {})}
      onKeyDown={onKeyDown}
      {...handlers}
    >
      <div class="talk" inert={past === 'shown'}>
        <Header scene={scene} titleId={TITLE_ID} list={list} onList={() => setPast(past === 'none' ? 'asked' : 'none')} />
        <Banner scene={scene} />
        <Thread key={`thread ${keyOf(conversation)}`} conversation={conversation} scene={scene} />
        <Composer key={`composer ${person}`} conversation={conversation} scene={scene} />
      </div>
      {past === 'none' ? null : <Past scene={scene} onBack={back} onShown={() => setPast('shown')} />}
      <p class="unseen" role="status">
        {said}
      </p>
      {isOver ? <div class="drop">{scene.words.dropFiles}</div> : null}
    </section>
  );
}

/** A number for each conversation, so that another one is drawn anew. */
const keys = new WeakMap<Conversation, number>();
let lastKey = 0;
function keyOf(conversation: Conversation): number {
  const key = keys.get(conversation) ?? ++lastKey;
  keys.set(conversation, key);
  return key;
}

export function Launcher({ scene, isOpen }: { readonly scene: Scene; readonly isOpen: boolean }) {
  const { copilot } = scene.appearance();
  const button = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(isOpen);
  const unread = useStore(scene.panel, (now) => now.unread);
  const name = copilot.launcherLabel ?? scene.words.launcher;
  useLayoutEffect(() => {
    // Whoever closes the panel is where they came from.
    if (wasOpen.current && !isOpen) button.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  return (
    <button
      ref={button}
      type="button"
      class={`launcher${copilot.launcherLabel === undefined ? '' : ' has-label'}`}
      part="launcher"
      aria-label={unread === 0 ? name : `${name} (${filled(scene.words.unread, { count: unread })})`}
      aria-expanded={isOpen}
      aria-haspopup="dialog"
      // As it is, not as it was drawn last: two presses may come in between.
      onClick={() => (scene.panel.get().context.isOpen ? scene.close() : scene.open())}
    >
      <Glyph path={isOpen ? 'M6 9l6 6 6-6' : 'M5 5h14v11H10l-5 4z'} />
      {copilot.launcherLabel === undefined ? null : <span>{copilot.launcherLabel}</span>}
      {unread === 0 ? null : (
        <span class="unread" part="badge" aria-hidden="true">
          {unread > 99 ? '99+' : unread}
        </span>
      )}
    </button>
  );
}

export function Frame({ scene }: { readonly scene: Scene }) {
  const isOpen = useStore(scene.panel, (now) => now.isOpen);
  const app = useStore(scene.assistant.app, (now) => now);
  const layer = useRef<HTMLDivElement>(null);
  // What was begun stays there: only an assistant that is not open is hidden while it cannot be had.
  const isOffered = app.availability === 'available' || (app.availability === 'unavailable' && isOpen && !app.needsSignIn);
  useTopLayer(layer, !scene.isInline && isOffered);
  const isPanelShown = !scene.isInline && isOffered && isOpen;
  useLayoutEffect(() => {
    // Before the next key is read: what is typed right after the panel was opened is not lost.
    if (isPanelShown) layer.current?.querySelector('textarea')?.focus();
  }, [isPanelShown]);
  if (app.availability === 'off') return null;
  if (scene.isInline) return app.needsSignIn ? null : <Panel scene={scene} />;
  const { launcherAt } = scene.appearance();
  return (
    <div ref={layer} class={`layer is-${launcherAt}`} popover="manual" hidden={!isOffered}>
      {isOffered && isOpen ? <Panel scene={scene} /> : null}
      {isOffered && scene.hasLauncher ? <Launcher scene={scene} isOpen={isOpen} /> : null}
    </div>
  );
}
