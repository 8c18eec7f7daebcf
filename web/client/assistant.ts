/**
 * The headless client of the Assistant Service: everything that an SDK does but drawing.
 *
 * ```ts
 * import { createAssistant } from '@assistant-service/client';
 * import { everywhere } from '@assistant-service/client/everywhere';
 *
 * const assistant = createAssistant(
 *   { address: 'https://assistant.example', key: 'rd_pk_live_…', sdk: 'web/1.0.0', abilities: { components: ['text', 'choice'] } },
 *   everywhere({ log: (record) => console.debug(record.code, record.message) }),
 * );
 * assistant.registerAction(
 *   { name: 'get_order_status', description: 'Looks up where an order is.', params: { order_id: { type: 'string', required: true } } },
 *   ({ order_id }) => orders.status(order_id),
 * );
 * await assistant.ready;
 * assistant.conversation.store.subscribe(({ context }) => draw(threadOf(context)));
 * assistant.conversation.say('Where is my order?');
 * ```
 *
 * - **State.** `app` says whether the assistant is there and how it looks. `conversation` is the one that is open, a store each; it is
 *   another one after `open`, `signOut`, `identify` of another person and `resume`, and `onConversation` tells of it. A state is plain
 *   data and never changed: draw it, compare it, post it to another thread. `threadOf` puts it in the order in which it is drawn.
 * - **A turn.** `say` and `submit` return at once; the turn appears as `waiting`, `preparing`, `opening`, `answering` and at its end
 *   `completed`, `awaiting_…` or `failed`. While `isReconnecting` it is taken up again by itself. A failed one has a `failure` whose
 *   `message` is for people, unless its `code` is `invalid_request` or another that only developers understand; `retry` sends the same request again where `failure.retryable`, not before `failure.retryAfterMs`.
 *   A `notice` is shown calmly and without Retry.
 * - **Blocks.** Draw `ready` ones by `block_type`; of a component that you do not draw, and of an `unfinished` block, `fallbackOf` has
 *   the words. Whatever is in a block may have been written by a stranger: text is text, and only http(s), mailto and tel are followed.
 * - **Actions.** Reads run by themselves in the handlers of `registerAction`. Writes wait in `calls` as `asking`: draw the card (or ask in
 *   your own way) and call `confirm`, `decline` or `edit`; the handler runs once the service recorded the agreement.
 * - **Reloads.** What is under way is kept in `surroundings.kept` and goes on when the next page begins. Call `wake` when the network
 *   is back or the page is looked at again; `suspend` when the page is put away, and `resume` where it comes back as it was.
 * - **Files.** `upload` sends one and tells how far it is; name its `upload_id` in `say`.
 * - **Trouble.** Nothing is written to a console. Every record of the log has a `code` of `LOG_CODES`, which stays as it is.
 */
import type { ChatBody, TurnContext } from '../../protocol/runtime/chat.ts';
import type { ConversationsReply } from '../../protocol/runtime/conversations.ts';
import type { IdentifyReply } from '../../protocol/runtime/identify.ts';
import type { PostedManifest } from '../../protocol/runtime/manifest.ts';
import type { PairingClaimReply } from '../../protocol/runtime/pairings.ts';
import type { UploadReply } from '../../protocol/runtime/uploads.ts';
import { type AppStore, Availability } from './app/availability.ts';
import { type Abilities, Composer } from './app/composer.ts';
import { Manifest } from './app/manifest.ts';
import { type ConversationListener, OpenConversation } from './app/open-conversation.ts';
import { bindingOf, Person, type SignedPerson, type UserToken } from './app/person.ts';
import { SignIn } from './app/sign-in.ts';
import { Telemetry, type TelemetryEvent } from './app/telemetry.ts';
import { type ActionHandler, ActionHandlers } from './conversation/action-handlers.ts';
import { Conversation } from './conversation/conversation.ts';
import { Keeping } from './conversation/keeping.ts';
import { mustBe } from './json.ts';
import { Log } from './log.ts';
import type { FileContent, Surroundings } from './surroundings.ts';
import type { TabTeam } from './tabs.ts';
import { ClientError, failureOf, logged, orLogged, ownFailure } from './transport/failure.ts';
import { patiently } from './transport/pause.ts';
import { type Ground, isPublishableKey, isTestKey, Requests } from './transport/requests.ts';

type ActionDefinition = PostedManifest['actions'][number];
type RouteDefinition = NonNullable<PostedManifest['routes']>[number];

export interface AssistantOptions {
  /** Address of the service, without a path. */
  readonly address: string;
  /** A publishable key. */
  readonly key: string;
  /** `<platform>/<semver>` of whatever is built on this. */
  readonly sdk: string;
  readonly platform?: string;
  readonly abilities: Abilities;
  /** The app's own version of its manifest. */
  readonly manifestVersion?: string;
  readonly routes?: readonly RouteDefinition[];
  /** What surrounds each question, asked for when it is sent; one second at most. */
  readonly context?: () => TurnContext | undefined | Promise<TurnContext | undefined>;
  /** Who is signed in; null: nobody; left out: as the device is bound. */
  readonly user?: { readonly id: string; readonly hmac?: string } | null;
  /** The person's own token, for actions that the service runs; or who is asked for it. It goes with turns and is kept nowhere. */
  readonly userToken?: UserToken;
  /** Whether the conversation of an earlier page is gone on with. True unless said otherwise. */
  readonly resumes?: boolean;
  /** Requests that are answered at once take so long at most. 8,000 unless said otherwise. */
  readonly requestTimeoutMs?: number;
  /** A stream that is silent for so long is given up. 45,000 unless said otherwise. */
  readonly idleTimeoutMs?: number;
}

const REQUEST_TIMEOUT_MS = 8_000;
const IDLE_TIMEOUT_MS = 45_000;

export class Assistant {
  readonly app: AppStore;
  /** Resolves when the device is known and an earlier conversation, if any, is there again. Never rejects. */
  readonly ready: Promise<void>;
  readonly #options: AssistantOptions;
  readonly #ground: Ground;
  readonly #availability: Availability;
  readonly #manifest: Manifest;
  readonly #composer: Composer;
  readonly #person: Person;
  readonly #handlers: ActionHandlers;
  readonly #keeping: Keeping;
  readonly #telemetry: Telemetry;
  readonly #opened: OpenConversation;
  readonly #signIn: SignIn;

  constructor(options: AssistantOptions, surroundings: Surroundings) {
    const { address, key, sdk, platform = sdk.split('/')[0] ?? '', abilities, context, user, userToken } = options;
    const { requestTimeoutMs = REQUEST_TIMEOUT_MS, routes = [], manifestVersion = '1', resumes = true } = options;
    const { clock, kept, tabs } = surroundings;
    if (user != null) bindingOf(user, 'user');
    this.#options = options;
    const log = new Log(surroundings.log);
    this.#person = new Person(user === null ? null : user && { ...user }, userToken, clock, requestTimeoutMs, log);
    const trimmed = address.endsWith('/') ? address.slice(0, -1) : address;
    const requests = new Requests({ address: trimmed, key, sdk, platform, requestTimeoutMs, sender: this.#person }, surroundings, log);
    this.#ground = { requests, surroundings, log };
    this.#availability = new Availability(this.#ground, this.#nameOf('config'));
    this.app = this.#availability.store;
    const document = { version: manifestVersion, actions: [], routes: [...routes] };
    const own = { document, sdk, waitMs: requestTimeoutMs, name: this.#nameOf('manifest'), isTest: isTestKey(key) };
    this.#manifest = new Manifest(this.#ground, own);
    const parts = { sdk, abilities, context, manifest: this.#manifest, person: this.#person, clock, log };
    this.#composer = new Composer(parts);
    this.#handlers = new ActionHandlers(clock, log);
    this.#keeping = new Keeping(kept, this.#nameOf('conversation'), log, tabs);
    this.#telemetry = new Telemetry(this.#ground);
    const make = (team: () => TabTeam | undefined, id?: string) => this.#makeConversation(team, id);
    this.#opened = new OpenConversation({
      surroundings,
      log,
      name: this.#nameOf('tabs'),
      person: this.#person,
      keeping: this.#keeping,
      resumes,
      make,
      ready: () => this.ready,
    });
    const telemetry = this.#telemetry;
    const signing = { ...this.#ground, name: this.#nameOf('device') };
    const signed = (isSigned: boolean) => this.#availability.signed(isSigned);
    this.#signIn = new SignIn({ ...signing, signed, person: this.#person, opened: this.#opened, telemetry, ready: () => this.ready });
    this.ready = this.#start();
    this.#opened.joinTabs();
  }

  get conversation(): Conversation {
    return this.#opened.current;
  }

  /** Tells of every other conversation that is opened. Returns what ends it. */
  onConversation(listener: ConversationListener): () => void {
    return this.#opened.onChange(listener);
  }

  /** Declares an action and who runs it. Returns what takes both away. @throws TypeError where nobody runs it */
  registerAction(definition: ActionDefinition, handler: ActionHandler): () => void {
    mustBe(typeof handler === 'function', 'argument 2 of registerAction', 'a function', handler);
    const { document } = this.#manifest;
    const takeAway = this.#handlers.register(definition.name, handler);
    this.#manifest.change({ ...document, actions: [...document.actions.filter(({ name }) => name !== definition.name), definition] });
    return () => {
      takeAway();
      const now = this.#manifest.document;
      this.#manifest.change({ ...now, actions: now.actions.filter((each) => each !== definition) });
    };
  }

  /** Declares a screen that answers may offer to open. Returns what takes it away. */
  registerScreen(definition: RouteDefinition): () => void {
    const { document } = this.#manifest;
    const others = (document.routes ?? []).filter(({ name }) => name !== definition.name);
    this.#manifest.change({ ...document, routes: [...others, definition] });
    return () => {
      const now = this.#manifest.document;
      this.#manifest.change({ ...now, routes: (now.routes ?? []).filter((each) => each !== definition) });
    };
  }

  /**
   * The app signs a person in: binds the device to them. What nobody in particular said here becomes this person's. Who was here before is
   * signed out first, and nothing is shown or sent until the new person is bound; of changes that overtake each other the last counts.
   * @throws ClientError when it was refused or overtaken: the first person, or the same one again, finds everything as it was; after
   * another one nobody is signed in; TypeError when the person is not as the service takes one: nothing changed
   */
  async identify(person: SignedPerson): Promise<IdentifyReply> {
    bindingOf(person, 'identify');
    return this.#signIn.identify(person);
  }

  /** Nobody is signed in from now on. Whoever comes next is on another device, and is shown nothing of this person's. */
  signOut(): Promise<void> {
    return this.#signIn.signOut();
  }

  /** The token of who was signed in last, or who is asked for it; undefined takes it away. */
  setUserToken(token: UserToken | undefined): void {
    this.#signIn.setUserToken(token);
  }

  /** Opens a conversation of before; without an id a new one. In all tabs, where there are several. */
  open(conversationId?: string): void {
    this.#opened.open(conversationId);
  }

  /** Conversations of before, newest first; `before` is the id of the last that is known. @throws ClientError */
  async list(before?: string): Promise<ConversationsReply> {
    await this.#signIn.known();
    const path = `/v1/conversations?limit=50${before === undefined ? '' : `&before=${encodeURIComponent(before)}`}`;
    const { requests, log } = this.#ground;
    return orLogged(log, 'warn', 'history_failed', () => requests.object<ConversationsReply>({ method: 'GET', path }));
  }

  /** Deletes a conversation for good; in the place of the one that is open a new one is opened. @throws ClientError */
  async erase(conversationId: string): Promise<void> {
    await this.#signIn.known();
    const { requests, log } = this.#ground;
    const path = `/v1/conversations/${encodeURIComponent(conversationId)}`;
    await orLogged(log, 'warn', 'history_failed', () => requests.json({ method: 'DELETE', path }));
    if (this.conversation.store.get().context.conversationId === conversationId) this.open();
  }

  /** Sends a file that a message may attach. @throws ClientError */
  async upload(content: FileContent, name: string, options?: UploadOptions): Promise<UploadReply> {
    await this.#signIn.known();
    return upload(this.#ground, { content, name }, options);
  }

  /** Lets the console's Test page watch this build, by the code that it shows. @throws ClientError */
  async pair(code: string): Promise<PairingClaimReply> {
    await this.#signIn.known();
    const { requests, log } = this.#ground;
    const request = { method: 'POST', path: '/v1/pairings/claim', body: { code } } as const;
    return orLogged(log, 'error', 'pairing_failed', () => requests.object<PairingClaimReply>(request));
  }

  /** Counts something, without a promise. */
  track(event: TelemetryEvent): void {
    this.#telemetry.track(event);
  }

  /** The network is back, or the page is looked at again: takes up everything that waits, at once. */
  wake(): void {
    this.#availability.wake();
    this.#opened.current.wake();
  }

  /** The page is put away, and may come back as it was: nothing begins, and nothing is read, until `resume`. */
  suspend(): void {
    this.#opened.suspend();
  }

  /** It came back: begins as after a reload, because another page may have gone on since. */
  resume(): void {
    this.#signIn.resume();
  }

  /** Ends all of it. Turns go on at the service, and the next page takes them up. */
  async close(): Promise<void> {
    this.#opened.close();
    this.#availability.close();
    this.#telemetry.close();
    await this.#keeping.settled();
  }

  async #start(): Promise<void> {
    const { key } = this.#options;
    await this.#signIn.arrive();
    if (!isPublishableKey(key)) {
      this.#availability.refuse('The key is none of an app: copy a whole publishable key, which begins with rd_pk_.');
      return;
    }
    // Nothing waits for these but turns, for the manifest.
    this.#manifest.start();
    void this.#availability.check();
    if (this.#ground.surroundings.tabs === undefined) await this.#opened.resume();
  }

  #makeConversation(team: () => TabTeam | undefined, conversationId: string | undefined): Conversation {
    return new Conversation(
      {
        ...this.#ground,
        handlers: this.#handlers,
        keeping: this.#keeping,
        person: () => this.#person.id,
        idleMs: this.#options.idleTimeoutMs ?? IDLE_TIMEOUT_MS,
        compose: (...args) => this.#compose(...args),
        around: () => this.#composer.around(),
        registerAgain: () => this.#manifest.register(),
        team,
      },
      conversationId,
    );
  }

  /** Nothing is sent before it is known who is there. */
  async #compose(...args: Parameters<Composer['compose']>): Promise<ChatBody> {
    await this.#signIn.known();
    return this.#composer.compose(...args);
  }

  #nameOf(what: string): string {
    return `assistant:${this.#options.key}:${what}`;
  }
}

/** Begins at once: registers the manifest, asks for the configuration, takes up what an earlier page left. */
export function createAssistant(options: AssistantOptions, surroundings: Surroundings): Assistant {
  return new Assistant(options, surroundings);
}

interface UploadOptions {
  /** Share of the file that is sent, from 0 to 1. It begins anew when the file is sent again. */
  readonly onProgress?: (share: number) => void;
  readonly signal?: AbortSignal;
}

function isReply(value: unknown): value is UploadReply {
  return typeof (value as UploadReply | null | undefined)?.upload_id === 'string';
}

/** @throws ClientError what the service says of the file, or `unreachable` */
async function upload(
  { requests, surroundings, log }: Ground,
  file: { readonly content: FileContent; readonly name: string },
  { onProgress = () => {}, signal = new AbortController().signal }: UploadOptions = {},
): Promise<UploadReply> {
  try {
    return await patiently(
      surroundings,
      async () => {
        const reply = await requests.file(file, signal, log.contain(onProgress));
        if (isReply(reply)) return reply;
        throw new ClientError(ownFailure('unreadable', 'The service answered something that is no upload.', true));
      },
      ({ retryable }) => retryable && !signal.aborted,
    );
  } catch (error) {
    if (!signal.aborted) log.say('warn', 'upload_failed', logged(failureOf(error)));
    throw error;
  }
}
