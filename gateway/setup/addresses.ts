/** Where the interfaces are reached from outside (SETUP-15), and who calls the setup interface (SETUP-16). */
import { admitSetupCall, authenticateSetup, type SetupCall } from '../../actors/setup/admission.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { SessionRef } from '../../storage/setup/setup-access.ts';
import { bearerOf } from '../http/request-headers.ts';
import type { Services } from '../services.ts';

/** A name or an address, and a port: what a person may be asked to paste into a shell holds nothing else. */
const HOST = /^[A-Za-z0-9.:[\]-]{1,255}$/;

export function publicUrlOf({ config }: Services, header: (name: string) => string): string {
  if (config.publicUrl !== undefined) return config.publicUrl;
  const host = header('host');
  if (!HOST.test(host)) throw new Refusal('invalid_request', 'The Host header must be a host name or address, with a port if need be.');
  return `http://${host}`;
}

/** The setup interface itself, without a slash at its end: what a setup file calls `$SETUP`. */
export function setupUrlOf(services: Services, header: (name: string) => string): string {
  return `${publicUrlOf(services, header)}/setup`;
}

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
