/** Times as people read them, in their own zone. */

/** `23 Nov 2026`. */
export function dayOf(time: string): string {
  return new Date(time).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
}

/** `23 Nov, 14:03`. */
export function momentOf(time: string): string {
  return new Date(time).toLocaleString('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
}

/** `23 Nov 2026, 14:03`, as the browser's language has it. */
export function wholeMomentOf(time: string): string {
  return new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}
