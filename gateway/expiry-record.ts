/**
 * What somebody is about to be told has run out is written first, so that it stays so when the clock is set back: sessions of the
 * console and of setup, whose expiry is noticed where nothing is written. What cannot be written is told all the same.
 */
import { Refusal } from '../protocol/errors.ts';
import { endSessionThatRanOut } from './console/operator-session.ts';
import type { Route } from './route.ts';
import type { Services } from './services.ts';
import { setupSessionOf } from './setup/access.ts';

type Headers = (name: string) => string;

function writing({ caller }: Route, error: unknown, header: Headers, services: Services): Promise<void> | undefined {
  if (!(error instanceof Refusal)) return undefined;
  if (caller === 'operator' && error.code === 'invalid_token') return endSessionThatRanOut(header, services);
  if (caller === 'setup' && error.code === 'session_closed') return services.setup.sessions.expire(setupSessionOf(header, services));
  return undefined;
}

/** To be waited for before `error` is told to whoever called the route; never rejects. Undefined: it can be told at once. */
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
