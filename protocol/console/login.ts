/** Body of POST /console/api/login (CONSOLE-2). */
import * as v from 'valibot';
import { text } from '../schema/text.ts';

/** Tokens are 24 characters or more; nobody keeps one longer than this. */
const OPERATOR_TOKEN_MAX_CHARS = 512;

export const loginBody = v.strictObject({ token: text(OPERATOR_TOKEN_MAX_CHARS, 1) });
