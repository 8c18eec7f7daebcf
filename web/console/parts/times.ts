/** Times as people read them, in their own zone, and in one form whatever the browser's language: `23 Nov 2026, 14:03`. Days of use are UTC's. */

/** `23 Nov 2026`. */
export function dayOf(time: string): string {
  return new Date(time).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
}

/** `23 Nov 2026` of `2026-11-23`, wherever somebody reads it. */
export function dateOf(day: string): string {
  return new Date(day).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
}

/** `November 2026` of `2026-11`. */
export function monthName(month: string): string {
  return new Date(month).toLocaleDateString('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' });
}

/** `23 Nov, 14:03`. */
export function momentOf(time: string): string {
  return new Date(time).toLocaleString('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
}

/** `23 Nov 2026, 14:03`. */
export function wholeMomentOf(time: string): string {
  return new Date(time).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
}

/** `14:03:09`, of what happened a short while ago; '' for what is no time. */
export function clockOf(time: string | number): string {
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? '' : at.toLocaleTimeString('en-GB');
}

/** `14:03:09.123`, where milliseconds tell steps apart. */
export function exactClockOf(atMs: number): string {
  return new Date(atMs).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 });
}

/** `23 Nov 2026, 14:03:09.123`. */
export function exactMomentOf(atMs: number): string {
  return `${dayOf(new Date(atMs).toISOString())}, ${exactClockOf(atMs)}`;
}
