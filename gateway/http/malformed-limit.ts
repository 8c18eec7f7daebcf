/**
 * A limit of large malformed bodies by address. Finding that a large body is not JSON, or not what its route takes, costs milliseconds.
 * The route's own limit by address counts only bodies that could be read, because the body says who signed it. So refused large bodies
 * are counted here, and an address that sent many has no more of them read.
 */
import { Refusal } from '../../protocol/errors.ts';
import type { RateBuckets } from '../rate-limit.ts';
import type { Admitted } from '../route.ts';
import { addressPool } from '../runtime/pools.ts';

/** Smaller ones are refused within half a millisecond and are always read: an address may be an office with one broken build. */
const LARGE_BYTES = 16 * 1024;
/** What a broken build of a few people sends. The most expensive bodies take a second of work at this rate. */
const MALFORMED_PER_MINUTE_PER_ADDRESS = 60;
/** Errors from this status on are not about the body's content. */
const TOO_MANY_REQUESTS = 429;
const pool = addressPool('malformed', MALFORMED_PER_MINUTE_PER_ADDRESS);

/** Passes a body that is to be read. @throws Refusal `rate_limited` for a large one of an address that sent too many malformed ones. */
export function refuseMalformer({ kind, caller }: Admitted, bytes: number, buckets: RateBuckets): void {
  if (kind !== 'runtime' || bytes <= LARGE_BYTES || buckets.left(pool, caller) > 0) return;
  buckets.pass([pool], caller);
}

/** Counts a large body for what was wrong in it, and throws that again. Faults of the service itself are not counted. */
export function countMalformed({ kind, caller }: Admitted, bytes: number, error: unknown, buckets: RateBuckets): never {
  const isTheirs = bytes > LARGE_BYTES && error instanceof Refusal && error.status < TOO_MANY_REQUESTS;
  if (kind === 'runtime' && isTheirs && buckets.left(pool, caller) > 0) buckets.pass([pool], caller);
  throw error;
}
