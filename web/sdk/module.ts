/**
 * The web SDK as a module (WIDGET-2):
 *
 * ```js
 * import { init } from 'https://assistant.example/sdk/web/1.0.0/assistant.mjs';
 * init({ key: 'rd_pk_live_…' });
 * ```
 *
 * One widget a page. Every function but `init` waits for it where it is called before.
 */
import { Component, Fragment, options } from 'preact';
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { jsx, jsxs } from 'preact/jsx-runtime';
import { WEB_SDK_VERSION } from '../../protocol/runtime/web-sdk.ts';
import { checkedAddress, placeElement, startIn } from './element.ts';
import { checkCall, checkOptions, type Registering, type WidgetOptions, type WidgetTheme } from './options.ts';
import type { Widget } from './widget.ts';

export type { WidgetEvent, WidgetOptions, WidgetTheme } from './options.ts';
export { WEB_SDK_VERSION as version };

/**
 * What parts that are loaded later draw with: the same Preact as the rest. Two copies of it on a page would each have hooks of their own. Parts find
 * it by a symbol of this version (see bundle.mjs), because a classic script exports nothing.
 */
const shared = { Component, Fragment, jsx, jsxs, useEffect, useId, useLayoutEffect, useMemo, useRef, useState, folder: './' };
// By the name that `web/sdk/bundle.mjs` looks for.
(globalThis as unknown as Record<symbol, unknown>)[Symbol.for(`assistant-widget ${WEB_SDK_VERSION}`)] = shared;

/** A page that nobody looks at draws no frames; what is drawn there is drawn soon. */
const UNSEEN_MS = 100;
// Deltas come many times a frame, and are drawn once.
options.debounceRendering = (draw) => {
  if (document.visibilityState === 'hidden') setTimeout(draw, UNSEEN_MS);
  else requestAnimationFrame(draw);
};

let current: { readonly widget: Widget; readonly element: HTMLElement } | undefined;
const waiting: ((widget: Widget) => void)[] = [];

/** What the page registered, for the widget that there is and for each that `init` puts in its place; `destroy` forgets it. */
const registrations = new Set<{ readonly work: (widget: Widget) => () => void; takeAway: () => void }>();

/** With the widget: now, or once there is one. */
function withWidget<Result>(work: (widget: Widget) => Result): Promise<Awaited<Result>> {
  return new Promise((resolve, reject) => {
    const run = (widget: Widget) => Promise.resolve(work(widget)).then(resolve, reject);
    if (current === undefined) waiting.push((widget) => void run(widget));
    else void run(current.widget);
  });
}

/** As `withWidget`, for what gives back how to take it away. @throws TypeError that says what is wrong with what was given */
function registered<Name extends Registering>(name: Name, args: Parameters<Widget[Name]>): () => void {
  checkCall(name, args);
  const work = (widget: Widget) => (widget[name] as (...given: readonly unknown[]) => () => void)(...args);
  const registration = { work, takeAway: current === undefined ? () => {} : work(current.widget) };
  registrations.add(registration);
  return () => {
    if (registrations.delete(registration)) registration.takeAway();
  };
}

function removeWidget(): Promise<void> {
  const { widget, element } = current ?? {};
  current = undefined;
  element?.remove();
  return widget?.destroy() ?? Promise.resolve();
}

/**
 * Starts the widget. A second call puts another one in the place of the first, with what was registered.
 * @throws TypeError that says what is wrong with the options: then all is as it was
 */
export function init(given: WidgetOptions): Widget {
  const address = checkedAddress(given);
  void removeWidget();
  const element = placeElement(given);
  try {
    current = { widget: startIn(element, given, address), element };
  } catch (error) {
    element.remove();
    throw error;
  }
  const { widget } = current;
  for (const registration of registrations) registration.takeAway = registration.work(widget);
  for (const work of waiting.splice(0)) work(widget);
  return widget;
}

/** Changes options of the widget as it runs: what it looks like, its words, and what it asks the page. @throws TypeError as `init` does */
export function update(...args: Parameters<Widget['update']>): void {
  checkOptions(args[0], true);
  void withWidget((widget) => widget.update(...args));
}

export function open(): void {
  void withWidget((widget) => widget.open());
}

export function close(): void {
  void withWidget((widget) => widget.close());
}

export function ask(text: string): void {
  void withWidget((widget) => widget.ask(text));
}

export function destroy(): Promise<void> {
  registrations.clear();
  return removeWidget();
}

export function identify(...args: Parameters<Widget['identify']>) {
  return withWidget((widget) => widget.identify(...args));
}

export function signOut(): Promise<void> {
  return withWidget((widget) => widget.signOut());
}

export function setUserToken(...args: Parameters<Widget['setUserToken']>): void {
  void withWidget((widget) => widget.setUserToken(...args));
}

export function registerAction(...args: Parameters<Widget['registerAction']>): () => void {
  return registered('registerAction', args);
}

export function registerScreen(...args: Parameters<Widget['registerScreen']>): () => void {
  return registered('registerScreen', args);
}

export function onEvent(...args: Parameters<Widget['onEvent']>): () => void {
  return registered('onEvent', args);
}

export function registerComponent(...args: Parameters<Widget['registerComponent']>): () => void {
  return registered('registerComponent', args);
}

export function prefill(text: string): void {
  void withWidget((widget) => widget.prefill(text));
}

export function attach(...args: Parameters<Widget['attach']>): Promise<boolean> {
  return withWidget((widget) => widget.attach(...args));
}

export function conversations(before?: string) {
  return withWidget((widget) => widget.conversations(before));
}

export function deleteConversation(id: string): Promise<void> {
  return withWidget((widget) => widget.deleteConversation(id));
}

export function openConversation(id?: string): void {
  void withWidget((widget) => widget.openConversation(id));
}

export function setTheme(light: WidgetTheme, dark?: WidgetTheme): void {
  void withWidget((widget) => widget.setTheme(light, dark));
}
