/** The assistant of the screens below: the client, what the app hands in, and hooks that draw anew when something changes. */
import { createContext, useContext, useEffect, useMemo, useSyncExternalStore } from 'react';
import { AppState, Linking } from 'react-native';
import type { Block } from '../../protocol/catalog/block.ts';
import { type Assistant, type AssistantOptions, createAssistant } from '../client/assistant.ts';
import type { Conversation } from '../client/conversation/conversation.ts';
import { isAnswering, threadOf } from '../client/conversation/thread.ts';
import type { Surroundings } from '../client/surroundings.ts';
import { type Appearance, appearanceOf, type WidgetTheme } from '../sdk/appearance.ts';
import { asksOf } from '../sdk/asks.ts';
import { BLOCK_WORDS, type BlockWords } from '../sdk/blocks/words.ts';
import { WIDGET_WORDS, type WidgetWords } from '../sdk/words.ts';
import { COMPONENTS } from './parts.ts';
import type { NativeFile } from './platform.ts';

export interface NativeOptions extends Omit<AssistantOptions, 'abilities' | 'sdk'> {
  /** BCP 47, of the app. English unless said otherwise. */
  readonly locale?: string;
  /** `<platform>/<version>`; this package's own unless said otherwise. */
  readonly sdk?: string;
  /** Kinds of buttons that the app runs; all but `copy` unless said otherwise, because React Native has no clipboard. */
  readonly actionKinds?: readonly string[];
}

/** What the app does for the screens. */
export interface NativeApp {
  readonly words?: Partial<WidgetWords & BlockWords>;
  readonly theme?: WidgetTheme;
  readonly themeDark?: WidgetTheme;
  /** Opens a screen of the app. */
  readonly onScreen?: (route: string, params: Readonly<Record<string, unknown>>) => void;
  /** True: the app has opened the address itself. */
  readonly onLink?: (address: string) => boolean;
  /** Puts a text into the clipboard, which React Native has not. Without it nothing offers to copy. */
  readonly copy?: (text: string) => Promise<unknown>;
  /** Lets the person choose a file; undefined: none. Without it nothing offers to attach. */
  readonly pickFile?: () => Promise<NativeFile | undefined>;
}

/** What people want of blocks. None of it throws. */
export interface Asks {
  choose(block: Block, ids: readonly string[], words: string, otherText?: string): void;
  submit(block: Block, values: Readonly<Record<string, string | number | boolean | string[]>>): void;
  rate(block: Block, value: number, comment?: string): void;
  confirm(invocationId: string, typed?: string): void;
  decline(invocationId: string): void;
  edit(invocationId: string, values: Readonly<Record<string, unknown>>): void;
  /** False: it is not sent, because too much waits. */
  say(text: string): boolean;
  openScreen(route: string, params: Readonly<Record<string, unknown>>): void;
  openLink(address: string): void;
  copy(text: string): void;
}

/** What everything below a provider is drawn with. */
export interface Scene {
  readonly assistant: Assistant;
  readonly app: NativeApp;
  readonly ask: Asks;
  readonly words: WidgetWords & BlockWords;
  readonly locale: string;
}

/** The version of this package. */
const SDK = 'react-native/0.1.0';

const ACTION_KINDS = ['send', 'open_screen', 'open_url', 'call', 'email'];

/** Begins at once, and lives beside the components: make it once, where the app starts. */
export function createNativeAssistant(given: NativeOptions, surroundings: Surroundings): Assistant {
  const { locale = 'en', sdk = SDK, actionKinds = ACTION_KINDS, ...options } = given;
  return createAssistant({ ...options, sdk, abilities: { components: COMPONENTS, actionKinds, locale } }, surroundings);
}

export const SceneContext = createContext<Scene | undefined>(undefined);

/** @throws Error outside of `AssistantProvider` */
export function useScene(): Scene {
  const scene = useContext(SceneContext);
  if (scene === undefined) throw new Error('Assistant: this must be drawn within AssistantProvider.');
  return scene;
}

const FOLLOWED = /^(?:https:\/\/|mailto:|tel:)/i;

export function useNewScene(assistant: Assistant, app: NativeApp, locale: string): Scene {
  return useMemo(() => {
    const asks = asksOf(
      assistant,
      new Map(),
      () => {},
      () => {},
    );
    const ask: Asks = {
      ...asks,
      openScreen: (route, params) => app.onScreen?.(route, params),
      openLink(address) {
        if (app.onLink?.(address) !== true && FOLLOWED.test(address)) Linking.openURL(address).catch(() => {});
      },
      copy: (text) => void app.copy?.(text).catch(() => {}),
    };
    return { assistant, app, ask, locale, words: { ...WIDGET_WORDS, ...BLOCK_WORDS, ...app.words } };
  }, [assistant, app, locale]);
}

/** Takes up what waits when the app is looked at again, and lets go of it while it is not. */
export function useAppState(assistant: Assistant): void {
  useEffect(() => {
    const subscription = AppState.addEventListener('change', (state) => {
      if (state === 'active') assistant.wake();
    });
    return () => subscription.remove();
  }, [assistant]);
}

interface Store<State> {
  get(): { readonly context: State };
  subscribe(listener: () => void): { unsubscribe(): void };
}

export function useStore<State, Part>(store: Store<State>, select: (state: State) => Part): Part {
  const subscribe = (listener: () => void) => {
    const { unsubscribe } = store.subscribe(listener);
    return unsubscribe;
  };
  return useSyncExternalStore(
    useMemo(() => subscribe, [store]),
    () => select(store.get().context),
    () => select(store.get().context),
  );
}

export function useConversation(): Conversation {
  const { assistant } = useScene();
  return useSyncExternalStore(
    useMemo(() => (listener: () => void) => assistant.onConversation(listener), [assistant]),
    () => assistant.conversation,
    () => assistant.conversation,
  );
}

/** The thread as it is drawn, and whether the assistant is at work. */
export function useThread() {
  const conversation = useConversation();
  const state = useStore(conversation.store, (now) => now);
  const items = useMemo(() => threadOf(state), [state]);
  return { conversation, state, items, isBusy: isAnswering(state) };
}

/** Whether the assistant can be offered now: an app hides its button while it cannot. */
export function useAvailability() {
  return useStore(useScene().assistant.app, ({ availability }) => availability);
}

/** What the assistant is called and says at first, and its colours, as published and as the app wants them. */
export function useAppearance(): Appearance {
  const { assistant, app } = useScene();
  const configuration = useStore(assistant.app, (now) => now.configuration);
  return useMemo(() => appearanceOf(configuration?.config, app.theme, app.themeDark), [configuration, app]);
}
