/** Entity tags of answers that a client may keep (RFC 9110, sections 8.8.3 and 13.1.2). */
import { createHash } from 'node:crypto';

/** 22 base64url characters are 132 bits: more than two contents of one app will ever collide in. */
const TAG_CHARS = 22;

export function etagOf(content: string | Uint8Array): string {
  return `"${createHash('sha256').update(content).digest('base64url').slice(0, TAG_CHARS)}"`;
}

/** One tag of a list; a comma may stand inside the quotes. */
const ENTITY_TAG = /(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g;

/** Whether an If-None-Match header names `etag`: alone, in a list, weakly, or as `*`. '' names nothing. */
export function noneMatch(header: string, etag: string): boolean {
  if (header === '') return false;
  if (header === etag || header.trim() === '*') return true;
  // Weak comparison: what a proxy weakened is still the same answer.
  for (const [, tag] of header.matchAll(ENTITY_TAG)) if (tag === etag) return true;
  return false;
}
