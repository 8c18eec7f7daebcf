/**
 * The per-minute pools of the runtime interface that follow the app's own settings (LIMIT-1, LIMIT-6).
 * Behind one address may be a whole office; whoever is signed in there with a signature is counted as a person instead.
 */
import { perMinute } from '../rate-limit.ts';
import type { RateLimit } from '../route.ts';

/** `messages_per_minute` requests a minute for each device of an app; every pool counts by itself. */
export function messagesPool(pool: string): RateLimit {
  return { pool, scope: 'device', perMinute: (app) => app.settings.messagesPerMinute };
}

/** `requests` a minute for each address, unless the app does not count addresses. */
export function addressPool(pool: string, requests: number, retryAfterS?: number): RateLimit {
  const counted = perMinute(pool, 'address', requests, retryAfterS);
  return { ...counted, perMinute: (app) => (app.settings.messagesPerMinutePerAddress === 0 ? Infinity : requests) };
}

/**
 * `requests` a minute of an app's clients together; an address that sends few of them is not held up by those that send many, as long as
 * such addresses do not send as many again.
 */
export function sharedPool(pool: string, requests: number, keptPerAddress: number): RateLimit {
  return { ...perMinute(pool, 'app', requests), keptPerAddress, keptTogether: requests };
}

/** Limits of the sender, whatever device ids it uses: by the person who signed, otherwise by the address. */
export function senderPools(pool: string): readonly RateLimit[] {
  return [
    { pool, scope: 'person', perMinute: (app) => app.settings.messagesPerMinute },
    { pool, scope: 'address', perMinute: (app) => app.settings.messagesPerMinutePerAddress || Infinity },
  ];
}

/**
 * Of requests that name no person: who the device is bound to decides. The device comes first: one in a loop over its own bound uses
 * up nothing of its address.
 */
export function writePools(pool: string): readonly RateLimit[] {
  return [messagesPool(pool), ...senderPools(pool)];
}
