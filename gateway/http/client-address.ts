/** A client's address (HTTP-25). Proxies are believed as far as `TRUST_PROXY` says, from right to left: clients write what they like. */
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import * as v from 'valibot';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Whose word about the client counts. Each proxy adds the address that it was reached from to the end of `header`. */
export interface ProxyTrust {
  /** One header only: most proxies write one, and pass the other on as the client wrote it. */
  readonly header: 'x-forwarded-for' | 'forwarded';
  /** Whether the proxy at `address` is one of ours; `hops` proxies are between it and here. */
  trusts(address: string, hops: number): boolean;
}

/** A chain of more proxies than this is a mistake in a configuration. */
const HOPS_MAX = 16;
/** A large content delivery network has some dozens of networks. Each is compared with each address of a header. */
const NETWORKS_MAX = 200;
/** One person's or one household's part of an IPv6 address: they are given networks of this size, and choose the rest freely. */
const CLIENT_PREFIX_BITS = 64;
/** An IPv6 address is eight numbers of this size. */
const PART_BITS = 16;

/** Undefined: not an address. An IPv4 address in IPv6 spelling is the IPv4 address. */
function parsed(text: string): Address | undefined {
  // Not ipaddr.js alone: it also reads forms such as 0x7f.1. A zone names an interface of the sender, not a sender.
  return isIP(text) === 0 || text.includes('%') ? undefined : ipaddr.process(text);
}

function normalised(text: string): string | undefined {
  // Four numbers without zeros in front have one spelling, and nearly every request has such an address.
  return isIP(text) === 4 ? text : parsed(text)?.toString();
}

function networkOf(text: string): readonly [Address, number] | undefined {
  const [address = '', bits, ...rest] = text.split('/');
  const base = isIP(address) === 0 || address.includes('%') || rest.length > 0 ? undefined : ipaddr.parse(address);
  if (base === undefined) return undefined;
  const length = base.kind() === 'ipv4' ? 32 : 128;
  if (bits !== undefined && (!/^\d{1,3}$/.test(bits) || Number(bits) > length)) return undefined;
  const kept = bits === undefined ? length : Number(bits);
  // Compared with addresses that `parsed` has made IPv4 addresses of.
  if (base instanceof ipaddr.IPv6 && base.isIPv4MappedAddress()) return kept >= 96 ? [base.toIPv4Address(), kept - 96] : undefined;
  return [base, kept];
}

function isIn(address: Address, [base, bits]: readonly [Address, number]): boolean {
  // Two kinds of addresses are never of one network; ipaddr.js refuses to compare them.
  if (address instanceof ipaddr.IPv4) return base instanceof ipaddr.IPv4 && address.match(base, bits);
  return base instanceof ipaddr.IPv6 && address.match(base, bits);
}

const FORWARDED = 'forwarded';
const RULE = `it must be the number of proxies in front (1 to ${HOPS_MAX}), or their addresses and networks such as 10.0.0.0/8,2001:db8::7 (at most ${NETWORKS_MAX}); with "forwarded," before it when they write the header Forwarded instead of X-Forwarded-For`;

/** Undefined: `text` says nothing that can be used. */
function trustOf(text: string): ProxyTrust | undefined {
  const parts = text.split(',').map((part) => part.trim().toLowerCase());
  const header = parts[0] === FORWARDED ? FORWARDED : 'x-forwarded-for';
  const said = header === FORWARDED ? parts.slice(1) : parts;
  const [first = ''] = said;
  if (said.length === 1 && /^\d{1,2}$/.test(first)) {
    const proxies = Number(first);
    return proxies < 1 || proxies > HOPS_MAX ? undefined : { header, trusts: (_, hops) => hops < proxies };
  }
  const networks = said.map(networkOf);
  if (networks.length === 0 || networks.length > NETWORKS_MAX || networks.includes(undefined)) return undefined;
  return {
    header,
    trusts(text) {
      const address = parsed(text);
      return address !== undefined && networks.some((network) => network !== undefined && isIn(address, network));
    },
  };
}

/** What the variable `TRUST_PROXY` may hold, read. */
export const proxyTrust = v.pipe(
  v.string(),
  v.transform(trustOf),
  v.check((trust) => trust !== undefined, RULE),
  v.transform((trust) => trust as ProxyTrust),
);

/** `203.0.113.7`, `203.0.113.7:4711`, `2001:db8::7` or `[2001:db8::7]:4711`, without the port; undefined for anything else, such as `unknown`. */
function addressIn(node: string): string | undefined {
  const bracketed = /^\[([0-9a-fA-F:.]{2,45})\](?::\d{1,5})?$/.exec(node)?.[1];
  const text = bracketed ?? (/^[0-9.]{7,15}:\d{1,5}$/.test(node) ? node.slice(0, node.indexOf(':')) : node);
  return normalised(text);
}

/** The `for` of one element of a Forwarded header (RFC 7239 §4), without its quotes. */
function forOf(element: string): string {
  for (const pair of element.split(';')) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim().toLowerCase() === 'for')
      return pair
        .slice(at + 1)
        .trim()
        .replaceAll('"', '');
  }
  return '';
}

/** `lines` are those of the trusted header. What cannot be read as an address ends the way back: the proxy that wrote it is the client. */
export function clientBehind(peer: string, lines: readonly string[], trust: ProxyTrust | undefined): string {
  // At every comma, also one in quotes: a quote that the client left open must not swallow what a proxy wrote behind it.
  const said = lines.join(',').split(',');
  let client = normalised(peer) ?? peer;
  for (let hops = 0; trust?.trusts(client, hops) === true; hops += 1) {
    const element = said.pop()?.trim();
    const before = element === undefined ? undefined : addressIn(trust.header === FORWARDED ? forOf(element) : element);
    if (before === undefined) break;
    client = before;
  }
  return client;
}

/** Ranges that no client on the internet has: a request from there that tells of another address comes by a proxy. */
const NEAR = new Set(['private', 'loopback', 'uniqueLocal', 'linkLocal', 'carrierGradeNat']);

/** Which header says that the request was passed on, by a peer on this network; undefined: none does. While uWebSockets lends both objects. */
export function proxyHeader(res: HttpResponse, req: HttpRequest): string | undefined {
  const header = ['x-forwarded-for', 'forwarded'].find((name) => req.getHeader(name) !== '');
  if (header === undefined) return undefined;
  const peer = parsed(Buffer.from(res.getRemoteAddressAsText()).toString('latin1'));
  return peer !== undefined && NEAR.has(peer.range()) ? header : undefined;
}

/** The client's address of a request. Only while uWebSockets lends both objects. */
export function readClientAddress(res: HttpResponse, req: HttpRequest, trust: ProxyTrust | undefined): string {
  const lines: string[] = [];
  // All lines of that name: a proxy may write one of its own behind the client's.
  if (trust !== undefined) {
    req.forEach((name, value) => {
      if (name === trust.header) lines.push(value);
    });
  }
  return clientBehind(Buffer.from(res.getRemoteAddressAsText()).toString('latin1'), lines, trust);
}

/** An IPv4 address by itself, an IPv6 one by its network of 64 bits, an IPv4 one in IPv6 spelling as IPv4; anything else as it is. */
export function addressKey(text: string): string {
  if (isIP(text) === 4) return text;
  const address = parsed(text);
  if (address === undefined || address instanceof ipaddr.IPv4) return address?.toString() ?? text;
  const network = address.parts.map((part, at) => (at < CLIENT_PREFIX_BITS / PART_BITS ? part : 0));
  return `${new ipaddr.IPv6(network).toString()}/${CLIENT_PREFIX_BITS}`;
}
