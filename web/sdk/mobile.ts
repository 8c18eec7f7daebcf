/**
 * The page for web views, `/sdk/mobile` (MOBILE-1): the widget fills it, and the app that shows it drives it by JSON-RPC 2.0, in texts. The app
 * is whoever put itself into the page before it was loaded; a page of the web can do that to none of another origin, and without an app
 * nothing starts. What the app and the page may ask of each other stands in docs/mobile.md.
 */
import { isRecord, parsedJson } from '../client/json.ts';
import * as sdk from './esm.ts';
import type { WidgetOptions } from './options.ts';

type Params = Readonly<Record<string, unknown>>;
type Widget = ReturnType<typeof sdk.init>;

interface Port {
  postMessage(text: string): void;
  onmessage?: ((event: { readonly data: unknown }) => void) | null;
}

/** Where apps put themselves: WKWebView of iOS; WebView of Android, and Flutter; WebView of React Native. */
interface Shown {
  readonly webkit?: { readonly messageHandlers?: { readonly assistantHost?: Port } };
  readonly AssistantHost?: Port;
  readonly ReactNativeWebView?: Port;
}

/** Questions to the app that wait for their answer. One that is never answered has a time limit in the widget, and is forgotten here. */
const ASKED_MAX = 100;

const { webkit, AssistantHost, ReactNativeWebView } = globalThis as unknown as Shown;
const app = webkit?.messageHandlers?.assistantHost ?? AssistantHost ?? ReactNativeWebView;

/** The whole page, and what notches and the keyboard leave of it. */
const FULL_PAGE = `.layer .panel.panel { inset: 0; inset-block-end: var(--keyboard); inline-size: auto; block-size: auto; border: 0; border-radius: 0; box-shadow: none; animation: none; padding: env(safe-area-inset-top) env(safe-area-inset-right) 0 env(safe-area-inset-left); }`;

let secret: unknown;
let widget: Widget | undefined;
let surrounding: unknown;
let lastId = 0;
const asked = new Map<unknown, { resolve(value: unknown): void; reject(error: Error): void }>();

/** Errors have no fields that JSON knows. */
const plain = (_: string, value: unknown) => (value instanceof Error ? { name: value.name, message: value.message } : value);

function post(message: Params): void {
  app?.postMessage(JSON.stringify({ jsonrpc: '2.0', ...message, ...(secret === undefined ? {} : { secret }) }, plain));
}

function tell(method: string, params: Params = {}): void {
  post({ method, params });
}

function askApp(method: string, params: Params): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const [oldest] = asked.keys();
    if (asked.size >= ASKED_MAX) asked.delete(oldest);
    asked.set(++lastId, { resolve, reject });
    post({ id: lastId, method, params });
  });
}

function running(): Widget {
  if (widget === undefined) throw new TypeError('call init first.');
  return widget;
}

function registerAction(definition: unknown): void {
  running().registerAction(definition as Parameters<Widget['registerAction']>[0], (params, { name, invocationId, receipt }) =>
    askApp('action', { name, params, invocation_id: invocationId, ...(receipt === undefined ? {} : { receipt }) }),
  );
}

function registerScreen(definition: unknown): void {
  const screen = definition as Parameters<Widget['registerScreen']>[0];
  running().registerScreen(screen, (params) => tell('screen', { route: screen.name, params }));
}

const shadow = () => document.querySelector('assistant-widget')?.shadowRoot;

function init({ actions = [], screens = [], secret: given, ...options }: Params): { readonly version: string } {
  secret = given;
  surrounding = undefined;
  widget = sdk.init({
    ...(options as unknown as WidgetOptions),
    ...(options.userToken === true ? { userToken: () => askApp('userToken', {}) as Promise<string> } : {}),
    ...{ address: location.origin, open: true, launcher: false },
    context: () => surrounding as ReturnType<NonNullable<WidgetOptions['context']>>,
    log: (record) => (record.level === 'warn' || record.level === 'error' ? tell('log', { ...record }) : undefined),
  });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(FULL_PAGE);
  shadow()?.adoptedStyleSheets.push(sheet);
  for (const definition of actions as unknown[]) registerAction(definition);
  for (const definition of screens as unknown[]) registerScreen(definition);
  widget.onEvent((event) => {
    if (event.type === 'closed') tell('close');
    if (event.type === 'screen') tell('screen', { route: event.route, params: event.params });
    else tell('event', { ...event });
  });
  return { version: sdk.version };
}

/** One step back, as Escape leads: out of the list of conversations, then out of the assistant. */
function back(): void {
  const root = shadow();
  const top = root?.querySelector('.past') ?? root?.querySelector('.panel');
  const stepBack = new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, composed: true, cancelable: true });
  if (root && top) (top.contains(root.activeElement) ? root.activeElement : top)?.dispatchEvent(stepBack);
  else tell('close');
}

/** What the app may ask of the page. */
const METHODS: Readonly<Record<string, (params: Params) => unknown>> = {
  init,
  back,
  registerAction,
  registerScreen,
  open({ conversation_id: id }) {
    if (id !== undefined) running().assistant.open(String(id));
    running().open();
  },
  close: () => running().close(),
  ask: ({ text }) => running().ask(String(text)),
  identify: (person) => running().identify(person as unknown as Parameters<Widget['identify']>[0]),
  signOut: () => running().signOut(),
  setUserToken: ({ token }) => running().assistant.setUserToken((token ?? undefined) as string | undefined),
  setContext({ context }) {
    surrounding = context;
  },
  update: (changes) => sdk.update(changes as Parameters<typeof sdk.update>[0]),
  wake: () => running().assistant.wake(),
};

const NO_METHOD = -32601;
const WRONG_PARAMS = -32602;
const FAILED = -32000;

async function run(method: string, params: Params, id: unknown): Promise<void> {
  let outcome: Params;
  try {
    const work = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined;
    outcome =
      work === undefined ? { error: { code: NO_METHOD, message: `There is no ${method}.` } } : { result: (await work(params)) ?? null };
  } catch (error) {
    const code = error instanceof TypeError ? WRONG_PARAMS : FAILED;
    outcome = { error: { code, message: error instanceof Error ? error.message : String(error) } };
  }
  if (id !== undefined) post({ id, ...outcome });
  else if (outcome.error !== undefined) tell('log', { level: 'error', code: 'bridge', ...(outcome.error as Params) });
}

/** A message of the app: a request, a notification, or what came of a question. Anything else is passed over. */
function receive(given: unknown): void {
  const message = typeof given === 'string' ? parsedJson(given) : given;
  if (!isRecord(message) || message.jsonrpc !== '2.0') return;
  const { id, method, params = {}, result, error } = message;
  if (typeof method === 'string' && isRecord(params)) {
    void run(method, params, id);
    return;
  }
  const waiting = asked.get(id);
  asked.delete(id);
  if (isRecord(error)) waiting?.reject(new Error(String(error.message)));
  else waiting?.resolve(result ?? undefined);
}

/** Nothing in the page leads away from it: whatever was there next would speak to the app in its place. */
function leadOut(event: Event): void {
  const link = event.composedPath().find((each) => each instanceof HTMLAnchorElement);
  if (link === undefined) return;
  event.preventDefault();
  tell('link', { url: link.href });
}

// No frames: the service refuses them, and this is for a web view that does not ask it.
if (app === undefined || window.top !== window) document.body.textContent = 'This page is shown by apps: see docs/mobile.md.';
else {
  Object.assign(globalThis, { assistantPage: Object.freeze({ receive }) });
  if ('onmessage' in app) app.onmessage = ({ data }) => receive(data);
  for (const type of ['click', 'auxclick']) addEventListener(type, leadOut, { capture: true });
  tell('hello', { version: sdk.version });
}
