/** One widget on a page: the client, what is drawn of it, and what the app may ask of it. `destroy` takes all of it away. */
import { h, render } from 'preact';
import { PAIRING_PARAMETER, WEB_SDK_NAME } from '../../protocol/runtime/web-sdk.ts';
import { type Assistant, createAssistant } from '../client/assistant.ts';
import { LOG_CODES, type LogRecord } from '../client/log.ts';
import { browser, onPutAway, onWake } from '../client/platform/browser.ts';
import { type Appearance, appearanceOf, logoOf } from './appearance.ts';
import { asksOf } from './asks.ts';
import type { ComponentName, OwnDrawing } from './blocks/block-view.ts';
import { drawnBy } from './blocks/own-drawings.tsx';
import { BLOCK_VIEWS } from './blocks/views.ts';
import { keepDraft } from './composer/composer.tsx';
import { type Words, wordsIn } from './languages/language.ts';
import {
  checkCall,
  localeOf,
  type ScreenHandler,
  suggestionsNow,
  type WidgetChanges,
  type WidgetEvent,
  type WidgetOptions,
  type WidgetTheme,
} from './options.ts';
import { redrawn, type Scene, sceneOf } from './scene.ts';
import { Frame } from './shell/frame.tsx';
import { onIdle } from './state/idle.ts';
import { PageValues } from './state/page-values.ts';
import { type Listener, Telling, toConsole } from './telling.ts';

type ScreenDefinition = Parameters<Assistant['registerScreen']>[0];

export class Widget {
  readonly assistant: Assistant;
  readonly #root: ShadowRoot;
  readonly #host: HTMLElement;
  #options: WidgetOptions;
  #scene: Scene;
  readonly #screens = new Map<string, ScreenHandler>();
  readonly #listeners = new Set<Listener>();
  readonly #drawings = new Map<string, OwnDrawing>();
  readonly #values: PageValues;
  readonly #drafts: PageValues;
  readonly #telling: Telling;
  #language: { readonly tag: string; readonly words?: Words } = { tag: '' };
  readonly #endings: (() => void)[] = [];
  #appearance: Appearance | undefined;
  #isDestroyed = false;

  /** `address`: of the service. `root` is empty, and its host is in the page. */
  constructor(options: WidgetOptions, address: string, root: ShadowRoot) {
    this.#options = options;
    this.#root = root;
    this.#host = root.host as HTMLElement;
    const { key, user, userToken, requestTimeoutMs, idleTimeoutMs } = options;
    const locale = () => localeOf(this.#options);
    const log = (record: LogRecord) => (this.#options.log ?? toConsole)(record);
    const [prefix, mayKeep] = [`assistant:${key}:`, () => this.#options.consent !== false];
    this.#values = new PageValues(() => localStorage, prefix, mayKeep);
    this.#drafts = new PageValues(() => sessionStorage, prefix, mayKeep);
    if (!mayKeep()) this.#settle();
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
      browser({ log, kept: this.#values }),
    );
    const pairing = new URLSearchParams(location.search).get(PAIRING_PARAMETER);
    // What went wrong is in the log; a page that is loaded again brings a code that is used.
    if (pairing !== null) this.assistant.pair(pairing).catch(() => {});
    this.#scene = this.#makeScene(locale(), address, log);
    const isInline = options.container !== undefined;
    const telling = { assistant: this.assistant, panel: this.#scene.panel, values: this.#values, name: `${prefix}unread`, isInline };
    this.#telling = new Telling(telling, this.#listeners);
    this.#listen();
    this.#look();
    this.#speak();
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

  identify(...given: Parameters<Assistant['identify']>) {
    return this.assistant.identify(...given);
  }

  signOut(): Promise<void> {
    return this.assistant.signOut();
  }

  setUserToken(...given: Parameters<Assistant['setUserToken']>): void {
    this.assistant.setUserToken(...given);
  }

  /** Opens the panel with a text in the field, behind what is there, for the person to change and send. */
  prefill(text: string): void {
    this.open();
    this.#scene.panel.send({ type: 'edited', text });
  }

  /** Puts files to the next message: at once, or where a `question` is given, once the person said yes. Whether they did. */
  async attach(files: Iterable<File>, question?: string): Promise<boolean> {
    const { panel, attaching } = this.#scene;
    this.open();
    panel.get().context.offer?.answer(false);
    const isWanted =
      question === undefined || (await new Promise<boolean>((answer) => panel.send({ type: 'offered', offer: { question, answer } })));
    if (question !== undefined) panel.send({ type: 'offered', offer: undefined });
    if (isWanted) attaching.add(files);
    return isWanted;
  }

  /** The person's conversations, newest first. @throws ClientError */
  conversations(before?: string) {
    return this.assistant.list(before);
  }

  /** Deletes one of them for good. @throws ClientError */
  deleteConversation(id: string): Promise<void> {
    return this.assistant.erase(id);
  }

  /** Opens a conversation of before; without an id a new one. */
  openConversation(id?: string): void {
    this.assistant.open(id);
  }

  /** Declares an action and who runs it. Returns what takes it away. */
  registerAction(...given: Parameters<Assistant['registerAction']>): () => void {
    checkCall('registerAction', given);
    return this.assistant.registerAction(...given);
  }

  /** Draws blocks of this component: a function, or the name of an element. Returns what gives it back to the widget. */
  registerComponent(type: ComponentName, drawing: OwnDrawing | string): () => void {
    checkCall('registerComponent', [type, drawing]);
    const draw = typeof drawing === 'string' ? drawnBy(drawing) : drawing;
    this.#drawings.set(type, draw);
    this.#redraw();
    return () => {
      if (this.#drawings.get(type) === draw) this.#drawings.delete(type);
      this.#redraw();
    };
  }

  /** Declares a screen that answers may offer, and who opens it. Returns what takes it away. */
  registerScreen(definition: ScreenDefinition, open: ScreenHandler): () => void {
    checkCall('registerScreen', [definition, open]);
    this.#screens.set(definition.name, open);
    const takeAway = this.assistant.registerScreen(definition);
    return () => {
      this.#screens.delete(definition.name);
      takeAway();
    };
  }

  /** Tells of everything that `WidgetEvent` names. Returns what ends it. */
  onEvent(listener: (event: WidgetEvent) => void): () => void {
    checkCall('onEvent', [listener]);
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
    if ('consent' in changes) this.#settle();
    if (Object.keys(changes).every((name) => ['log', 'context', 'openLink', 'consent'].includes(name))) return;
    // What is drawn stays where only colours change.
    if (['words', 'locale', 'launcher', 'linkSchemes', 'autolinks'].some((name) => name in changes)) this.#redraw();
    this.#look();
    this.#draw();
    this.#speak();
  }

  /** Takes the widget away. Answers go on at the service, and the next page takes them up. */
  async destroy(): Promise<void> {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    for (const end of this.#endings) end();
    this.#telling.end();
    this.#scene.attaching.clear();
    render(null, this.#root);
    await this.assistant.close();
  }

  #makeScene(locale: string, address: string, log: (record: LogRecord) => void): Scene {
    const { assistant } = this;
    const { container, launcher = true, key } = this.#options;
    const ask = asksOf(
      assistant,
      this.#screens,
      (event) => this.#telling.tell(event),
      () => this.close(),
      (address) => this.#options.openLink?.(address),
    );
    return sceneOf(
      assistant,
      ask,
      { ...this.#options, locale },
      {
        appearance: () => this.#appearanceNow(),
        draftName: `assistant:${key}:draft`,
        drafts: this.#drafts,
        isInline: container !== undefined,
        isWhole: () => this.#options.layout === 'full',
        hasLauncher: launcher,
        logo: () => logoOf(address, key),
        open: () => this.open(),
        close: () => this.close(),
      },
      {
        places: { host: this.#host, drawings: this.#drawings },
        partFailed: (error) => log({ level: 'warn', code: 'part_failed', message: LOG_CODES.part_failed, details: { error } }),
      },
    );
  }

  #appearanceNow(): Appearance {
    const { theme, themeDark, suggestions } = this.#options;
    // What a function says may be something else by now.
    if (typeof suggestions === 'function') this.#appearance = undefined;
    const { configuration } = this.assistant.app.get().context;
    this.#appearance ??= appearanceOf(configuration?.config, theme, themeDark, suggestionsNow(suggestions));
    return this.#appearance;
  }

  #look(): void {
    this.#appearance = undefined;
    const { themeMode = 'auto', colorScheme = themeMode, dir, layout = 'card' } = this.#options;
    const { style } = this.#host;
    for (const name of [...style].filter((each) => each.startsWith('--'))) style.removeProperty(name);
    for (const [name, value] of Object.entries(this.#appearanceNow().properties)) style.setProperty(name, value);
    this.#host.dataset.scheme = colorScheme;
    this.#host.dataset.layout = layout;
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
      if (available !== isAvailable) this.#telling.tell({ type: 'available', available });
      isAvailable = available;
    });
    const others = assistant.onConversation((_, isAnothers) => {
      if (isAnothers) this.#forget();
    });
    const { idleSignOutMs, key, user } = this.#options;
    const idle = () => void this.signOut().then(() => this.#telling.tell({ type: 'signed_out' }));
    if (idleSignOutMs !== undefined) this.#endings.push(onIdle(this.#values, `assistant:${key}:active`, idleSignOutMs, idle, user != null));
    const network = () => panel.send({ type: 'network', isOnline: navigator.onLine });
    window.addEventListener('online', network);
    window.addEventListener('offline', network);
    this.#endings.push(
      () => app.unsubscribe(),
      others,
      onWake(() => assistant.wake()),
      onPutAway(
        () => assistant.suspend(),
        () => assistant.resume(),
      ),
      () => window.removeEventListener('online', network),
      () => window.removeEventListener('offline', network),
    );
    void assistant.ready.then(() => this.#telling.tell({ type: 'ready' }));
  }

  /** The words of the language, once they are there. English, and what the app gives, need none. */
  #speak(): void {
    const tag = localeOf(this.#options);
    if (this.#language.tag === tag) return;
    const hadWords = this.#language.words !== undefined;
    this.#language = { tag };
    if (hadWords) this.#redraw();
    void wordsIn(tag, (error) => this.#scene.around.partFailed?.(error)).then((words) => {
      if (words === undefined || this.#language.tag !== tag || this.#isDestroyed) return;
      this.#language = { tag, words };
      this.#redraw();
    });
  }

  #redraw(): void {
    this.#scene = redrawn(this.#scene, { ...this.#options, language: this.#language.words }, localeOf(this.#options));
    this.#draw();
  }

  /** What is kept in the browser follows what the person agreed to. */
  #settle(): void {
    try {
      this.#values.settle();
      this.#drafts.settle();
    } catch (error) {
      (this.#options.log ?? toConsole)({ level: 'warn', code: 'storage_error', message: LOG_CODES.storage_error, details: { error } });
    }
  }

  /** What one person began to write, and attached, is not the next one's. What nobody in particular did stays, as what they said does. */
  #forget(): void {
    const { panel, attaching } = this.#scene;
    attaching.clear();
    keepDraft(this.#scene, '');
    panel.send({ type: 'personChanged' });
  }

  #toggle(isOpen: boolean): void {
    if (this.#isDestroyed || this.#scene.panel.get().context.isOpen === isOpen) return;
    this.#scene.panel.send({ type: 'toggled', isOpen });
    this.#telling.tell({ type: isOpen ? 'opened' : 'closed' });
    if (isOpen) this.#telling.count(0);
  }
}
