/** Loads uWebSockets with the settings it reads from the environment while it is loaded. */

/** A signed-in person's own token may be 8 KB long; uWebSockets' own bound on all headers together is 4 KB. */
const HEADERS_MAX_BYTES = 16 * 1024;

process.env.UWS_HTTP_MAX_HEADERS_SIZE = String(HEADERS_MAX_BYTES);

export const uWS = (await import('uWebSockets.js')).default;
