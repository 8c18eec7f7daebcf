/**
 * Markdown from the model, made harmless: CommonMark without HTML, only http(s) links (BLOCK-12), and no images (BLOCK-25).
 * It repairs and never refuses, because an answer that was already streamed cannot be asked for again.
 * Code keeps every character only where every reading of CommonMark takes it for code (`markdown-fences.ts`, and code spans within one
 * line). Whatever is in doubt is defused: a bracket too many that is replaced in odd code does no harm.
 */
import { fencedCode } from './markdown-fences.ts';

/** What makes an image of a link: a client would fetch it by itself. */
const IMAGE = /(?<!!)!+\[/g;
/** `](destination "title")`, the destination with or without angle brackets; bounded, so that reading stays linear. */
const LINK = /\]\([ \t]{0,9}(?:<([^<>\n]*)>|([^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*)(?=[\s<>)]))[^()]{0,300}\)/g;
/** What still begins a link after that: in anything but http(s), with a destination or a neighbour too odd for LINK. */
const ODD_LINK = /\]\((?![ \t]*(?:https?:\/\/|<https?:\/\/[^\s<>[\]]*>))/gi;
/** A link that ends for certain where it seems to: what is left of `](` may run on over backticks, and over lines. */
const PLAIN_LINK = /\]\(https?:\/\/[^\s<>()`\\]*(?:\([^\s<>()`\\]*\)[^\s<>()`\\]*)?(?: "[^"`\\]*")?\)/gi;
/** The line begins, behind the marks of lists and quotes, with what can be the label of a definition, which may end lines later. */
const LABEL = /^[\s>*+\-\d.)]*\[/;
/** `]: destination`, the end of a definition's label, for all but http(s) on the same line. */
const DEFINITION = /\]:+(?![ \t]*(?:https?:\/\/|<https?:\/\/[^\s<>[\]]*>))/gi;
/** What HTML and autolinks begin with: a tag, a closing tag, a comment, a declaration, a mail; not a web autolink (square brackets are encoded in one). */
const TAG = /<(?=[A-Za-z/!?]|[\w.!/?#$%&'*+=^`{|}~-]+@)(?!https?:\/\/[^\s<>[\]]*>)/gi;
/** A word that may be an address, or a tag: backticks in one open no code. */
const ADDRESS = /[<@]|www\.|:\//i;
const BLANK = /^[ \t]*$/;
/** Look like opening brackets, are none. */
const HARMLESS_ANGLE = '‹';
const HARMLESS_ROUND = '❨';

interface Paragraph {
  /** A run of backticks before may pair with a later one, so that no later run is certain to open code. */
  isProse: boolean;
  /** A line of it begins with a bracket, so that a definition may end in it. */
  hasLabel: boolean;
}

function isWebLink(destination: string): boolean {
  return /^(?:https?:\/\/|<https?:\/\/[^\s<>[\]]*>)/i.test(destination);
}

/** Text outside code: images become links, other links lose their address and keep their label, tags lose their bracket. */
function defuseProse(prose: string): string {
  const tagless = prose.replaceAll(IMAGE, '[').replaceAll(TAG, HARMLESS_ANGLE);
  const linked = tagless.replaceAll(LINK, (whole: string, bracketed: string | undefined, bare: string | undefined, at: number) => {
    if (isWebLink(bracketed ?? bare ?? '')) return whole;
    // With the address gone, what follows could turn the label into another link or a definition, and a backtick less could make a
    // fence of the line: then it is kept, defused below.
    return whole.includes('`') || /[:([]/.test(tagless.charAt(at + whole.length)) ? whole : ']';
  });
  return linked.replaceAll(ODD_LINK, `]${HARMLESS_ROUND}`);
}

/** True when `prose`, already defused, holds a link whose end is not certain. */
function leavesLinkOpen(prose: string): boolean {
  return prose.replaceAll(PLAIN_LINK, '').includes('](');
}

/** True when a run of backticks behind `prose` opens code, should a later one close it. */
function opensCode(prose: string): boolean {
  let start = prose.length;
  while (start > 0 && !/\s/.test(prose.charAt(start - 1))) start--;
  return !prose.endsWith('\\') && !ADDRESS.test(prose.slice(start)) && !leavesLinkOpen(defuseProse(prose));
}

/** One line: its code spans (a run of backticks up to the next run as long) stay as they are while they are certain. */
function defuseLine(source: string, paragraph: Paragraph): string {
  paragraph.hasLabel ||= LABEL.test(source.replaceAll(IMAGE, '['));
  // Without its colon a definition is prose, and so are its references.
  const line = paragraph.hasLabel ? source.replaceAll(DEFINITION, ']') : source;
  let out = '';
  let from = 0;
  const runs = paragraph.isProse ? [] : [...line.matchAll(/`+/g)];
  for (let index = 0; index < runs.length; index++) {
    const open = runs[index];
    if (open === undefined) break;
    let closing = index + 1;
    while (closing < runs.length && runs[closing]?.[0].length !== open[0].length) closing++;
    const close = runs[closing];
    const prose = line.slice(from, open.index);
    const end = close === undefined ? line.length : close.index + close[0].length;
    const code = line.slice(open.index, end);
    // The cells of a table end at a bar, within code, too.
    paragraph.isProse = close === undefined || code.includes('|') || !opensCode(prose);
    if (paragraph.isProse) break;
    out += defuseProse(prose) + code;
    from = end;
    index = closing;
  }
  const rest = defuseProse(line.slice(from));
  paragraph.isProse ||= leavesLinkOpen(rest);
  return out + rest;
}

/**
 * `md` without HTML, images, and links that are not http(s). Idempotent, and never longer than it was. A bare carriage return, which
 * ends a line in CommonMark, becomes a line feed, so that all who read it see the same lines.
 */
export function defuseMarkdown(md: string): string {
  const lines = md.replaceAll(/\r(?!\n)/g, '\n').split('\n');
  const fences = fencedCode(lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line)));
  let paragraph: Paragraph = { isProse: false, hasLabel: false };
  const out = lines.map((line, index) => {
    const fence = fences[index];
    if (fence !== undefined || BLANK.test(line.replace('\r', ''))) paragraph = { isProse: false, hasLabel: false };
    return fence === 'code' ? line : defuseLine(line, paragraph);
  });
  return out.join('\n');
}
