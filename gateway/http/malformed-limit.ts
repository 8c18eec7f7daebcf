/**
 * Bodies that are no JSON, or not what their route takes: to find that out of a large one takes milliseconds, and the route's own limit of an
 * address counts only what could be read, because the body says who signed it. So large ones that were refused are counted by
 * themselves, and an address that sent many has no more large ones read.
 */
import { Refusal } from '../../protocol/errors.ts';
import type { RateBuckets } from '../rate-limit.ts';
import type { Admitted } from '../route.ts';
import { addressPool } from '../runtime/pools.ts';

/** Smaller ones are refused within half a millisecond, and go on being read: behind one address may be an office with one broken build. */
const LARGE_BYTES = 16 * 1024;
/** A broken build of a few people sends so many; of the dearest it is a second of work. */
const MALFORMED_PER_MINUTE_PER_ADDRESS = 60;
/** From this status on it is not about what the body holds. */
const TOO_MANY_REQUESTS = 429;
const pool = addressPool('malformed', MALFORMED_PER_MINUTE_PER_ADDRESS);

/** Passes a body that is to be read. @throws Refusal `rate_limited` for a large one of an address that sent too many malformed ones. */
export function refuseMalformer({ kind, caller }: Admitted, bytes: number, buckets: RateBuckets): void {
  if (kind !== 'runtime' || bytes <= LARGE_BYTES || buckets.left(pool, caller) > 0) return;
  buckets.pass([pool], caller);
}

/** Counts a large body for what was found in it, and throws that again; the service's own trouble with it is nobody's fault. */
export function countMalformed({ kind, caller }: Admitted, bytes: number, error: unknown, buckets: RateBuckets): never {
  const isTheirs = bytes > LARGE_BYTES && error instanceof Refusal && error.status < TOO_MANY_REQUESTS;
  if (kind === 'runtime' && isTheirs && buckets.left(pool, caller) > 0) buckets.pass([pool], caller);
  throw error;
}
