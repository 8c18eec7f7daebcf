/** Makes a checked value of a request's body: collected, bounded, parsed and checked by the route's schema. */

import { Refusal } from '../../protocol/errors.ts';
import { unknownFields } from '../../protocol/schema/unknown-fields.ts';
import { fields } from '../../protocol/setup/shapes.ts';
import { section } from '../../watch/sections.ts';
import { refuseNewWork } from '../overload.ts';
import type { RateBuckets } from '../rate-limit.ts';
import { type Admitted, type Route, routeName } from '../route.ts';
import { addressPool } from '../runtime/pools.ts';
import type { Services } from '../services.ts';
import { checkBody, checkContentType, codesOf, defaultBodyMaxBytes, parseJson } from './body.ts';
import type { Exchange } from './exchange.ts';
import type { Interface } from './interface.ts';
import { LARGE_BODY_BYTES } from './large-body.ts';

/*
 * A limit of large malformed bodies by address: finding that a large body is not JSON, or not what its route takes, costs milliseconds, and
 * the route's own limit by address counts only bodies that could be read, because the body says who signed it.
 */
/** Smaller ones are refused within half a millisecond and are always read: an address may be an office with one broken build. */
const LARGE_BYTES = 16 * 1024;
/** What a broken build of a few people sends. The most expensive bodies take a second of work at this rate. */
const MALFORMED_PER_MINUTE_PER_ADDRESS = 60;
/** Errors from this status on are not about the body's content. */
const TOO_MANY_REQUESTS = 429;
const malformedPool = addressPool('malformed', MALFORMED_PER_MINUTE_PER_ADDRESS);

/** Passes a body that is to be read. @throws Refusal `rate_limited` for a large one of an address that sent too many malformed ones. */
function refuseMalformer({ kind, caller }: Admitted, bytes: number, buckets: RateBuckets): void {
  if (kind !== 'runtime' || bytes <= LARGE_BYTES || buckets.left(malformedPool, caller) > 0) return;
  buckets.pass([malformedPool], caller);
}

/** Counts a large body for what was wrong in it, and throws that again. Faults of the service itself are not counted. */
function countMalformed({ kind, caller }: Admitted, bytes: number, error: unknown, buckets: RateBuckets): never {
  const isTheirs = bytes > LARGE_BYTES && error instanceof Refusal && error.status < TOO_MANY_REQUESTS;
  if (kind === 'runtime' && isTheirs && buckets.left(malformedPool, caller) > 0) buckets.pass([malformedPool], caller);
  throw error;
}

export interface AdmittedRequest {
  readonly route: Route;
  readonly exchange: Exchange;
  readonly admitted: Admitted;
}

/** The checked body, if the route has large ones read in their own thread and this is one; otherwise undefined. */
function readLarge(
  { largeBody }: Route,
  bytes: Uint8Array,
  { kind, caller }: Admitted,
  { largeBodies }: Services,
): Promise<unknown> | undefined {
  if (largeBody === undefined || kind !== 'runtime' || bytes.byteLength <= LARGE_BODY_BYTES) return undefined;
  return largeBodies?.read(largeBody, bytes, { app: caller.app.id, address: caller.address });
}

function warnOfUnknown({ route: { body: schema }, exchange, admitted: { kind, caller } }: AdmittedRequest, value: unknown): void {
  if (kind !== 'runtime' || schema === undefined || caller.channel !== 'sandbox') return;
  exchange.warning = unknownFields(schema, value);
}

/** The body that an endpoint without a body accepts. */
const NO_FIELDS = fields({});

/** Whether a request to an endpoint without a body has one that is refused (HTTP-3; the runtime interface ignores it). */
export function bringsRefusable({ interface: face, method, header }: Exchange): boolean {
  if (method === 'GET' || (face !== 'setup' && face !== 'console')) return false;
  return Number(header('content-length')) > 0 || header('transfer-encoding') !== '';
}

type Gate = { readonly services: Services; readonly buckets: RateBuckets };

/** Runs `work` at once, or when it is this organisation's place in the queue of new turns. @throws Refusal when the queue is full */
function inLine(
  { route, exchange }: AdmittedRequest,
  organisationId: string,
  { starts }: Services,
  fail: (error: unknown) => void,
  work: () => void,
): void {
  if (starts === undefined) {
    work();
    return;
  }
  const tried = () => {
    if (!exchange.open) return;
    try {
      work();
    } catch (error) {
      fail(error);
    }
  };
  starts.enter(organisationId, () => section(routeName(route), exchange.requestId, tried));
}

function tooLarge(face: Interface, maxBytes: number): Refusal {
  return new Refusal(codesOf(face).tooLarge, `The body may have ${maxBytes} bytes at most. Send less per request.`);
}

/** Refuses by Content-Length first, then by counting: a chunked body declares none. `done` may use the bytes during its call only. */
function collectBody(exchange: Exchange, maxBytes: number, done: (bytes: Uint8Array) => void, refuse: (refusal: Refusal) => void): void {
  if (Number(exchange.header('content-length')) > maxBytes) {
    refuse(tooLarge(exchange.interface, maxBytes));
    return;
  }
  let earlier: Buffer[] = [];
  let received = 0;
  exchange.receive((chunk, isLast) => {
    received += chunk.byteLength;
    if (received > maxBytes) {
      earlier = [];
      refuse(tooLarge(exchange.interface, maxBytes));
      return;
    }
    const bytes = new Uint8Array(chunk);
    // uWebSockets takes the chunk back after this call.
    if (!isLast) earlier.push(Buffer.from(bytes));
    else done(earlier.length === 0 ? bytes : Buffer.concat([...earlier, bytes]));
  });
}

/** What `proceed` throws, and every refusal, goes to `fail`. */
export function readBody(
  request: AdmittedRequest,
  { services, buckets }: Gate,
  proceed: (body: unknown) => void,
  fail: (error: unknown) => void,
): void {
  const { route, exchange, admitted } = request;
  const face = exchange.interface;
  const { body: schema } = route;
  const read = (bytes: Uint8Array) => {
    const { length } = bytes;
    const malformed = (error: unknown) => countMalformed(admitted, length, error, buckets);
    const made = (make: () => unknown) => {
      try {
        return make();
      } catch (error) {
        return malformed(error);
      }
    };
    // A chunked body without chunks.
    if (length === 0 && schema === undefined) {
      proceed(null);
      return;
    }
    refuseMalformer(admitted, length, buckets);
    // The error for a missing body comes first, even when no type was announced.
    if (length > 0) checkContentType(exchange.header('content-type'), face);
    const large = readLarge(route, bytes, admitted, services);
    if (large !== undefined) {
      large
        .catch(malformed)
        .then((body) => section(routeName(route), exchange.requestId, () => proceed(body)))
        .catch(fail);
      return;
    }
    const value = made(() => parseJson(bytes, face));
    const begins = admitted.kind === 'runtime' && refuseNewWork(route, value, admitted.caller, services);
    warnOfUnknown(request, value);
    const checked = () => proceed(made(() => checkBody(schema ?? NO_FIELDS, value, face)));
    if (begins) inLine(request, admitted.caller.organisationId, services, fail, checked);
    else checked();
  };
  const done = (bytes: Uint8Array) =>
    section(routeName(route), exchange.requestId, () => {
      try {
        read(bytes);
      } catch (error) {
        fail(error);
      }
    });
  collectBody(exchange, route.bodyMaxBytes ?? defaultBodyMaxBytes(face), done, fail);
}
