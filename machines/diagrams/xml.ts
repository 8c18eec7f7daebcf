/** XML made of strings: elements whose attributes and texts are escaped. */

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** What XML 1.0 has no way to write, or reads as something else: control characters, halves of surrogate pairs. */
const NO_XML = /[^\t\n\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

/** Markup, to be told from text that still has to be escaped. */
export interface Markup {
  readonly xml: string;
}

function escaped(text: string): string {
  return text.replaceAll(NO_XML, '\uFFFD').replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** An element with its content: a string is text, and is escaped. Attributes that are undefined are left out. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | number | undefined>>,
  content: readonly (Markup | string)[] = [],
): Markup {
  const written = Object.entries(attributes).map(([key, value]) => (value === undefined ? '' : ` ${key}="${escaped(String(value))}"`));
  const inside = content.map((part) => (typeof part === 'string' ? escaped(part) : part.xml)).join('');
  return { xml: inside === '' ? `<${name}${written.join('')}/>` : `<${name}${written.join('')}>${inside}</${name}>` };
}
