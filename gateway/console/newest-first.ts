/** Pages of console lists that begin with the newest: `next` says the time and the key of a page's last row. */
import { Refusal } from '../../protocol/errors.ts';
import type { PageKey } from '../../storage/conversations/feedback.ts';

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

/** Rows of one page of such a list. */
export const PAGE_DEFAULT = 50;
export const PAGE_MAX = 200;
