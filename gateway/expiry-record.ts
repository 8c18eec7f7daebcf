/**
 * Writes the expiry of console sessions and setup sessions before a caller is told of it, so that they stay expired when the clock is
 * set back: requests notice it where nothing else is written. A caller is told also when the write fails.
 */
import { Refusal } from '../protocol/errors.ts';
import { endExpiredSession } from './console/operator-session.ts';
import type { Route } from './route.ts';
import type { Services } from './services.ts';
import { setupSessionOf } from './setup/access.ts';

type Headers = (name: string) => string;

function writing({ caller }: Route, error: unknown, header: Headers, services: Services): Promise<void> | undefined {
  if (!(error instanceof Refusal)) return undefined;
  if (caller === 'operator' && error.code === 'invalid_token') return endExpiredSession(header, services);
  if (caller === 'setup' && error.code === 'session_closed') return services.setup.sessions.expire(setupSessionOf(header, services));
  return undefined;
}

/** Await it before `error` is sent to the caller of the route; never rejects. Undefined: there is nothing to write. */
export function recordExpiry(route: Route, error: unknown, header: Headers, services: Services): Promise<void> | undefined {
  const unwritten = (reason: unknown) =>
    services.log.warn({ err: reason }, 'storing that a session or pairing expired failed: callers are told that it expired');
  try {
    return writing(route, error, header, services)?.catch(unwritten);
  } catch (reason) {
    unwritten(reason);
    return undefined;
  }
}
