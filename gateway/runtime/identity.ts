/** The person who is signed in on a turn (PERSON-1 to PERSON-5). */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Caller, DeviceRef } from '../../actors/caller.ts';
import type { TurnCommand } from '../../actors/turns/command.ts';
import { Refusal } from '../../protocol/errors.ts';
import { USER_HEADER } from '../../protocol/headers.ts';
import { parseUserHeader, type SignedUser } from '../../protocol/runtime/signed-user.ts';
import { readIdentitySecrets } from '../../storage/apps/identity-secrets.ts';
import { readBinding } from '../../storage/people/devices.ts';
import { readEndUser } from '../../storage/people/end-users.ts';
import type { RouteInput, RuntimeCaller } from '../route.ts';
import type { Services } from '../services.ts';

const SIGNATURE = /^[0-9a-f]{64}$/;

function isSignature(secret: string, userId: string, hmac: string): boolean {
  return timingSafeEqual(createHmac('sha256', secret).update(userId).digest(), Buffer.from(hmac, 'hex'));
}

/** Whether `hmac` is lowercase hex HMAC-SHA256 of the user id with the app's identity secret, or the one before it. */
export function isSignedBy(
  user: { id: string; hmac?: string | null | undefined },
  caller: Pick<RuntimeCaller, 'organisationId' | 'app'>,
  services: Pick<Services, 'storage' | 'nowMs'>,
): boolean {
  const { hmac } = user;
  if (hmac == null || !SIGNATURE.test(hmac)) return false;
  const { storage } = services;
  const secrets = readIdentitySecrets(storage.organisation(caller.organisationId), storage.vault, caller.app.id, services.nowMs());
  if (secrets === undefined) return false;
  return isSignature(secrets.current, user.id, hmac) || (secrets.previous !== null && isSignature(secrets.previous.secret, user.id, hmac));
}

/** The person that the device is bound to by POST /v1/identify, for turns that name no person; null: none. */
function boundPerson({ organisationId, app, channel, deviceId }: RuntimeCaller, { storage }: Services): TurnCommand['person'] {
  if (deviceId === '') return null;
  const binding = readBinding(storage.organisation(organisationId), app.id, channel, deviceId);
  return binding === undefined ? null : { externalUserId: binding.externalUserId, verified: binding.proven };
}

/** A request that may carry a signature of the person: in its body, or in a header. */
export type SignedRequest = Pick<RouteInput<unknown, RuntimeCaller>, 'caller' | 'header' | 'body'>;

/** `user` of its body, or X-Service-User. A wrong signature counts as none. @throws Refusal 400 for a malformed header. */
export function signerOf({ caller, header, body }: SignedRequest, services: Services): string | null {
  const { user } = (body ?? {}) as { readonly user?: SignedUser | null };
  const named = user === undefined ? parseUserHeader(header(USER_HEADER)) : user;
  return named != null && isSignedBy(named, caller, services) ? named.id : null;
}

/** The id of the person that a request counts for: who signed its header, otherwise the person the device is bound to with a signature; null: none. */
export function signedPersonOf(caller: RuntimeCaller, header: SignedRequest['header'], services: Services): string | null {
  const signer = signerOf({ caller, header, body: null }, services);
  if (signer !== null) return signer;
  const person = boundPerson(caller, services);
  return person?.verified === true ? person.externalUserId : null;
}

/**
 * The person of a turn; null: the device's anonymous record. With `user`: that person, whatever device sent it; but an unsigned turn of a
 * person who has signed before is served as anonymous. `user` null: no person. Undefined: the person the device is bound to.
 * @throws Refusal 403 `invalid_request` when the app requires a verified person and the turn shows none.
 */
export function turnPerson(user: SignedUser | null | undefined, caller: RuntimeCaller, services: Services): TurnCommand['person'] {
  const verified = user != null && isSignedBy(user, caller, services);
  if (caller.app.settings.requireIdentity && !verified) {
    throw new Refusal(
      'invalid_request',
      'This app serves signed-in people only: send `user` with an `hmac` that is the lowercase hex HMAC-SHA256 of user.id with the app identity secret, made on your backend.',
      { status: 403 },
    );
  }
  if (user === undefined) return boundPerson(caller, services);
  if (user === null) return null;
  if (!verified) {
    const db = services.storage.organisation(caller.organisationId);
    if (readEndUser(db, caller.app.id, caller.channel, user.id)?.verified === true) return null;
  }
  return { externalUserId: user.id, verified };
}

/** The caller as actors know it; `deviceId` is '' when it sent no header. */
export function deviceOf({ organisationId, appId, channel, deviceId }: RuntimeCaller): DeviceRef {
  return { organisationId, appId, channel, deviceId };
}

export function requireDevice(caller: RuntimeCaller, why: string): DeviceRef {
  if (caller.deviceId === '') {
    const message = 'is required';
    throw new Refusal('invalid_request', `X-Service-Device ${message} here: ${why}.`, { details: [{ path: 'X-Service-Device', message }] });
  }
  return deviceOf(caller);
}

/** The caller: the device, if one was named, and the person who signed. @throws Refusal 400 `invalid_request`, see signerOf. */
export function callerOf(input: SignedRequest, services: Services): Caller {
  return { ...deviceOf(input.caller), person: signerOf(input, services) };
}

export function actingCaller(input: SignedRequest, services: Services, why: string): Caller {
  requireDevice(input.caller, why);
  return callerOf(input, services);
}
