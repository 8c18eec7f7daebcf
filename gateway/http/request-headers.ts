/** Two request headers that more than one interface reads. */

const BEARER = /^Bearer +(\S+)$/i;

/** The token of an Authorization header; undefined when it names none, or another scheme. */
export function bearerOf(authorization: string): string | undefined {
  return BEARER.exec(authorization)?.[1];
}

/** Far more events than a stream ever has; a longer number would no longer be exact. */
const EVENT_ID = /^\d{1,15}$/;

/** The seq after the last one that the client saw; `fallback` when Last-Event-ID is absent or not a seq. */
export function seqAfter(lastEventId: string, fallback: number): number {
  return EVENT_ID.test(lastEventId) ? Number(lastEventId) + 1 : fallback;
}
