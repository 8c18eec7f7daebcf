/** Loads uWebSockets with the settings that it reads while it is loaded, or takes once for the process. */

/** A signed-in person's own token may be 8 KB long; uWebSockets' own bound on all headers together is 4 KB. */
const HEADERS_MAX_BYTES = 16 * 1024;
/** Its own switch for the header that names it in every answer: what serves here, and its version, is no client's business. */
const NO_MARK = '999999990007';

process.env.UWS_HTTP_MAX_HEADERS_SIZE = String(HEADERS_MAX_BYTES);

export const uWS = (await import('uWebSockets.js')).default;

// Not in its types. A release without it would write the header again, which a test sees.
(uWS as { _cfg?: (key: string) => void })._cfg?.(NO_MARK);
