/**
 * Names of the headers that SDKs send and read (KEY-1, KEY-8), with the earlier
 * spellings that deployed builds keep using (VERSION-4). Lowercase, as they are looked up.
 */

/** Present spelling first. */
export const RUNTIME_HEADERS = {
  key: ['x-service-key', 'x-rd-key'],
  device: ['x-service-device', 'x-rd-device'],
  userToken: ['x-service-user-token', 'x-rd-user-token'],
  sdk: ['x-service-sdk', 'x-rd-sdk'],
  platform: ['x-service-platform', 'x-rd-platform'],
} as const satisfies Record<string, readonly [string, string]>;

/** As people write it: the signed-in person's own token, for HTTP actions with auth `user`. */
export const USER_TOKEN_HEADER = 'X-Service-User-Token';

export type RuntimeHeader = keyof typeof RUNTIME_HEADERS;

/** Who is signed in, where a request has no body that could say so (PERSON-14). It has no earlier spelling. */
export const USER_HEADER = 'x-service-user';

export const REQUEST_ID_HEADER = 'x-request-id';

/** A publishable key's beginning as the console mints it, and as it was once minted. */
export const KEY_PREFIX = 'rd_pk_';
export const EARLIER_KEY_PREFIX = 'rdui_pk_';

/** What is wrong with a request that is served all the same; on test keys only. */
export const WARNING_HEADER = 'X-Service-Warning';

/** Every runtime answer depends on who asks: the key decides the app, the origin decides whether a browser may read it. */
export const RUNTIME_VARY = 'X-Service-Key, X-RD-Key, Origin';

/** A header in whichever spelling was sent, the present one first; '' when absent. */
export function runtimeHeader(header: (name: string) => string, name: RuntimeHeader): string {
  const [present, earlier] = RUNTIME_HEADERS[name];
  return header(present) || header(earlier);
}

const SANE_REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** Whether a caller's request id may go into logs and back out: 1 to 128 visible ASCII characters. */
export function isSaneRequestId(text: string): boolean {
  return SANE_REQUEST_ID.test(text);
}
