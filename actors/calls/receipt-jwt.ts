/**
 * The format of receipts (CONFIRM-19): a JWS (RFC 7515, compact, HS256) of a JWT that a customer's backend
 * verifies with the app's identity secret and any JWT library. It tells which call a person agreed to, and when.
 */
import { createHash, createHmac } from 'node:crypto';
import canonicalize from 'canonicalize';
import { sendableParams } from '../../assistant/http-action/template.ts';
import { EXTERNAL_USER_ID_MAX_CHARS } from '../../protocol/limits.ts';
import { timestamp } from '../../protocol/timestamp.ts';

export interface ReceiptInput {
  /** The app's identity secret (storage/apps/identity-secrets.ts, the current one); its UTF-8 bytes are the key. */
  readonly secret: string;
  readonly invocationId: string;
  /** The action's name. */
  readonly action: string;
  /** As they are sent: placeholders restored, the person's edits in place. */
  readonly params: Readonly<Record<string, unknown>>;
  /** Null for a person whom the app did not name. */
  readonly externalUserId: string | null;
  /** The person's signature came with the turn that asked: without it, anyone could have named them. */
  readonly personVerified: boolean;
  /** The service itself took the person's answer; else only the client says that there was one. */
  readonly recorded: boolean;
  readonly confirmedAtMs: number;
}

const base64url = (text: string) => Buffer.from(text, 'utf8').toString('base64url');

const HEADER = base64url(JSON.stringify({ alg: 'HS256', typ: 'JWT' }));

/** SHA-256 in lowercase hex of the parameters' canonical JSON (RFC 8785). */
function paramsHash(params: ReceiptInput['params']): string {
  const canonical = canonicalize(Object.fromEntries(sendableParams(params))) ?? '';
  return createHash('sha256').update(canonical, 'utf8').digest('hex');
}

/**
 * A JWT with the claims `jti` (the invocation's id), `sub` (the external user id) and `sub_verified` (both left out when it is null), `action`,
 * `params_sha256`, `recorded`, `confirmed_at` (RFC 3339) and `iat` (the same time in seconds).
 */
export function signReceipt({
  secret,
  invocationId,
  action,
  params,
  externalUserId,
  personVerified,
  recorded,
  confirmedAtMs,
}: ReceiptInput): string {
  const claims = {
    jti: invocationId,
    ...(externalUserId === null ? {} : { sub: externalUserId, sub_verified: personVerified }),
    action,
    params_sha256: paramsHash(params),
    recorded,
    confirmed_at: timestamp(confirmedAtMs),
    iat: Math.floor(confirmedAtMs / 1_000),
  };
  const input = `${HEADER}.${base64url(JSON.stringify(claims))}`;
  // The same secret signs external user ids. Neither signature is good for the other as long as no id is such an input,
  // and an id is shorter than any.
  if (input.length <= EXTERNAL_USER_ID_MAX_CHARS)
    throw new Error('The signing input of a receipt must be longer than any external user id.');
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
}
