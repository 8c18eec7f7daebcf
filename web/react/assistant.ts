/** The widget in a React app: its script is loaded once, and the widget lives as long as the component that asks for it (WIDGET-12). */
import { useEffect, useRef } from 'react';
import type { Assistant as Client } from '../client/assistant.ts';
import type { ScreenHandler, WidgetEvent, WidgetOptions } from '../sdk/options.ts';

/** What the script puts on the page, as far as it is used here. */
export interface WidgetScript extends Pick<Client, 'registerAction' | 'identify' | 'signOut' | 'setUserToken'> {
  init(options: WidgetOptions): unknown;
  registerScreen(definition: Parameters<Client['registerScreen']>[0], open: ScreenHandler): () => void;
  onEvent(listener: (event: WidgetEvent) => void): () => void;
  destroy(): Promise<void>;
}

export interface AssistantProps extends Omit<WidgetOptions, 'key' | 'address'> {
  /** The publishable key of the app; React keeps `key` for itself. */
  readonly appKey: string;
  /** Origin of the service: `https://assistant.example`. */
  readonly address: string;
  /** The release to load, with its hash as `integrity`; the newest one unless said otherwise. */
  readonly version?: string;
  readonly integrity?: string;
  /** Registers actions, screens and listeners; called once for each widget that starts. */
  readonly setUp?: (widget: WidgetScript) => void;
}

interface Running {
  readonly script: WidgetScript;
  who: string | undefined;
  token: WidgetOptions['userToken'];
}

/** Another signature is another try. */
function whoIs(user: WidgetOptions['user']): string | undefined {
  return user ? `${user.id} ${user.hmac}` : undefined;
}

const loading = new Map<string, Promise<WidgetScript>>();

/** The script at this address; asked for once, and again after it could not be had. */
function load(src: string, integrity: string | undefined): Promise<WidgetScript> {
  const known = loading.get(src);
  if (known !== undefined) return known;
  const loaded = new Promise<WidgetScript>((resolve, reject) => {
    const script = Object.assign(document.createElement('script'), { src, async: true, crossOrigin: 'anonymous' });
    if (integrity !== undefined) script.integrity = integrity;
    script.addEventListener('load', () => resolve((globalThis as unknown as { Assistant: WidgetScript }).Assistant));
    script.addEventListener('error', () => {
      loading.delete(src);
      script.remove();
      reject(new Error(`${src} cannot be loaded: look at the address, the integrity and the script-src of the page`));
    });
    document.head.append(script);
  });
  loading.set(src, loaded);
  return loaded;
}

/** Draws nothing where it stands. Another key or address starts the widget anew; another `user` signs that person in, with the `userToken` beside it, and null signs out. */
export function Assistant(props: AssistantProps): null {
  const { appKey, address, version = 'latest', integrity, user, userToken } = props;
  const newest = useRef(props);
  newest.current = props;
  // The same function at every render: another one would be asked at once.
  const ask = useRef(() => {
    const now = newest.current.userToken;
    return typeof now === 'function' ? now() : now;
  }).current;
  const token = typeof userToken === 'function' ? ask : userToken;
  const who = whoIs(user);
  const widget = useRef<Running | undefined>(undefined);
  useEffect(() => {
    let isOver = false;
    const start = (script: WidgetScript) => {
      if (isOver) return;
      const { appKey: key, version: _version, integrity: _integrity, setUp, ...options } = newest.current;
      const given = typeof options.userToken === 'function' ? { userToken: ask } : {};
      script.init({ ...options, ...given, key });
      widget.current = { script, who: whoIs(options.user), token: given.userToken ?? options.userToken };
      setUp?.(script);
    };
    load(`${address}/sdk/web/${version}/assistant.js`, integrity).then(start).catch(reportError);
    return () => {
      isOver = true;
      void widget.current?.script.destroy();
      widget.current = undefined;
    };
  }, [appKey, address, version, integrity, ask]);
  useEffect(() => {
    const running = widget.current;
    if (running === undefined) return;
    const { script, token: before } = running;
    if (running.who !== who) {
      // A token that was there before is the one before's.
      const own = token === ask || token !== before ? { userToken: token } : {};
      (user ? script.identify({ ...user, ...own }) : script.signOut()).catch(reportError);
    }
    // To who signs in, a token left out is as it was: one that was taken away is said.
    if (token !== before) script.setUserToken(token);
    running.who = who;
    running.token = token;
  }, [who, token, user, ask]);
  return null;
}
