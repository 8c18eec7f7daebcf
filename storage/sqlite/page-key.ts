/** Pages of lists sorted newest first: the key at which a page ends, and the SQL that reads on from there. */

/** The time and the key of a page's last row; the key orders rows of the same time. */
export interface PageKey {
  readonly atMs: number;
  readonly key: string;
}

/** What `afterPage` binds; null: the first page. */
export function pageStart(before: PageKey | null): PageKey {
  return before ?? { atMs: Number.MAX_SAFE_INTEGER, key: '' };
}

/** The rows after the page, newest first, of a list that these columns order. For use after `WHERE … AND`; binds `:atMs` and `:key`. */
export function afterPage(at: string, key: string): string {
  return `${at} <= :atMs AND (${at} < :atMs OR ${key} < :key) ORDER BY ${at} DESC, ${key} DESC`;
}
