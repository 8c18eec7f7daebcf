/** The signed receipt of a confirmed call (CONFIRM-19): what a client hands on to the app's backend as proof that a person agreed. */

import { createHash, createHmac } from 'node:crypto';
import canonicalize from 'canonicalize';
import { sendableParams } from '../../assistant/http-action/template.ts';
import { EXTERNAL_USER_ID_MAX_CHARS } from '../../protocol/limits.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { readIdentitySecrets } from '../../storage/apps/identity-secrets.ts';
import type { InvocationRow } from '../../storage/conversations/invocations.ts';
import { wasSigned } from '../../storage/conversations/turns.ts';
import { readEndUserById } from '../../storage/people/end-users.ts';
import type { Caller } from '../caller.ts';
import { redactionOf } from '../people/redaction.ts';
import type { CallerInvocation, ConfirmationServices } from './caller-invocation.ts';

export interface ReceiptInput {
  /** The app's identity secret (storage/apps/identity-secrets.ts, the current one); its UTF-8 bytes are the key. */
  readonly secret: string;
  readonly invocationId: string;
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

/** Claims: `jti` (the invocation), `sub`, `sub_verified`, `action`, `params_sha256`, `recorded`, `confirmed_at`, `iat`. */
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

/** Over the parameters as the client runs them; the same bytes until the secret is rotated. Undefined without a confirmation. */
export function receiptOf(
  { storage, nowMs }: ConfirmationServices,
  organisationId: string,
  row: InvocationRow,
  { params, externalUserId }: { readonly params: InvocationRow['params']; readonly externalUserId: string | null },
): string | undefined {
  if (row.confirmedAtMs === null) return undefined;
  const db = storage.organisation(organisationId);
  const secrets = readIdentitySecrets(db, storage.vault, row.appId, nowMs());
  if (secrets === undefined) return undefined;
  const { id: invocationId, name: action, confirmedAtMs } = row;
  const personVerified = wasSigned(db, row.turn);
  const recorded = !row.confirmedOnTrust;
  return signReceipt({ secret: secrets.current, invocationId, action, params, externalUserId, personVerified, recorded, confirmedAtMs });
}

export function callerReceipt(services: ConfirmationServices, caller: Caller, asked: CallerInvocation): string | undefined {
  const { db, row, conversation } = asked;
  if (row.confirmedAtMs === null) return undefined;
  const person = conversation.endUserId === null ? undefined : readEndUserById(db, caller.appId, conversation.endUserId);
  const params = redactionOf(services.storage, caller.organisationId, conversation).restore(row.params);
  return receiptOf(services, caller.organisationId, row, { params, externalUserId: person?.externalUserId ?? null });
}
