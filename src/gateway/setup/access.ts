/** Who calls the setup interface: from the bearer header to a session (service.md "Authentication", setup interface). */
import { admitSetupCall, authenticateSetup, type SetupCall } from '../../actors/setup-admission.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { SessionRef } from '../../storage/setup-access.ts';
import type { RateBuckets } from '../rate-limit.ts';
import type { Services } from '../services.ts';

const BEARER = /^Bearer +(\S+)$/i;
/** Longer ones were never issued, and are refused without hashing them. */
const TOKEN_MAX_CHARS = 100;

/**
 * The session of the request's token; its request is counted.
 * @throws Refusal missing_token, invalid_token, rate_limited.
 */
export function setupSessionOf(header: (name: string) => string, services: Services, buckets: RateBuckets): SessionRef {
  const token = BEARER.exec(header('authorization'))?.[1];
  if (token === undefined) {
    throw new Refusal('missing_token', 'Send the setup token in the header: Authorization: Bearer rd_st_… It is in the setup file.');
  }
  const ref = authenticateSetup(services.storage, token.length > TOKEN_MAX_CHARS ? '' : token);
  buckets.passSession(ref.sessionId);
  return ref;
}

/** The same for a call that needs a running session. @throws Refusal also not_started, session_closed, app_live, app_not_found. */
export function setupCallOf(header: (name: string) => string, services: Services, buckets: RateBuckets): SetupCall {
  return admitSetupCall(services.storage, setupSessionOf(header, services, buckets), services.nowMs());
}
