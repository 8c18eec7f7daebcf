/** Bodies of the console's login, session, proposal and shared key endpoints (CONSOLE-2, CONSOLE-6). Unknown fields are refused. */
import * as v from 'valibot';
import { REASON_MAX_CHARS } from '../limits.ts';
import { filledText, text } from '../schema/text.ts';

/** Signed tokens are the longest keys in use; a few of them stay below this. */
const SHARED_KEY_MAX_CHARS = 4_000;

export const SESSION_KINDS = ['setup', 'sync'] as const;
export type SessionKind = (typeof SESSION_KINDS)[number];

/** POST /apps/:app/sessions. */
export const openSessionBody = v.strictObject({ kind: v.picklist(SESSION_KINDS) });

/** POST /proposals/:id/reject. */
export const rejectProposalBody = v.strictObject({ reason: v.optional(text(REASON_MAX_CHARS)) });

/** PUT /apps/:app/actions/:name/key: the key travels in a header or an address, where a control character would end it. */
export const actionKeyBody = v.strictObject({
  value: v.pipe(filledText(SHARED_KEY_MAX_CHARS), v.regex(/^\P{Cc}*$/u, 'must not hold control characters')),
});

/** Tokens of signed-in people are carried in a header; those in use have 4 KB at most. */
const USER_TOKEN_MAX_CHARS = 8_000;

/** POST /apps/:app/actions/:name/call: values by the names of the action's parameters, checked against it. */
export const actionCallBody = v.strictObject({
  params: v.optional(v.record(v.string(), v.unknown()), {}),
  user_token: v.optional(v.pipe(text(USER_TOKEN_MAX_CHARS), v.regex(/^\P{Cc}*$/u, 'must not hold control characters')), ''),
});

/** Tokens are 24 characters or more; nobody keeps one longer than this. */
const OPERATOR_TOKEN_MAX_CHARS = 512;

export const loginBody = v.strictObject({ token: text(OPERATOR_TOKEN_MAX_CHARS, 1) });
