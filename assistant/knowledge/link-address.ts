/** Which addresses a link may be written as (LINK-6). Where it leads is the address guard's matter. */
import type { AddressGuard } from '../http/address-guard.ts';
import { LinkError } from './link-error.ts';

const PORTS = new Set(['', '80', '443']);

/** The parsed address of a link or of a redirect (resolved against `base`). @throws LinkError saying which rule it breaks. */
export function linkAddress(uri: string, guard: AddressGuard, base?: URL): URL {
  const url = URL.canParse(uri, base?.href) ? new URL(uri, base?.href) : undefined;
  if (url === undefined) throw new LinkError('The address is malformed.');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new LinkError('Only http and https addresses are read.');
  if (url.username !== '' || url.password !== '') throw new LinkError('The address must not hold a user name or a password.');
  if (!PORTS.has(url.port) && !guard.isLocal(url.hostname)) throw new LinkError('Only the ports 80 and 443 are read.');
  // Never sent, and two addresses that differ in it are one document.
  url.hash = '';
  return url;
}
