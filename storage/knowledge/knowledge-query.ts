/** Full-text queries from people's texts. A text never becomes query syntax: it is split into words, and each is quoted. */

/** Longer questions repeat themselves, and every further term costs a walk over its chunks. */
export const QUERY_TERMS_MAX = 24;
/** Longer words are pasted data and are not searched for. */
const TERM_MAX_CHARS = 64;
/** The part of the text that is read; a message has at most 4,000 characters. */
const TEXT_READ_MAX_CHARS = 8_000;

/** English words that nearly every chunk has: they cost the most and rank the least. */
const STOP_WORDS = new Set(
  `a about am an and any are as at be been but by can could did do does for from get had has have hello hey hi how i if in into is it
  its just let like me my no not of off on or our please shall she should so some than that the their them then there these they this
  those to up us was we were what when where which who why will with would you your`.split(/\s+/),
);

export function queryTerms(text: string): string[] {
  const terms = new Set<string>();
  for (const [word] of text
    .slice(0, TEXT_READ_MAX_CHARS)
    .toLowerCase()
    .matchAll(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu)) {
    if (word.length > TERM_MAX_CHARS || STOP_WORDS.has(word)) continue;
    terms.add(word);
    if (terms.size === QUERY_TERMS_MAX) break;
  }
  return [...terms];
}

/** The app's id as the one token that its chunks carry: the tokenizer would split `app_…` at the underscore. */
export function appToken(appId: string): string {
  return appId.slice(appId.indexOf('_') + 1);
}

/** A MATCH expression for one app's chunks with any, or all, of `terms` (at least one, as queryTerms gives them). */
export function matchExpression(appId: string, terms: readonly string[], operator: 'OR' | 'AND' = 'OR'): string {
  return `app_id : "${appToken(appId)}" AND (${terms.map((term) => `"${term}"`).join(` ${operator} `)})`;
}
