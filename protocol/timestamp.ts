/** How a time travels: RFC 3339 in UTC, with milliseconds. */

/** `2026-11-21T10:00:00.000Z` of milliseconds since 1970; null stays null. */
export function timestamp(atMs: number): string;
export function timestamp(atMs: number | null): string | null;
export function timestamp(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}
