/** What an app says when it starts the widget (WIDGET-2), and what is wrong with it. */
import { RADIUS_MAX_PX } from '../../protocol/limits.ts';
import type { TurnContext } from '../../protocol/runtime/chat.ts';
import { bindingOf } from '../client/app/person.ts';
import type { AssistantOptions } from '../client/assistant.ts';
import { isRecord, mustBe } from '../client/json.ts';
import type { LogRecord } from '../client/log.ts';
import { COLOUR_NAMES, isColour, isFont, numberIn, type ThemeColour, type WidgetTheme } from './appearance.ts';
import { BLOCK_WORDS, type BlockWords } from './blocks/words.ts';
import { LATER_NAMES, type LaterWords } from './later-words.ts';
import { WIDGET_WORDS, type WidgetWords } from './words.ts';

export type { WidgetTheme } from './appearance.ts';

/** What the widget tells the app. Events are added; none is renamed. */
export type WidgetEvent =
  | { readonly type: 'ready' }
  | { readonly type: 'available'; readonly available: boolean }
  | { readonly type: 'opened' | 'closed' }
  | { readonly type: 'message_sent'; readonly turn_id: string }
  /** `turn_id`: of the question. `ms`: since it was sent. */
  | { readonly type: 'first_word'; readonly turn_id: string; readonly ms: number }
  | { readonly type: 'answer_ended'; readonly turn_id: string; readonly status: string; readonly ms: number }
  | ({ readonly type: 'action_started' } & OfCall)
  | ({ readonly type: 'action_ended'; readonly status: string; readonly ms: number } & OfCall)
  | ({ readonly type: 'card_shown' | 'card_edited' | 'card_confirmed' | 'card_declined' | 'card_expired' } & OfCall)
  | { readonly type: 'link_opened'; readonly address: string }
  | { readonly type: 'screen_opened'; readonly route: string }
  | { readonly type: 'rated'; readonly block_id: string; readonly value: number }
  | { readonly type: 'feedback'; readonly message_id: string; readonly rating: 1 | -1 }
  | { readonly type: 'upload_ended'; readonly status: 'ok' | 'failed'; readonly bytes: number; readonly ms: number }
  | { readonly type: 'error'; readonly code: string; readonly turn_id: string; readonly request_id: string }
  | { readonly type: 'unread'; readonly count: number }
  /** Nobody did anything for `idleSignOutMs`. */
  | { readonly type: 'signed_out' }
  /** A person wants a screen that nobody registered. */
  | { readonly type: 'screen'; readonly route: string; readonly params: Readonly<Record<string, unknown>> };

/** A call of an action of the app. */
interface OfCall {
  readonly invocation_id: string;
  readonly name: string;
}

/** Opens a screen of the app, with what the answer gave it. */
export type ScreenHandler = (params: Readonly<Record<string, unknown>>) => void;

export interface WidgetOptions {
  /** A publishable key of the app. */
  readonly key: string;
  /** Address of the service; the script's own unless said otherwise. */
  readonly address?: string;
  /** Who is signed in; null: nobody. */
  readonly user?: AssistantOptions['user'];
  /** The person's own token, for actions that the service runs; or who is asked for it. */
  readonly userToken?: AssistantOptions['userToken'];
  /** What surrounds each question. */
  readonly context?: () => TurnContext | undefined | Promise<TurnContext | undefined>;
  /** Wins over the published configuration. */
  readonly theme?: WidgetTheme;
  readonly themeDark?: WidgetTheme;
  /** As the page, or as the system is, unless said otherwise. */
  readonly colorScheme?: 'auto' | 'light' | 'dark';
  /** The same; `colorScheme` wins. */
  readonly themeMode?: WidgetOptions['colorScheme'];
  /** BCP 47; of the page, or of the browser, unless said otherwise. */
  readonly locale?: string;
  /** The direction of writing; the page's unless said otherwise. */
  readonly dir?: 'ltr' | 'rtl';
  /** Texts of the widget in the app's language. */
  readonly words?: Partial<WidgetWords & LaterWords & BlockWords>;
  /** Draws the thread in this element, without a launcher. */
  readonly container?: HTMLElement;
  /** False: the app has a button of its own, and calls `open`. */
  readonly launcher?: boolean;
  /** Whether the panel is open at the start. */
  readonly open?: boolean;
  /** A card beside the launcher, a column of the whole height, or the whole window. */
  readonly layout?: 'card' | 'side' | 'full';
  /** What is offered before the first question, in the place of what is published; a function is asked whenever it is drawn. */
  readonly suggestions?: readonly string[] | (() => readonly string[]);
  /** A person follows a link. True: the app opened it itself. */
  readonly openLink?: (address: string) => unknown;
  /** What links in answers may lead to; https, mailto and tel unless said otherwise. */
  readonly linkSchemes?: readonly ('https' | 'http' | 'mailto' | 'tel')[];
  /** Whether addresses in words are links. */
  readonly autolinks?: boolean;
  /** Whether anything may be kept in the browser. False until the person agreed: then `update({ consent: true })`. */
  readonly consent?: boolean;
  /** Who is signed in is signed out after so long without a key, a pointer or a message, in any tab. */
  readonly idleSignOutMs?: number;
  readonly requestTimeoutMs?: number;
  readonly idleTimeoutMs?: number;
  /** Every record of the log. Unless said otherwise warnings and errors go to the console. */
  readonly log?: (record: LogRecord) => void;
}

/** Undefined where the app gives none, or its function throws. */
export function suggestionsNow(given: WidgetOptions['suggestions']): readonly string[] | undefined {
  try {
    return typeof given === 'function' ? given() : given;
  } catch (error) {
    reportError(error);
    return undefined;
  }
}

/** What may change while the widget runs. */
export type WidgetChanges = {
  readonly [K in keyof Omit<
    WidgetOptions,
    'key' | 'address' | 'user' | 'userToken' | 'container' | 'open' | 'idleSignOutMs' | `${string}TimeoutMs`
  >]: WidgetOptions[K] | undefined;
};

/** What is wanted of an option, in words, and whether a value is that. */
type Want = readonly [wanted: string, isIt: (value: unknown) => boolean];
type Shape = { readonly [name: string]: Want | Shape };
type ShapeOf<T> = { readonly [K in keyof Required<T>]: Want | Shape };

const oneOf = (...values: readonly string[]): Want => [values.join(' or '), (value) => values.includes(value as string)];
const between = (min: number, max: number): Want => [`a number from ${min} to ${max}`, (value) => numberIn(value, min, max) !== undefined];
const A_TEXT: Want = ['a text', (value) => typeof value === 'string'];
const SOME_TEXT: Want = ['a text', (value) => typeof value === 'string' && value !== ''];
const A_FUNCTION: Want = ['a function', (value) => typeof value === 'function'];
const YES_OR_NO: Want = ['true or false', (value) => typeof value === 'boolean'];
const A_COLOUR: Want = ['a colour as #rrggbb', isColour];
/** What a timer of a browser can wait. */
const A_TIME: Want = ['a number of milliseconds from 1 to 2147483647', between(1, 2_147_483_647)[1]];
const SCHEME = oneOf('auto', 'light', 'dark');
const COLOURS = Object.fromEntries([...COLOUR_NAMES, 'onSuccess'].map((name) => [name, A_COLOUR]));

const THEME: Shape = {
  ...COLOURS,
  radius: between(0, RADIUS_MAX_PX),
  fontFamily: ['names of faces', isFont],
  fontScale: between(0.8, 1.4),
  spacing: oneOf('compact', 'cosy', 'roomy'),
  style: oneOf('flat', 'soft', 'outlined'),
  launcherPosition: oneOf('start', 'end'),
  logoAssetId: SOME_TEXT,
} satisfies ShapeOf<Pick<WidgetTheme, Exclude<keyof WidgetTheme, ThemeColour>>>;

/** Whether times and numbers can be written in it: what is none throws wherever something is drawn with it. */
function isLanguage(value: unknown): boolean {
  try {
    return Intl.getCanonicalLocales(value as string).length === 1;
  } catch {
    return false;
  }
}

/** The language of the widget: the app's, the page's, or the browser's. */
export function localeOf({ locale }: Pick<WidgetOptions, 'locale'>): string {
  const said = [locale, document.documentElement.lang.replace('_', '-'), navigator.language];
  return said.find((tag) => tag && isLanguage(tag)) ?? 'en';
}

function isPerson(value: unknown): boolean {
  if (value !== null) bindingOf(value, 'user');
  return true;
}

const WORDS = Object.fromEntries([...Object.keys({ ...WIDGET_WORDS, ...BLOCK_WORDS }), ...LATER_NAMES].map((name) => [name, A_TEXT]));

const OPTIONS = {
  key: ['the publishable key of the app: copy it from the console', SOME_TEXT[1]],
  address: [
    'the origin of the service, without a path: https://assistant.example',
    (value) => /^https?:\/\/[^/\s?#]+\/?$/.test(String(value)),
  ],
  user: ['an object with id and hmac, or null', isPerson],
  userToken: ['a text or a function', (value) => typeof value === 'string' || typeof value === 'function'],
  context: A_FUNCTION,
  theme: THEME,
  themeDark: THEME,
  colorScheme: SCHEME,
  themeMode: SCHEME,
  locale: ['a language tag, as de-AT', isLanguage],
  dir: oneOf('ltr', 'rtl'),
  words: WORDS,
  container: ['an element of the page', (value) => value instanceof HTMLElement],
  launcher: YES_OR_NO,
  open: YES_OR_NO,
  layout: oneOf('card', 'side', 'full'),
  suggestions: [
    'a list of texts, or a function',
    (value) => typeof value === 'function' || (Array.isArray(value) && value.every((each) => typeof each === 'string')),
  ],
  openLink: A_FUNCTION,
  linkSchemes: [
    'a list of https, http, mailto and tel',
    (value) => Array.isArray(value) && value.every((each) => /^(?:https?|mailto|tel)$/.test(String(each))),
  ],
  autolinks: YES_OR_NO,
  consent: YES_OR_NO,
  idleSignOutMs: A_TIME,
  requestTimeoutMs: A_TIME,
  idleTimeoutMs: A_TIME,
  log: A_FUNCTION,
} satisfies ShapeOf<WidgetOptions>;

/** How many letters are others. A library for it is larger than all of this table. */
function distance(one: string, other: string): number {
  let row = [...`${other} `].map((_, n) => n);
  for (const letter of one) {
    const next = [(row[0] ?? 0) + 1];
    for (let n = 0; n < other.length; n++) {
      next.push(Math.min((next[n] ?? 0) + 1, (row[n + 1] ?? 0) + 1, (row[n] ?? 0) + (letter === other[n] ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** @throws TypeError that names the first option of `given` that is not as `shape` has it, what came and what is wanted */
function check(shape: Shape, given: object, path = ''): void {
  for (const [name, value] of Object.entries(given)) {
    const at = path + name;
    if (!Object.hasOwn(shape, name)) {
      throw new TypeError(
        `there is no ${at}. Is ${path}${Object.keys(shape).reduce((best, each) => (distance(name, each) < distance(name, best) ? each : best))} meant?`,
      );
    }
    if (value === undefined) continue;
    const want = shape[name] as Want | Shape;
    if (!Array.isArray(want)) {
      mustBe(isRecord(value), at, 'an object', value);
      check(want as Shape, value as object, `${at}.`);
    } else mustBe(want[1](value), at, want[0], value);
  }
}

/** @throws TypeError in one sentence that names the option, what came and what is wanted. `changes`: of a widget that runs, which has its key */
export function checkOptions(given: unknown, changes = false): void {
  try {
    if (!isRecord(given)) throw new TypeError('init takes an object with the key of the app: init({ key: "rd_pk_live_…" }).');
    if (!changes && (given.key === undefined || given.key === '')) {
      throw new TypeError('init needs the publishable key of the app as key: copy it from the console.');
    }
    check(OPTIONS, given);
  } catch (error) {
    throw new TypeError(`Assistant: ${(error as Error).message}`);
  }
}

const NAMED: Want = ['an object with a name', (value) => isRecord(value) && typeof value.name === 'string'];
const DRAWING: Want = ['a function, or the name of an element', (value) => typeof value === 'function' || SOME_TEXT[1](value)];

/** What is given to each function that registers something. */
const CALLS = {
  registerAction: [NAMED, A_FUNCTION],
  registerScreen: [NAMED, A_FUNCTION],
  registerComponent: [SOME_TEXT, DRAWING],
  onEvent: [A_FUNCTION],
} satisfies Readonly<Record<string, readonly Want[]>>;

export type Registering = keyof typeof CALLS;

/** @throws TypeError in one sentence that says which argument is wrong, what came and what is wanted */
export function checkCall(name: Registering, given: readonly unknown[]): void {
  CALLS[name].forEach(([wanted, isIt], at) => {
    mustBe(isIt(given[at]), `argument ${at + 1} of ${name}`, wanted, given[at]);
  });
}
