/** The widget in a React app: its script is loaded once, and the widget lives as long as the component that asks for it (WIDGET-12). */
'use client';
import { useEffect, useRef } from 'react';
import { loadScript, type Release, type WidgetScript } from '../sdk/load.ts';
import type { WidgetOptions } from '../sdk/options.ts';
import { SetUp } from './set-up.ts';

export type { WidgetScript } from '../sdk/load.ts';

export interface AssistantProps extends Omit<WidgetOptions, 'key' | 'address'>, Release {
  /** The publishable key of the app; React keeps `key` for itself. */
  readonly appKey: string;
  /** Origin of the service: `https://assistant.example`. */
  readonly address: string;
  /**
   * Registers actions, screens and listeners. Called for each widget that starts, and again where it is another function: what it registers
   * then takes the place of what it registered before. A function that it returns is called before that, and at the end.
   */
  readonly setUp?: (widget: WidgetScript) => unknown;
}

/** What of the props the widget follows as it runs, where it is data: told apart by what is in it. */
const LOOKS = [
  ...(['theme', 'themeDark', 'colorScheme', 'themeMode', 'locale', 'dir', 'words', 'launcher'] as const),
  ...(['layout', 'suggestions', 'linkSchemes', 'autolinks', 'consent'] as const),
] as const;

interface Running {
  readonly script: WidgetScript;
  readonly setUp: SetUp;
  who: string | undefined;
  token: WidgetOptions['userToken'];
  looks: string;
  isOpen: boolean | undefined;
  log: WidgetOptions['log'];
  registers: AssistantProps['setUp'];
}

/** Another signature is another try. */
function whoIs(user: WidgetOptions['user']): string | undefined {
  return user ? `${user.id} ${user.hmac}` : undefined;
}

function looksOf(props: AssistantProps): string {
  return JSON.stringify(LOOKS.map((name) => props[name] ?? null));
}

/** Starts the widget as the props are now. What is a function asks for the newest one whenever it is called. */
function start(script: WidgetScript, newest: { readonly current: AssistantProps }, ask: () => unknown): Running {
  const { appKey: key, version: _version, integrity: _integrity, nonce: _nonce, setUp, ...options } = newest.current;
  const userToken = typeof options.userToken === 'function' ? (ask as NonNullable<typeof options.userToken>) : options.userToken;
  script.init({
    ...options,
    ...(userToken === undefined ? {} : { userToken }),
    context: () => newest.current.context?.(),
    openLink: (address) => newest.current.openLink?.(address),
    key,
  });
  const running: Running = {
    ...{ script, setUp: new SetUp(script), registers: setUp },
    ...{ who: whoIs(options.user), token: userToken, looks: looksOf(newest.current), isOpen: options.open, log: options.log },
  };
  return running;
}

/** Who is signed in now, with the token beside them. */
function follow(running: Running, { user }: AssistantProps, token: WidgetOptions['userToken'], ask: () => unknown): void {
  const { script, token: before, who: was } = running;
  const who = whoIs(user);
  Object.assign(running, { who, token });
  if (was !== who) {
    // A token that was there before is the one before's.
    const own = token === ask || token !== before ? { userToken: token } : {};
    (user ? script.identify({ ...user, ...own }) : script.signOut()).catch(reportError);
  }
  // To who signs in, a token left out is as it was: one that was taken away is said.
  if (token !== before) script.setUserToken(token);
}

/** What is drawn and registered now. */
function show(running: Running, props: AssistantProps): void {
  const { script, ...before } = running;
  const looks = looksOf(props);
  // First: what is refused is not tried again at every render.
  Object.assign(running, { looks, isOpen: props.open, log: props.log, registers: props.setUp });
  if (looks !== before.looks) script.update(Object.fromEntries(LOOKS.map((name) => [name, props[name]])));
  if (props.open !== undefined && props.open !== before.isOpen) script[props.open ? 'open' : 'close']();
  if (props.log !== before.log) script.update({ log: props.log });
  if (props.setUp !== before.registers) running.setUp.call(props.setUp);
}

/**
 * Draws nothing where it stands. The widget follows all its props: another `user` signs that person in, with the `userToken` beside it, and
 * null signs out; another key, address, release, container or time limit starts it anew.
 */
export function Assistant(props: AssistantProps): null {
  const { appKey, address, version, integrity, nonce, container, requestTimeoutMs, idleTimeoutMs, idleSignOutMs, userToken } = props;
  const newest = useRef(props);
  newest.current = props;
  // The same function at every render: another one would be asked at once.
  const ask = useRef(() => {
    const now = newest.current.userToken;
    return typeof now === 'function' ? now() : now;
  }).current;
  const token = typeof userToken === 'function' ? ask : userToken;
  const widget = useRef<Running | undefined>(undefined);
  useEffect(() => {
    let isOver = false;
    const begin = (script: WidgetScript) => {
      if (isOver) return;
      const running = start(script, newest, ask);
      widget.current = running;
      running.setUp.call(running.registers);
    };
    loadScript(address, newest.current).then(begin).catch(reportError);
    return () => {
      isOver = true;
      widget.current?.setUp.end();
      void widget.current?.script.destroy();
      widget.current = undefined;
    };
  }, [appKey, address, version, integrity, nonce, container, requestTimeoutMs, idleTimeoutMs, idleSignOutMs, ask]);
  // After every render: each looks for what is another one now.
  useEffect(() => {
    if (widget.current === undefined) return;
    try {
      follow(widget.current, newest.current, token, ask);
      show(widget.current, newest.current);
    } catch (error) {
      // A wrong prop is told, and takes nothing of the app down.
      reportError(error);
    }
  });
  return null;
}
