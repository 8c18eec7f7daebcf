/** Orphaned writes: an app, a person or a conversation was deleted between the check and the write. */
import { Refusal } from '../protocol/errors.ts';
import { isOrphaned } from '../storage/sqlite/storage-error.ts';
import { requireApp } from './console/lookup.ts';
import { authenticateRuntime } from './credentials.ts';
import type { Exchange } from './http/exchange.ts';
import type { Route } from './route.ts';
import type { Services } from './services.ts';
import { setupCallOf, setupSessionOf } from './setup/access.ts';

/** Checks once more what the request names. @throws Refusal when it is gone */
function lookAgain({ caller }: Route, exchange: Exchange, services: Services): void {
  if (caller === 'runtime') authenticateRuntime(exchange, services);
  if (caller === 'setup') setupCallOf(exchange.header, services);
  if (caller === 'setup_claimant') setupSessionOf(exchange.header, services);
  if (exchange.params.app !== undefined) requireApp(services, exchange.params.app);
}

/** The error to send instead of `error`: for an orphaned write, what the same request would get a moment later. */
export function refusalOfOrphan(error: unknown, route: Route, exchange: Exchange, services: Services): unknown {
  if (!isOrphaned(error)) return error;
  try {
    lookAgain(route, exchange, services);
  } catch (refusal) {
    return refusal;
  }
  services.log.warn(
    { err: error, request_id: exchange.requestId },
    'a write came too late: what it belongs to was deleted at the same moment',
  );
  const message = 'What this belongs to was deleted at the same moment. Send the request again.';
  // The setup interface knows 500 only.
  return new Refusal('internal', message, { status: exchange.interface === 'setup' ? 500 : 503, retryAfterS: 1 });
}
