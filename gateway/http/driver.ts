/** Loads uWebSockets with the settings that it reads once per process. */
import { createRequire } from 'node:module';

/** A signed-in person's own token may be 8 KB long; uWebSockets' own bound on all headers together is 4 KB. */
const HEADERS_MAX_BYTES = 16 * 1024;
/** uWebSockets' own switch to leave out the header with its name and version. */
const NO_MARK = '999999990007';

process.env.UWS_HTTP_MAX_HEADERS_SIZE = String(HEADERS_MAX_BYTES);

// Once they are set, and at once: whatever imports a module that awaits is evaluated later than all else.
export const uWS = createRequire(import.meta.url)('uWebSockets.js') as typeof import('uWebSockets.js');

// Not in its types. A test fails if a release drops it and writes the header again.
(uWS as { _cfg?: (key: string) => void })._cfg?.(NO_MARK);
