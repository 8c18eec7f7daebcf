import { admitSetupCall, authenticateSetup, type SetupCall } from '../../actors/setup/admission.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { SessionRef } from '../../storage/setup/setup-access.ts';
import { bearerOf } from '../http/request-headers.ts';
import type { Services } from '../services.ts';

/** Longer ones were never issued, and are refused without hashing them. */
const TOKEN_MAX_CHARS = 100;

/** The session of the request's token. @throws Refusal missing_token, invalid_token. */
export function setupSessionOf(header: (name: string) => string, services: Services): SessionRef {
  const token = bearerOf(header('authorization'));
  if (token === undefined) {
    throw new Refusal('missing_token', 'Send the setup token in the header: Authorization: Bearer rd_st_… It is in the setup file.');
  }
  return authenticateSetup(services.storage, token.length > TOKEN_MAX_CHARS ? '' : token);
}

export function setupCallOf(header: (name: string) => string, services: Services): SetupCall {
  return admitSetupCall(services.storage, setupSessionOf(header, services), services.nowMs());
}
