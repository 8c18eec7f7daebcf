/** The kinds of values that environment variables hold, and the error for a wrong one. */

import * as v from 'valibot';
import { withoutEnd } from '../protocol/schema/text.ts';

/** A variable that the service cannot start with: one line that names it, what it holds and what it may hold. */
export class ConfigError extends Error {
  constructor(variable: string, held: string, allowed: string) {
    super(`${variable} is ${held}, but ${allowed}.`);
    this.name = 'ConfigError';
  }
}

/** Names of nodes and cells: they show in paths, channels and tables. */
const NAME = /^[0-9A-Za-z._-]{1,64}$/;
const NAME_RULE = '1 to 64 letters, digits, dots, underscores or hyphens';
const MODEL_NAME_MAX_CHARS = 200;

export const httpUrl = v.pipe(
  v.string(),
  v.check((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), 'it must be an http or https address'),
  v.transform((text) => withoutEnd(text, '/')),
);

/** Paths are put behind it, and browsers compare its origin. */
export const httpOrigin = v.pipe(
  httpUrl,
  v.check((text) => URL.canParse(text) && new URL(text).href === `${new URL(text).origin}/`, 'it must be an address without a path'),
);

export const modelName = v.pipe(v.string(), v.maxLength(MODEL_NAME_MAX_CHARS, `it may have at most ${MODEL_NAME_MAX_CHARS} characters`));

/** Visible ASCII: what a key may hold that travels in a header. */
export const key = v.pipe(v.string(), v.regex(/^[\x21-\x7e]+$/, 'it must be visible ASCII without spaces'));

export const flag = v.pipe(
  v.picklist(['true', 'false', 'on', 'off', '1', '0'], 'it may be true or false (also on, off, 1, 0)'),
  v.transform((text) => text === 'true' || text === 'on' || text === '1'),
);

/** `must` completes "it must be". */
export const numberAs = (pattern: RegExp, must: string) => v.pipe(v.string(), v.regex(pattern, `it must be ${must}`), v.transform(Number));

/** Pages of other sites are few: whoever lists more means something else. */
const ORIGINS_MAX = 16;

function isOrigin(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).origin === text;
}

/** Origins as browsers write them, between commas. */
export const origins = v.pipe(
  v.string(),
  v.transform((text) => text.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]))),
  v.check((list) => list.every(isOrigin), 'it must be origins such as https://viewer.example, with commas between them'),
  v.maxLength(ORIGINS_MAX, `it may have at most ${ORIGINS_MAX} origins`),
);

export function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What a node or a cell may be called. */
export const name = v.pipe(v.string(), v.regex(NAME, `it must be ${NAME_RULE}`));
