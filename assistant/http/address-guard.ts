/**
 * Decides which addresses the service connects to for others (LINK-7): global unicast only. Invariant: the address that was judged is the
 * one connected to. A name is resolved once, inside the connection's own lookup, so no second answer of its name server can lead elsewhere.
 */
import { lookup as resolveName } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector, type Connector } from './undici.ts';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;

export interface AddressGuardOptions {
  /** Development only: loopback and private addresses are fine too (`ALLOW_PRIVATE_ADDRESSES`). */
  readonly allowPrivate: boolean;
  readonly resolve?: Resolve;
}

/** A connection that was not opened. `message` is a sentence for a person and holds no address. */
export class AddressRefused extends Error {
  constructor(what: string) {
    super(`The address leads to ${what}; only public addresses are connected to.`);
    this.name = 'AddressRefused';
  }
}

export interface AddressGuard {
  /** What kind of address this is when it may not be connected to ("a loopback address"); undefined when it may. */
  refused(address: string): string | undefined;
  /** `localhost` or a literal private address, where these are allowed: only there http and any port are fine (LINK-12). */
  isLocal(hostname: string): boolean;
  /** For undici's `connect` option. Fails with AddressRefused before a socket opens. */
  readonly connect: Connector;
}

/** A name server that is slow, a host that drops packets: nobody who is there takes longer. */
const CONNECT_TIMEOUT_MS = 10_000;
/** Addresses of one name that are tried; no site needs more, and each costs a connection attempt. */
const ADDRESSES_MAX = 16;

/** Sentences for ipaddr.js's ranges; what is not named here is "a reserved address". */
const KINDS: Readonly<Record<string, string>> = {
  loopback: 'a loopback address',
  private: 'a private address',
  uniqueLocal: 'a private address',
  linkLocal: 'a link-local address',
  carrierGradeNat: 'a shared (carrier-grade NAT) address',
  multicast: 'a multicast address',
  broadcast: 'a broadcast address',
  unspecified: 'the unspecified address',
  metadata: 'a metadata address of a cloud',
  // These carry an IPv4 address inside: which one is reached is decided by a gateway that nobody here knows.
  ipv4Mapped: 'an IPv4 address inside an IPv6 address',
  rfc6145: 'an IPv4 address inside an IPv6 address',
  rfc6052: 'an address translated by NAT64',
  '6to4': 'a 6to4 address',
  teredo: 'a Teredo address',
};
const RESERVED = 'a reserved address';

/** What development may reach besides. */
const PRIVATE_RANGES = new Set(['loopback', 'private', 'uniqueLocal']);
/** Cloud metadata outside the link-local range, in private ones or even among the public: it hands out credentials. */
const METADATA = new Set(['fd00:ec2::254', 'fd20:ce::254', '168.63.129.16']);
/** The one block of IPv6 that is global unicast (RFC 4291, IANA): the deprecated and the unassigned lie outside. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** The range of the address: `unicast` when it is public; `reserved` for what is no address at all. */
function rangeOf(address: string): string {
  // Not `isValid` alone: ipaddr.js also reads forms such as 0x7f.1, which must not reach a socket unread.
  const family = isIP(address);
  if (family === 0 || !ipaddr.isValid(address)) return 'reserved';
  const known = ipaddr.parse(address);
  if (METADATA.has(known.toString())) return 'metadata';
  if (known.kind() === 'ipv4') return known.range();
  const parsed = ipaddr.IPv6.parse(address);
  if (parsed.zoneId !== undefined) return 'linkLocal';
  const range = parsed.range();
  return range === 'unicast' && !parsed.match(GLOBAL_UNICAST) ? 'reserved' : range;
}

function bare(hostname: string): string {
  return hostname.startsWith('[') && hostname.endsWith(']') ? hostname.slice(1, -1) : hostname;
}

async function systemResolve(hostname: string): Promise<readonly ResolvedAddress[]> {
  return resolveName(hostname, { all: true, verbatim: true });
}

function guardedLookup(refused: AddressGuard['refused'], resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const allowed = addresses.filter(({ address }) => refused(address) === undefined).slice(0, ADDRESSES_MAX);
        const [first] = allowed;
        if (first === undefined) callback(new AddressRefused(refused(addresses[0]?.address ?? '') ?? RESERVED), '');
        else if (options.all === true) callback(null, [...allowed]);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    );
  };
}

export function createAddressGuard({ allowPrivate, resolve = systemResolve }: AddressGuardOptions): AddressGuard {
  const refused = (address: string): string | undefined => {
    const range = rangeOf(address);
    if (range === 'unicast' || (allowPrivate && PRIVATE_RANGES.has(range))) return undefined;
    return KINDS[range] ?? RESERVED;
  };
  const open = buildConnector({
    lookup: guardedLookup(refused, resolve),
    timeout: CONNECT_TIMEOUT_MS,
    // Nothing is kept between two callers.
    maxCachedSessions: 0,
  });
  return {
    refused,
    isLocal(hostname) {
      if (!allowPrivate) return false;
      const host = bare(hostname);
      return host === 'localhost' || PRIVATE_RANGES.has(rangeOf(host));
    },
    connect(options, callback) {
      const hostname = bare(options.hostname);
      // A literal is connected to without any lookup.
      const what = isIP(hostname) === 0 ? undefined : refused(hostname);
      if (what === undefined) open({ ...options, hostname }, callback);
      else callback(new AddressRefused(what), null);
    },
  };
}
