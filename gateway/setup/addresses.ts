/** Where the interfaces are reached from outside (SETUP-15). */
import { Refusal } from '../../protocol/errors.ts';
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
