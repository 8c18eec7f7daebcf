/**
 * Who is signed in, as a request says it: the field `user` of a body, or the header `X-Service-User` where there is no body for it
 * (PERSON-14). Says nothing about whether the signature is right.
 */
import * as v from 'valibot';
import { Refusal } from '../errors.ts';
import { EXTERNAL_USER_ID_MAX_CHARS, USER_HMAC_MAX_CHARS } from '../limits.ts';
import { text } from '../schema/text.ts';
import { openObject } from './shapes.ts';

export const signedUser = openObject({
  id: text(EXTERNAL_USER_ID_MAX_CHARS, 1),
  hmac: v.optional(v.nullable(text(USER_HMAC_MAX_CHARS))),
});
export type SignedUser = v.InferOutput<typeof signedUser>;

/** The field of bodies that answer something: null says that nobody is signed in; absent, the header may say who is. */
export const answeringUser = v.optional(v.nullable(signedUser));

const NAME = 'X-Service-User';
const FORMAT = 'must be the percent-encoded id of the person, a colon, and the 64 lowercase hex characters of its hmac';
/** What follows the id: a colon and the signature. */
const SIGNED = /^:[0-9a-f]{64}$/;
const SIGNED_CHARS = 65;
/** Twelve characters for each of an id's: a code point takes four bytes at most, and each of these three when it is encoded. */
const HEADER_MAX_CHARS = EXTERNAL_USER_ID_MAX_CHARS * 12 + SIGNED_CHARS;

function malformed(): Refusal {
  return new Refusal('invalid_request', `${NAME} ${FORMAT}.`, { details: [{ path: NAME, message: FORMAT }] });
}

/**
 * The user that the header names: `encodeURIComponent(id) + ':' + hmac`. Undefined for an empty header.
 * @throws Refusal 400 `invalid_request` naming the header when it is not of this form.
 */
export function parseUserHeader(header: string): SignedUser | undefined {
  if (header === '') return undefined;
  const signature = header.slice(-SIGNED_CHARS);
  if (header.length > HEADER_MAX_CHARS || !SIGNED.test(signature)) throw malformed();
  try {
    const checked = v.safeParse(signedUser, { id: decodeURIComponent(header.slice(0, -SIGNED_CHARS)), hmac: signature.slice(1) });
    if (checked.success) return checked.output;
  } catch {
    // A percent sign that encodes nothing.
  }
  throw malformed();
}
