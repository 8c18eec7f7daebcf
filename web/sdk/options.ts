/** What an app says when it starts the widget (WIDGET-2), and what is wrong with it. */
import type { TurnContext } from '../../protocol/runtime/chat.ts';
import type { AssistantOptions } from '../client/assistant.ts';
import type { LogRecord } from '../client/log.ts';
import type { BlockWords } from './blocks/words.ts';
import type { LaterWords } from './later-words.ts';
import type { WidgetWords } from './words.ts';

type ThemeColour =
  | 'surface'
  | 'surfaceRaised'
  | 'surfaceHigh'
  | 'surfaceSunk'
  | 'onSurface'
  | 'onSurfaceMuted'
  | 'outline'
  | 'accent'
  | 'onAccent'
  | 'danger'
  | 'onDanger'
  | 'success'
  | 'onSuccess';

/** Colours (`#rrggbb`) and measures, named as in the published configuration (APPEARANCE-1); any subset. */
export interface WidgetTheme extends Readonly<Partial<Record<ThemeColour, string>>> {
  /** Of corners, 0 to 32 px. */
  readonly radius?: number;
  readonly fontFamily?: string;
  /** 0.8 to 1.4. */
  readonly fontScale?: number;
  readonly spacing?: 'compact' | 'cosy' | 'roomy';
  readonly style?: 'flat' | 'soft' | 'outlined';
  readonly launcherPosition?: 'start' | 'end';
  readonly logoAssetId?: string;
}

/** What the widget tells the app. Events are added; none is renamed. */
export type WidgetEvent =
  | { readonly type: 'ready' }
  | { readonly type: 'available'; readonly available: boolean }
  | { readonly type: 'opened' | 'closed' }
  | { readonly type: 'message_sent'; readonly turn_id: string }
  | { readonly type: 'answer_ended'; readonly turn_id: string; readonly status: string }
  | { readonly type: 'action_ended'; readonly name: string; readonly status: string }
  /** A person wants a screen that nobody registered. */
  | { readonly type: 'screen'; readonly route: string; readonly params: Readonly<Record<string, unknown>> };

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
  readonly requestTimeoutMs?: number;
  readonly idleTimeoutMs?: number;
  /** Every record of the log. Unless said otherwise warnings and errors go to the console. */
  readonly log?: (record: LogRecord) => void;
}

const SCHEMES: readonly unknown[] = [undefined, 'auto', 'light', 'dark'];

/** What keeps the widget from starting, in one sentence that says what to do; undefined when nothing does. */
export function problemOf(options: unknown): string | undefined {
  if (typeof options !== 'object' || options === null)
    return 'init takes an object with the key of the app: init({ key: "rd_pk_live_…" }).';
  const { key, address, container, colorScheme, themeMode } = options as Partial<WidgetOptions>;
  if (typeof key !== 'string' || key === '') return 'init needs the publishable key of the app as key: copy it from the console.';
  if (address !== undefined && !/^https?:\/\/[^/\s?#]+\/?$/.test(String(address))) {
    return 'address is the origin of the service, without a path: https://assistant.example.';
  }
  if (container !== undefined && !(container instanceof HTMLElement)) return 'container is an element of the page.';
  if (!SCHEMES.includes(colorScheme)) return 'colorScheme is auto, light or dark.';
  return SCHEMES.includes(themeMode) ? undefined : 'themeMode is auto, light or dark.';
}
