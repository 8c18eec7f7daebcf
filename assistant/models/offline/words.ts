/** Owns how the offline model writes: somebody else's words as plain text or safe Markdown, cut without harm. */
import { clipWhole } from '../../../protocol/placeholder.ts';
import { withoutEnd } from '../../../protocol/schema/text.ts';

/** What Markdown would read as markup. Underscores inside words (and in placeholders, ⟦email_1⟧) are none. */
const MARKUP = /[\\`*[\]<>|~#]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu;
const IMAGE = /!\[([^[\]\n]*)\]\([^()\n]*\)/g;
const LINK = /\[([^[\]\n]*)\]\([^()\n]*\)/g;
/** Code, where an angle bracket is one, or what stands between angle brackets outside of it. */
const CODE_OR_ANGLED = /`[^`\n]*`|<[/a-zA-Z!][^<>\n]*>/g;
/** What HTML calls its elements, as documents use them: `<dir>` and `<your token>` are no tags but places to fill in. */
const ELEMENT =
  /^<(?:!|\/?(?:a|abbr|article|aside|audio|b|blockquote|body|br|button|center|cite|code|dd|del|details|div|dl|dt|em|embed|figcaption|figure|font|footer|form|h[1-6]|head|header|hr|html|i|iframe|img|input|ins|kbd|label|li|link|main|mark|meta|nav|object|ol|option|p|picture|pre|q|s|samp|script|section|select|small|source|span|strike|strong|style|sub|summary|sup|svg|table|tbody|td|template|textarea|tfoot|th|thead|title|tr|u|ul|var|video|wbr)(?![a-z0-9_]))/i;

/** `md` without tags; `placed` is what becomes of other words between angle brackets. */
function withoutTags(md: string, placed: (words: string) => string): string {
  return md.replace(CODE_OR_ANGLED, (found) => {
    if (found.startsWith('`')) return found;
    return ELEMENT.test(found) ? ' ' : placed(found);
  });
}

/** `text` for a Markdown document, on one line and without meaning as markup. */
export function escapeMarkdown(text: string): string {
  return text.replace(/\s+/g, ' ').trim().replace(MARKUP, '\\$&');
}

/** Inline Markdown as plain words on one line: labels without addresses, no emphasis, no code marks, no tags. */
export function plainText(md: string): string {
  return withoutTags(md.replace(IMAGE, '$1').replace(LINK, '$1'), (words) => words)
    .replace(/\*+|`+|~~/g, '')
    .replace(/(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu, '')
    .replace(/\\([!-/:-@[-`{-~])/g, '$1')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Inline Markdown on one line to quote as it was written, except for images and tags; plain when its marks do not pair up. */
export function quotedMarkdown(md: string): string {
  // As code they are read as they stand; as prose a client would take them for HTML.
  const tagless = withoutTags(md.replace(IMAGE, '$1'), (words) => (/^<https?:/i.test(words) ? words : `\`${words}\``));
  const line = tagless.replace(/\s+/g, ' ').trim();
  const pairs = (mark: RegExp) => (line.match(mark) ?? []).length % 2 === 0;
  return pairs(/\*\*/g) && pairs(/`+/g) && pairs(/(?<!\*)\*(?!\*)/g) ? line : escapeMarkdown(plainText(md));
}

/** `clipWhole` at the end of a word when one ends in the second half. */
export function cutWords(text: string, max: number): string {
  const short = clipWhole(text, max);
  if (short === text) return text;
  const blank = short.lastIndexOf(' ');
  return blank >= max / 2 ? `${withoutEnd(short.slice(0, blank), ' \n\t,;:.–-')}…` : short;
}

/** `track_order`, `orderId` → `track order`, `order id`. */
export function spokenName(name: string): string {
  return name
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .replace(/[_\-.\s]+/g, ' ')
    .trim()
    .toLowerCase();
}

export function capitalised(text: string): string {
  const [first = ''] = text;
  return first.toUpperCase() + text.slice(first.length);
}

/** `a`, `a and b`, `a, b and c`. */
export function enumerated(parts: readonly string[], word = 'and'): string {
  if (parts.length <= 1) return parts.join('');
  return `${parts.slice(0, -1).join(', ')} ${word} ${parts.at(-1)}`;
}
