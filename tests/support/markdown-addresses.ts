/**
 * What CommonMark itself takes for addresses in a text: an oracle that shares nothing with the service's own reading. GitHub's
 * autolinks are read, too.
 */
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmAutolinkLiteralFromMarkdown } from 'mdast-util-gfm-autolink-literal';
import { gfmAutolinkLiteral } from 'micromark-extension-gfm-autolink-literal';

/** One place of a text that is, or is within, an address. */
export interface MarkdownAddress {
  readonly kind: string;
  /** `url`: of a link, an image or a definition. `html`: a raw tag, comment or block. */
  readonly part: 'url' | 'title' | 'html';
  readonly text: string;
  /** An address of mail that stands in the words as it is: it is the words. */
  readonly isBareMail: boolean;
}

interface Node {
  readonly type: string;
  readonly url?: string;
  readonly title?: string | null;
  readonly value?: string;
  readonly children?: readonly Node[];
  readonly position?: { readonly start: { readonly offset?: number } };
}

/** Destinations and titles of links, images and definitions, and raw HTML, as they are once entities and escapes are read. */
export function markdownAddresses(md: string): MarkdownAddress[] {
  const found: MarkdownAddress[] = [];
  const visit = (node: Node) => {
    // What was found in the words has no place of its own, or one that begins with none of a link's brackets.
    const opens = md.charAt(node.position?.start.offset ?? -1);
    const isBareMail = node.type === 'link' && node.url?.startsWith('mailto:') === true && opens !== '[' && opens !== '<';
    const parts = { url: node.url, title: node.title, html: node.type === 'html' ? node.value : undefined };
    for (const part of ['url', 'title', 'html'] as const) {
      const text = parts[part];
      if (typeof text === 'string') found.push({ kind: node.type, part, text, isBareMail });
    }
    for (const child of node.children ?? []) visit(child);
  };
  visit(treeOf(md));
  return found;
}

function treeOf(md: string): Node {
  return fromMarkdown(md, { extensions: [gfmAutolinkLiteral()], mdastExtensions: [gfmAutolinkLiteralFromMarkdown()] }) as Node;
}

/** Whether there is an image in it, by address or by reference. */
export function hasImages(md: string): boolean {
  const isImage = ({ type, children = [] }: Node): boolean => type.startsWith('image') || children.some(isImage);
  return isImage(treeOf(md));
}
