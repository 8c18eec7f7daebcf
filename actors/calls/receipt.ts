/** The signed receipt of a confirmed call (CONFIRM-19): what a client hands on to the app's backend as proof that a person agreed. */

import { readIdentitySecrets } from '../../storage/apps/identity-secrets.ts';
import type { InvocationRow } from '../../storage/conversations/invocations.ts';
import { wasSigned } from '../../storage/conversations/turns.ts';
import { readEndUserById } from '../../storage/people/end-users.ts';
import type { Caller } from '../caller.ts';
import { redactionOf } from '../people/redaction.ts';
import type { CallerInvocation, ConfirmationServices } from './caller-invocation.ts';
import { signReceipt } from './receipt-jwt.ts';

/**
 * Signed with the app's present identity secret, over the parameters as the client runs them. The same bytes each time, until the
 * secret is rotated. Undefined for a call without a confirmation.
 */
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

/** The receipt for the person who confirms: the reply of the confirm endpoint. */
export function callerReceipt(services: ConfirmationServices, caller: Caller, asked: CallerInvocation): string | undefined {
  const { db, row, conversation } = asked;
  if (row.confirmedAtMs === null) return undefined;
  const person = conversation.endUserId === null ? undefined : readEndUserById(db, caller.appId, conversation.endUserId);
  const params = redactionOf(services.storage, caller.organisationId, conversation).restore(row.params);
  return receiptOf(services, caller.organisationId, row, { params, externalUserId: person?.externalUserId ?? null });
}
