/** The part of the DOM that the SVG code uses. The browser's own types would bring its globals into every file of the program. */

export interface DomNode {
  readonly nodeType: number;
}

export interface DomElement extends DomNode {
  /** With its prefix, in the case it was written in. */
  readonly nodeName: string;
  readonly localName: string;
  readonly namespaceURI: string | null;
  readonly firstElementChild: DomElement | null;
  readonly nextElementSibling: DomElement | null;
  readonly childNodes: Iterable<DomNode>;
  textContent: string;
  getAttributeNames(): string[];
  getAttribute(name: string): string | null;
  removeAttribute(name: string): void;
  remove(): void;
  querySelectorAll(selector: string): Iterable<DomElement>;
}

/** A window: the constructors it gives to those who have it. */
export interface Dom {
  readonly DOMParser: new () => { parseFromString(text: string, type: 'image/svg+xml'): { readonly documentElement: DomElement } };
  readonly XMLSerializer: new () => { serializeToString(node: DomElement): string };
  close(): void;
}

/** In their order. The DOM's own collections look at all of them again for each one that is asked for. */
export function* childrenOf(element: DomElement): Generator<DomElement> {
  for (let child = element.firstElementChild; child !== null; child = child.nextElementSibling) yield child;
}

/** Name and value of each. A copy: attributes may be removed meanwhile. */
export function attributesOf(element: DomElement): [name: string, value: string][] {
  return element.getAttributeNames().map((name) => [name, element.getAttribute(name) ?? '']);
}
