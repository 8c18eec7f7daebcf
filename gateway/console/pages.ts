/** Pages of console lists: in the order of a key (`pageOf`), or newest first (`newestLimit`, `pageKey`, `nextOf`). */
import { Refusal } from '../../protocol/errors.ts';
import type { PageKey } from '../../storage/sqlite/page-key.ts';

export function pageLimit(query: URLSearchParams, fallback: number, max: number): number {
  const given = query.get('limit');
  if (given === null) return fallback;
  const limit = /^\d{1,6}$/.test(given) ? Number(given) : 0;
  if (limit < 1 || limit > max) throw new Refusal('invalid_request', `limit must be a whole number from 1 to ${max}.`);
  return limit;
}

/** Rows of one page: in lists by key, and in lists that begin with the newest, whose rows are larger. */
const PAGE_DEFAULT = 100;
const NEWEST_PAGE_DEFAULT = 50;
const PAGE_MAX = 200;

/** `read` gives rows after a key, which is their field `key`. @throws Refusal 400 invalid_request for a bad `limit`. */
export function pageOf<Key extends string, Item extends Readonly<Record<Key, string>>>(
  query: URLSearchParams,
  key: Key,
  read: (after: string, limit: number) => Item[],
): { readonly items: Item[]; readonly next: string | null } {
  const limit = pageLimit(query, PAGE_DEFAULT, PAGE_MAX);
  const items = read(query.get('after') ?? '', limit);
  const last = items.at(-1);
  return { items, next: items.length === limit && last !== undefined ? last[key] : null };
}

/** Rows of one page of a list that begins with the newest. @throws Refusal 400 invalid_request for a bad `limit`. */
export function newestLimit(query: URLSearchParams): number {
  return pageLimit(query, NEWEST_PAGE_DEFAULT, PAGE_MAX);
}

const NEXT = /^(\d{1,15})\.([\w/]{1,80})$/;

/** Where the page goes on; null for the first one. @throws Refusal 400 invalid_request for anything but the `next` of a page. */
export function pageKey(query: URLSearchParams): PageKey | null {
  const after = query.get('after') ?? '';
  if (after === '') return null;
  const [, atMs, key] = NEXT.exec(after) ?? [];
  if (atMs === undefined || key === undefined) throw new Refusal('invalid_request', 'after must be the next of the page before.');
  return { atMs: Number(atMs), key };
}

/** `next` as it travels. */
export function nextOf(key: PageKey | null): string | null {
  return key === null ? null : `${key.atMs}.${key.key}`;
}
