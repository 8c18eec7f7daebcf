/**
 * Keeps personal data out of web addresses that a model writes: a picture's address is fetched without anybody's click, so a
 * value put back inside of one would be sent to whoever the address belongs to.
 */
import { LOOKALIKE } from '../../protocol/placeholder.ts';
import { isPlaceholderKind, placeholderOf } from './placeholder.ts';

/** What ends an address in running text, in Markdown and in a list. */
const BOUNDARY = /[\s"'<>()[\]]/;
/** As long as addresses may be; what is longer is none that anybody follows. */
const RUN_MAX_CHARS = 2_048;

/** The text since the last boundary, at most an address long. `before` is such a rest itself. */
export function restOf(before: string, text: string): string {
  for (let at = text.length - 1; at >= 0; at--) {
    if (BOUNDARY.test(text[at] as string)) return text.slice(at + 1).slice(-RUN_MAX_CHARS);
  }
  return (before + text).slice(-RUN_MAX_CHARS);
}

/** `text` with every placeholder that stands within an address made one that is never restored; `before`: what was said since the last boundary. */
export function hideInAddresses(text: string, before = ''): string {
  return text.replace(LOOKALIKE, (placeholder, at: number) => {
    const kind = /^⟦([a-z]+)_/.exec(placeholder)?.[1] ?? '';
    if (!isPlaceholderKind(kind) || !restOf(before, text.slice(0, at)).includes('://')) return placeholder;
    return placeholderOf(kind, undefined);
  });
}
