/** One widget on a page: the client, what is drawn of it, and what the app may ask of it. `destroy` takes all of it away. */
import { h, render } from 'preact';
import { PAIRING_PARAMETER, WEB_SDK_NAME } from '../../protocol/runtime/web-sdk.ts';
import { type Assistant, createAssistant } from '../client/assistant.ts';
import type { TurnPhase } from '../client/conversation/turn.ts';
import { LOG_CODES, type LogRecord } from '../client/log.ts';
import { browser, onPutAway, onWake } from '../client/platform/browser.ts';
import { type Appearance, appearanceOf } from './appearance.ts';
import { asksOf } from './asks.ts';
import { BLOCK_VIEWS } from './blocks/views.ts';
import { keepDraft } from './composer/composer.tsx';
import { isLanguage, type ScreenHandler, type WidgetChanges, type WidgetEvent, type WidgetOptions, type WidgetTheme } from './options.ts';
import { redrawn, type Scene, sceneOf } from './scene.ts';
import { Frame } from './shell/frame.tsx';

type ActionDefinition = Parameters<Assistant['registerAction']>[0];
type ActionHandler = Parameters<Assistant['registerAction']>[1];
type ScreenDefinition = Parameters<Assistant['registerScreen']>[0];
type SignedPerson = Parameters<Assistant['identify']>[0];
type UserToken = Parameters<Assistant['setUserToken']>[0];

const OVER: ReadonlySet<TurnPhase> = new Set(['completed', 'failed', 'awaiting_confirmation', 'awaiting_tool_results', 'continued']);

/** Whoever builds with it sees what went wrong, and nothing else. */
function toConsole({ level, code, message, details }: LogRecord): void {
  if (level === 'warn' || level === 'error') console[level](`[assistant] ${code}: ${message}`, details ?? '');
}

export class Widget {
  readonly assistant: Assistant;
  readonly #root: ShadowRoot;
  readonly #host: HTMLElement;
  #options: WidgetOptions;
  #scene: Scene;
  readonly #screens = new Map<string, ScreenHandler>();
  readonly #listeners = new Set<(event: WidgetEvent) => void>();
  readonly #endings: (() => void)[] = [];
  #appearance: Appearance | undefined;
  #isDestroyed = false;

  /** `address`: of the service. `root` is empty, and its host is in the page. */
  constructor(options: WidgetOptions, address: string, root: ShadowRoot) {
    this.#options = options;
    this.#root = root;
    this.#host = root.host as HTMLElement;
    const { key, user, userToken, requestTimeoutMs, idleTimeoutMs } = options;
    const locale = () => this.#locale();
    const log = (record: LogRecord) => (this.#options.log ?? toConsole)(record);
    this.assistant = createAssistant(
      {
        ...{ address, key, sdk: WEB_SDK_NAME, platform: 'web' },
        abilities: {
          components: Object.keys(BLOCK_VIEWS),
          get locale() {
            return locale();
          },
        },
        context: () => this.#options.context?.(),
        ...(user === undefined ? {} : { user }),
        ...(userToken === undefined ? {} : { userToken }),
        ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
        ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMs }),
      },
      browser({ log }),
    );
    const pairing = new URLSearchParams(location.search).get(PAIRING_PARAMETER);
    // What went wrong is in the log; a page that is loaded again brings a code that is used.
    if (pairing !== null) this.assistant.pair(pairing).catch(() => {});
    this.#scene = this.#makeScene(locale(), address, log);
    this.#listen();
    this.#look();
    render(h(Frame, { scene: this.#scene }), root);
  }

  open(): void {
    this.#toggle(true);
  }

  close(): void {
    this.#toggle(false);
  }

  ask(text: string): void {
    this.open();
    this.#scene.say(text);
  }

  identify(person: SignedPerson) {
    return this.assistant.identify(person);
  }

  signOut(): Promise<void> {
    return this.assistant.signOut();
  }

  setUserToken(token: UserToken): void {
    this.assistant.setUserToken(token);
  }

  /** Declares an action and who runs it. Returns what takes it away. */
  registerAction(definition: ActionDefinition, handler: ActionHandler): () => void {
    return this.assistant.registerAction(definition, async (params, call) => {
      try {
        const result = await handler(params, call);
        this.#tell({ type: 'action_ended', name: definition.name, status: 'ok' });
        return result;
      } catch (error) {
        this.#tell({ type: 'action_ended', name: definition.name, status: 'error' });
        throw error;
      }
    });
  }

  /** Declares a screen that answers may offer, and who opens it. Returns what takes it away. */
  registerScreen(definition: ScreenDefinition, open: ScreenHandler): () => void {
    this.#screens.set(definition.name, open);
    const takeAway = this.assistant.registerScreen(definition);
    return () => {
      this.#screens.delete(definition.name);
      takeAway();
    };
  }

  /** Tells of everything that `WidgetEvent` names. Returns what ends it. */
  onEvent(listener: (event: WidgetEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Wins over the published configuration from now on. */
  setTheme(light: WidgetTheme, dark: WidgetTheme = {}): void {
    this.update({ theme: light, themeDark: dark });
  }

  /** Options that are others from now on; those that are not named stay, and undefined is as if it had never been given. */
  update(changes: WidgetChanges): void {
    this.#options = { ...this.#options, ...changes } as WidgetOptions;
    if (Object.keys(changes).every((name) => name === 'log' || name === 'context')) return;
    // What is drawn stays where only colours change.
    if ('words' in changes || 'locale' in changes || 'launcher' in changes)
      this.#scene = redrawn(this.#scene, this.#options, this.#locale());
    this.#look();
    this.#draw();
  }

  /** Takes the widget away. Answers go on at the service, and the next page takes them up. */
  async destroy(): Promise<void> {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    for (const end of this.#endings) end();
    this.#scene.attaching.clear();
    render(null, this.#root);
    await this.assistant.close();
  }

  #locale(): string {
    const said = [this.#options.locale, document.documentElement.lang.replace('_', '-'), navigator.language];
    return said.find((tag) => tag && isLanguage(tag)) ?? 'en';
  }

  #makeScene(locale: string, address: string, log: (record: LogRecord) => void): Scene {
    const { assistant } = this;
    const { words, container, launcher = true, open, key } = this.#options;
    const ask = asksOf(
      assistant,
      this.#screens,
      (event) => this.#tell(event),
      () => this.close(),
    );
    return sceneOf(
      assistant,
      ask,
      { locale, ...(words === undefined ? {} : { words }), ...(open === undefined ? {} : { open }) },
      {
        appearance: () => this.#appearanceNow(),
        draftName: `assistant:${key}:draft`,
        isInline: container !== undefined,
        hasLauncher: launcher,
        logo: () => logoOf(address, key),
        open: () => this.open(),
        close: () => this.close(),
      },
      (error) => log({ level: 'warn', code: 'part_failed', message: LOG_CODES.part_failed, details: { error } }),
    );
  }

  #appearanceNow(): Appearance {
    this.#appearance ??= appearanceOf(this.assistant.app.get().context.configuration?.config, this.#options.theme, this.#options.themeDark);
    return this.#appearance;
  }

  #look(): void {
    this.#appearance = undefined;
    const { themeMode = 'auto', colorScheme = themeMode, dir } = this.#options;
    const { style } = this.#host;
    for (const name of [...style].filter((each) => each.startsWith('--'))) style.removeProperty(name);
    for (const [name, value] of Object.entries(this.#appearanceNow().properties)) style.setProperty(name, value);
    this.#host.dataset.scheme = colorScheme;
    this.#host.dir = dir ?? getComputedStyle(document.documentElement).direction;
  }

  #draw(): void {
    if (!this.#isDestroyed) render(h(Frame, { scene: this.#scene }), this.#root);
  }

  #listen(): void {
    const { assistant } = this;
    const { panel } = this.#scene;
    let isAvailable = false;
    let configuration = assistant.app.get().context.configuration;
    const app = assistant.app.subscribe(({ context }) => {
      if (context.configuration !== configuration) {
        configuration = context.configuration;
        this.#look();
        this.#draw();
      }
      const available = context.availability === 'available';
      if (available !== isAvailable) this.#tell({ type: 'available', available });
      isAvailable = available;
    });
    let followed = this.#follow();
    const others = assistant.onConversation((_, isAnothers) => {
      if (isAnothers) this.#forget();
      followed();
      followed = this.#follow();
    });
    const network = () => panel.send({ type: 'network', isOnline: navigator.onLine });
    window.addEventListener('online', network);
    window.addEventListener('offline', network);
    this.#endings.push(
      () => app.unsubscribe(),
      () => followed(),
      others,
      onWake(() => assistant.wake()),
      onPutAway(
        () => assistant.suspend(),
        () => assistant.resume(),
      ),
      () => window.removeEventListener('online', network),
      () => window.removeEventListener('offline', network),
    );
    void assistant.ready.then(() => this.#tell({ type: 'ready' }));
  }

  #follow(): () => void {
    const { store } = this.assistant.conversation;
    let before = new Map(store.get().context.turns.map(({ turnId, phase }) => [turnId, phase]));
    const { unsubscribe } = store.subscribe(({ context }) => {
      for (const { turnId, phase, payload } of context.turns) {
        const last = before.get(turnId);
        if (last === undefined && payload.message !== undefined) this.#tell({ type: 'message_sent', turn_id: turnId });
        if (last !== undefined && last !== phase && OVER.has(phase)) this.#tell({ type: 'answer_ended', turn_id: turnId, status: phase });
      }
      before = new Map(context.turns.map(({ turnId, phase }) => [turnId, phase]));
    });
    return unsubscribe;
  }

  /** What one person began to write, and attached, is not the next one's. What nobody in particular did stays, as what they said does. */
  #forget(): void {
    const { panel, attaching, draftName } = this.#scene;
    attaching.clear();
    keepDraft(draftName, '');
    panel.send({ type: 'personChanged' });
  }

  #toggle(isOpen: boolean): void {
    if (this.#isDestroyed || this.#scene.panel.get().context.isOpen === isOpen) return;
    this.#scene.panel.send({ type: 'toggled', isOpen });
    this.#tell({ type: isOpen ? 'opened' : 'closed' });
  }

  /** A listener that throws is the app's own trouble: it shows in the console, and the others are told. */
  #tell(event: WidgetEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        reportError(error);
      }
    }
  }
}

/** The published logo; undefined when there is none, or it cannot be had. */
async function logoOf(address: string, key: string): Promise<Blob | undefined> {
  try {
    const answer = await fetch(`${address}/v1/apps/logo`, { headers: { 'X-Service-Key': key } });
    return answer.ok ? await answer.blob() : undefined;
  } catch {
    return undefined;
  }
}
