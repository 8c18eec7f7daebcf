/** A web page → its title and what it says, as Markdown: Readability's article, else the page without its furniture. */
import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import { type DomNode, htmlMarkdown, LEVEL_ATTRIBUTE } from './html-markdown.ts';

export interface ReadablePage {
  /** '' when the page has none. */
  readonly title: string;
  readonly text: string;
}

/** Readability looks at every ancestor of every element: deeper or larger pages would keep it busy for minutes. */
const ARTICLE_DEPTH_MAX = 150;
const ARTICLE_ELEMENTS_MAX = 20_000;
const ARTICLE_HTML_MAX_CHARS = 2_000_000;
/** An article that leaves out more than this of the page is a guess gone wrong: a FAQ or a price list is all of its parts. */
const ARTICLE_SHARE_MIN = 0.4;

/** What no page says anything in. */
const FURNITURE =
  'script, style, noscript, template, iframe, nav, aside, dialog, [role="navigation"], [role="banner"], [role="contentinfo"], [role="search"], [aria-hidden="true"]';
/** A header or footer of an article belongs to it; that of the page does not. */
const PAGE_EDGES = 'body > header, body > footer, body > div > header, body > div > footer';
const MAIN = 'main, [role="main"]';

type Page = ReturnType<typeof parseHTML>['document'];

/** linkedom's document as Readability's types know one: the compiler has no browser types here. */
type ReadabilityDocument = ConstructorParameters<typeof Readability>[0];

/** Whether the elements are few and shallow enough for Readability; looks at no more of them than it has to. */
function isModest(root: DomNode): boolean {
  const waiting: { node: DomNode; depth: number }[] = [{ node: root, depth: 0 }];
  let elements = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    elements += 1;
    if (elements > ARTICLE_ELEMENTS_MAX || next.depth > ARTICLE_DEPTH_MAX) return false;
    for (const child of next.node.childNodes) {
      if (child.nodeType === 1) waiting.push({ node: child, depth: next.depth + 1 });
    }
  }
  return true;
}

function pageTitle(document: Page): string {
  return document.querySelector('title')?.textContent?.trim() || document.querySelector('h1')?.textContent?.trim() || '';
}

const NOTHING: ReadonlySet<DomNode> = new Set();

/** The article that Readability finds. The document is taken apart on the way. */
function article(document: Page, maxChars: number): ReadablePage | undefined {
  if (!isModest(document.documentElement as unknown as DomNode)) return undefined;
  for (const element of document.querySelectorAll(FURNITURE)) element.remove();
  // Readability makes an h2 of every h1, and sections would no longer lie below the heading of their page.
  for (const heading of document.querySelectorAll('h1')) heading.setAttribute(LEVEL_ATTRIBUTE, '1');
  try {
    const found = new Readability<DomNode>(document as unknown as ReadabilityDocument, {
      serializer: (node) => node as unknown as DomNode,
    }).parse();
    if (!found?.content) return undefined;
    return { title: found.title?.trim() ?? '', text: htmlMarkdown(found.content, { skip: NOTHING, maxChars }) };
  } catch {
    // It was written for the documents of browsers, and some of what it relies on is missing in odd ones.
    return undefined;
  }
}

/** All that the page says, without its furniture; the document stays as it is. */
function whole(document: Page, maxChars: number): ReadablePage {
  const skip = new Set(document.querySelectorAll(`${FURNITURE}, ${PAGE_EDGES}`) as Iterable<unknown> as Iterable<DomNode>);
  const root = document.documentElement as unknown as DomNode;
  const mains = document.querySelectorAll(MAIN);
  const main = mains.length === 1 ? htmlMarkdown(mains[0] as unknown as DomNode, { skip, maxChars }) : '';
  return { title: pageTitle(document), text: main === '' ? htmlMarkdown(root, { skip, maxChars }) : main };
}

/** A document even where the page is a fragment: without an html element the DOM has no root to look into. */
function asDocument(html: string): string {
  return /<html[\s>]/i.test(html.slice(0, 100_000)) ? html : `<!doctype html><html><body>${html}</body></html>`;
}

/** Its text ends soon after `maxChars`. Runs as long as the page makes it: pages of strangers are read in a process that can be ended. */
export function readableHtml(source: string, maxChars: number): ReadablePage {
  const { document } = parseHTML(asDocument(source));
  const all = whole(document, maxChars);
  const found = source.length > ARTICLE_HTML_MAX_CHARS ? undefined : article(document, maxChars);
  if (found === undefined || found.text.length < all.text.length * ARTICLE_SHARE_MIN) return all;
  return { title: found.title || all.title, text: found.text };
}
