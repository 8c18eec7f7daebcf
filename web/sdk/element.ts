/**
 * `<assistant-widget>`: the place of the widget in a page, with everything in one open shadow root (WIDGET-3, WIDGET-4). In markup it starts by
 * itself with its attributes `key` (or `app-key`) and `address`; with `inline` it draws the thread where it stands.
 */
import { widgetSheets } from './look/sheets.ts';
import type { WidgetOptions } from './options.ts';
import { checkOptions } from './options.ts';
import { Widget } from './widget.ts';

const ELEMENT = 'assistant-widget';

/** Made once. */
let sheets: readonly CSSStyleSheet[] | undefined;

function emptyRoot(host: HTMLElement): ShadowRoot {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  root.replaceChildren();
  sheets ??= widgetSheets();
  root.adoptedStyleSheets = [...sheets];
  return root;
}

/** The origin of the script, where the page does not say another one. */
let scriptOrigin = '';

/** Where the service is. @throws TypeError that says what is wrong with the options */
export function checkedAddress(options: WidgetOptions): string {
  checkOptions(options);
  const address = (options.address ?? scriptOrigin).replace(/\/$/, '');
  if (address === '') throw new TypeError('Assistant: init needs the origin of the service as address: https://assistant.example.');
  return address;
}

/** Starts a widget in this element. @throws TypeError as `checkedAddress` does */
export function startIn(host: HTMLElement, options: WidgetOptions, address: string = checkedAddress(options)): Widget {
  return new Widget(options, address, emptyRoot(host));
}

class AssistantWidgetElement extends HTMLElement {
  /** The widget that runs here. One that `init` made belongs to whoever called it. */
  widget: Widget | undefined;
  isMade = false;

  connectedCallback(): void {
    // Frameworks take `key` for themselves.
    const key = this.getAttribute('app-key') ?? this.getAttribute('key');
    if (this.isMade || this.widget !== undefined || key === null) return;
    const address = this.getAttribute('address');
    const isInline = this.hasAttribute('inline');
    try {
      // Markup may be a stranger's, and what a person says and who they are goes there.
      if (address !== null && new URL(address).origin !== scriptOrigin) {
        throw new TypeError(`Assistant: an element asks the service that its script came from: give init the address ${address}.`);
      }
      this.widget = startIn(this, {
        key,
        ...(address === null ? {} : { address }),
        ...(isInline ? { container: this } : {}),
        ...(this.hasAttribute('open') ? { open: true } : {}),
      });
    } catch (error) {
      reportError(error);
    }
  }

  disconnectedCallback(): void {
    if (this.isMade) return;
    void this.widget?.destroy();
    this.widget = undefined;
  }
}

/** Defines the element, unless another release has done so on this page. `origin`: where the script came from; '' when it is not known. */
export function defineElement(origin: string): void {
  // Before the definition: elements that are in the page already start with it.
  scriptOrigin = origin;
  if (customElements.get(ELEMENT) === undefined) customElements.define(ELEMENT, AssistantWidgetElement);
}

/**
 * Without a container it stands beside the body, not in it: scripts of a head come before there is one, and a page whose body is swapped for
 * another one keeps its widget.
 */
export function placeElement(options: WidgetOptions): HTMLElement {
  const element = document.createElement(ELEMENT);
  (element as AssistantWidgetElement).isMade = true;
  const { container } = options;
  if (container === undefined) document.documentElement.append(element);
  else {
    element.setAttribute('inline', '');
    container.append(element);
  }
  return element;
}
