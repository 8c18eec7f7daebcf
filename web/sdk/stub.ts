/**
 * What stands in a page before the script (WIDGET-35, WIDGET-48): takes calls, draws the launcher as it is published, and loads the script once
 * somebody wants what only that can do. What is in {{…}} is filled in when it is built.
 */
import { type Appearance, appearanceOf } from './appearance.ts';
import launcherCss from './look/launcher.css';
import tokensCss from './look/tokens.css';
import type { WidgetOptions } from './options.ts';

type Call = readonly [name: string, args: readonly unknown[], resolve?: (value: unknown) => void, reject?: (error: unknown) => void];
type Answer = { readonly available?: unknown; readonly require_identity?: unknown; readonly config?: object };

interface Policy {
  createScriptURL(address: string, base: string): string;
}

interface TrustedPage {
  Assistant?: unknown;
  readonly trustedTypes?: { createPolicy(name: string, rules: { createScriptURL: () => string }): Policy };
}

/** The stub's own script, with the policy of whoever made it, if there is one. */
type Own = HTMLScriptElement & { readonly policy?: Policy };

/** The name of the launcher by language: the bundler takes it of the words of each. */
declare const LAUNCHER_WORDS: Readonly<Record<string, string>>;

const page = window as unknown as TrustedPage;
const SECONDS_60 = 60_000;
/** By then the script has drawn its own launcher, or there is none to be drawn. */
const DRAWN_MS = 10_000;
const PATHS = { open: 'M6 9l6 6 6-6', closed: 'M5 5h14v11H10l-5 4z' };
const UUID_BYTES = 16;

/** The page's storage; null where nothing may be kept. */
function kept(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** The device as the script knows it: 32 hexadecimal digits, and behind them who holds it. */
function deviceOf(key: string, mayKeep: boolean): string {
  const name = `assistant:${key}:device`;
  const known = mayKeep ? kept(name) : null;
  if (known !== null && /^[0-9a-f]{32}/.test(known)) return known.slice(0, 2 * UUID_BYTES);
  const id = [...crypto.getRandomValues(new Uint8Array(UUID_BYTES))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  try {
    if (mayKeep) localStorage.setItem(name, id);
  } catch {
    // Then the script mints another one.
  }
  return id;
}

/** Whether something is under way, or is to happen by itself, that the script alone can do. */
function isAtOnce({ key, open, container, idleSignOutMs }: WidgetOptions): boolean {
  if (typeof key !== 'string' || !key.includes('pk_live_') || open || container || idleSignOutMs) return true;
  const conversation = kept(`assistant:${key}:conversation`) ?? '';
  return location.search.includes('assistant-pair=') || !/^$|"turns":\[\],"calls":\[\]/.test(conversation);
}

class Stub {
  readonly q: Call[] = [];
  readonly #own: Own;
  #options: WidgetOptions | undefined;
  #host: HTMLElement | undefined;
  #answer: Answer | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isLoading = false;

  constructor(own: Own) {
    this.#own = own;
  }

  init(options: WidgetOptions): void {
    this.q.push(['init', [options]]);
    this.#end();
    if (this.#isLoading) return;
    this.#options = { ...options };
    if (typeof options !== 'object' || options === null || isAtOnce(options)) this.load();
    else void this.#ask();
  }

  update(changes: Partial<WidgetOptions>): void {
    this.#options = this.#options && { ...this.#options, ...changes };
    this.#draw();
  }

  /** Before anybody wanted the script, nothing is left. */
  destroy(): boolean {
    this.#end();
    if (!this.#isLoading) this.q.length = 0;
    return !this.#isLoading;
  }

  load(): void {
    if (this.#isLoading) return;
    this.#isLoading = true;
    const script = document.createElement('script');
    const src = new URL('../{{version}}/assistant.js', this.#own.src).href;
    let trusted = src;
    try {
      const policy = this.#own.policy ?? page.trustedTypes?.createPolicy('assistant-widget', { createScriptURL: () => src });
      trusted = policy?.createScriptURL(src, src.slice(0, src.lastIndexOf('/sdk/web/'))) ?? src;
    } catch {
      // A page that does not name the policy: where it demands one, it says so below.
    }
    script.src = trusted;
    script.integrity = '{{integrity}}';
    script.crossOrigin = 'anonymous';
    script.nonce = this.#own.nonce;
    script.async = true;
    // The script draws the launcher in the same place, once the assistant is there.
    this.q.push(['onEvent', [({ type }: { type: string }) => type === 'available' && this.#end()]]);
    script.onload = () => setTimeout(() => this.#end(), DRAWN_MS);
    script.onerror = () => {
      // The next press tries again.
      this.#isLoading = false;
      script.remove();
    };
    document.head.append(script);
    this.#draw();
  }

  async #ask(): Promise<void> {
    const options = this.#options;
    if (options === undefined) return;
    const { key, consent = true } = options;
    const address = (options.address ?? new URL(this.#own.src).origin).replace(/\/$/, '');
    const headers = {
      'X-Service-Key': key,
      'X-Service-Device': deviceOf(key, consent),
      'X-Service-SDK': 'web/{{version}}',
      'X-Service-Platform': 'web',
    };
    try {
      const answer = await fetch(`${address}/v1/apps/config`, { headers });
      if (!answer.ok) throw new Error(String(answer.status));
      this.#answer = (await answer.json()) as Answer;
    } catch {
      // The script says what is wrong, and asks again.
      this.load();
      return;
    }
    if (this.#options !== options || this.#isLoading) return;
    this.#draw();
    if (this.#answer.available !== true) this.#timer = setTimeout(() => void this.#ask(), SECONDS_60);
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#host?.remove();
    this.#host = undefined;
    this.#options = undefined;
  }

  #draw(): void {
    const options = this.#options;
    const { available, require_identity: demandsPerson, config } = this.#answer ?? {};
    if (options === undefined || available !== true || (demandsPerson === true && !options.user?.hmac)) return;
    const { theme, themeDark, themeMode = 'auto', colorScheme = themeMode, launcher = true, dir } = options;
    const look = appearanceOf(config, theme, themeDark);
    this.#host ??= this.#place();
    const { style, dataset, shadowRoot } = this.#host;
    for (const [name, value] of Object.entries(look.properties)) style.setProperty(name, value);
    dataset.scheme = colorScheme;
    this.#host.dir = dir ?? getComputedStyle(document.documentElement).direction;
    shadowRoot?.replaceChildren(...(launcher ? [this.#layer(options, look)] : []));
    const [layer] = shadowRoot?.children ?? [];
    if (layer instanceof HTMLElement && typeof layer.showPopover === 'function') layer.showPopover();
  }

  #place(): HTMLElement {
    const host = document.createElement('assistant-widget');
    host.attachShadow({ mode: 'open' }).adoptedStyleSheets = [tokensCss, launcherCss].map((css) => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(css);
      return sheet;
    });
    document.documentElement.append(host);
    return host;
  }

  #layer(options: WidgetOptions, { launcherAt, copilot: { launcherLabel } }: Appearance): HTMLElement {
    const layer = Object.assign(document.createElement('div'), { className: `layer is-${launcherAt}`, popover: 'manual' });
    const unread = Number(kept(`assistant:${options.key}:unread`)) || 0;
    const tag = options.locale ?? (document.documentElement.lang || navigator.language);
    const words = options.words?.launcher ?? LAUNCHER_WORDS[tag.toLowerCase().split('-')[0] ?? ''] ?? 'Ask the assistant';
    const button = Object.assign(document.createElement('button'), {
      type: 'button',
      className: `launcher${launcherLabel ? ' has-label' : ''}`,
    });
    const name = launcherLabel ?? words;
    for (const [attribute, value] of Object.entries({
      part: 'launcher',
      'aria-label': unread === 0 ? name : `${name} (${unread})`,
      'aria-haspopup': 'dialog',
      'aria-expanded': 'false',
      'aria-busy': String(this.#isLoading),
    }))
      button.setAttribute(attribute, value);
    button.append(this.#icon(PATHS.closed));
    if (launcherLabel) button.append(Object.assign(document.createElement('span'), { textContent: launcherLabel }));
    if (unread > 0) {
      const badge = Object.assign(document.createElement('span'), {
        className: 'unread',
        textContent: String(Math.min(unread, 99)),
        part: 'badge',
      });
      badge.setAttribute('aria-hidden', 'true');
      button.append(badge);
    }
    button.onclick = () => {
      this.q.push(['open', []]);
      this.load();
    };
    layer.append(button);
    return layer;
  }

  #icon(path: string): SVGElement {
    const [svg, line] = ['svg', 'path'].map((name) => document.createElementNS('http://www.w3.org/2000/svg', name)) as [
      SVGElement,
      SVGElement,
    ];
    svg.setAttribute('class', 'icon');
    svg.setAttribute('viewBox', '0 0 24 24');
    svg.setAttribute('aria-hidden', 'true');
    line.setAttribute('d', path);
    svg.append(line);
    return svg;
  }
}

/** The functions of the page. */
function functionsOf(stub: Stub): Record<string, unknown> {
  const { q } = stub;
  const called: Record<string, unknown> = { q };
  // As the script's own: what registers gives back what takes it away, and a promise settles as its.
  const later = (name: string, args: readonly unknown[]) => new Promise((resolve, reject) => q.push([name, args, resolve, reject]));
  const take = (names: string, how: (name: string, args: readonly never[]) => unknown) => {
    for (const name of names.split(' ')) called[name] = (...args: never[]) => how(name, args);
  };
  const wanted = (name: string, args: readonly unknown[]) => {
    const answer = later(name, args);
    stub.load();
    return answer;
  };
  take('init', (_, [options]) => {
    stub.init(options as unknown as WidgetOptions);
    return called;
  });
  take('update', (name, args) => {
    q.push([name, args]);
    stub.update(args[0] as unknown as Partial<WidgetOptions>);
  });
  take('setTheme', (name, args) => {
    q.push([name, args]);
    stub.update({ theme: args[0], themeDark: args[1] } as unknown as Partial<WidgetOptions>);
  });
  take('setUserToken close', (name, args) => void q.push([name, args]));
  take('open ask prefill openConversation', (name, args) => {
    q.push([name, args]);
    stub.load();
  });
  take('identify signOut attach conversations deleteConversation', wanted);
  take('destroy', (name, args) => (stub.destroy() ? Promise.resolve() : later(name, args)));
  take('registerAction registerScreen registerComponent onEvent', (name, args) => {
    const takeAway = later(name, args) as Promise<() => void>;
    return () => void takeAway.then((takeIt) => takeIt());
  });
  return called;
}

// Markup of the page such as `<img name="currentScript">` takes the place of the document's property, and has no say in where tokens go.
const own = Reflect.get(Document.prototype, 'currentScript', document) as Own;
// Twice in a page, as after a body was swapped: the first one goes on.
if (page.Assistant === undefined) {
  const stub = new Stub(own);
  page.Assistant = functionsOf(stub);
  if (!/^https?:[^?#]+\/sdk\/web\/[^/?#]+\/stub\.js$/.test(own.src)) {
    throw new TypeError(`Assistant: the stub must be loaded from /sdk/web/ of the service: it came from ${own.src}`);
  }
}
