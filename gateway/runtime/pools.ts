/** Pools that follow the app's own settings (LIMIT-1, LIMIT-6): an office may share one address, so signed people are counted apart. */
import { perMinute } from '../rate-limit.ts';
import type { RateLimit } from '../route.ts';

/** `messages_per_minute` requests a minute for each device of an app; every pool has its own buckets. */
export function messagesPool(pool: string): RateLimit {
  return { pool, scope: 'device', perMinute: (app) => app.settings.messagesPerMinute };
}

/** `requests` a minute for each address, unless the app does not count addresses. */
export function addressPool(pool: string, requests: number, retryAfterS?: number): RateLimit {
  const counted = perMinute(pool, 'address', requests, retryAfterS);
  return { ...counted, perMinute: (app) => (app.settings.messagesPerMinutePerAddress === 0 ? Infinity : requests) };
}

/** For all clients of an app. Addresses that send few still pass when others used them up, `keptTogether` of them a minute. */
export function sharedPool(pool: string, requests: number, keptPerAddress: number, keptTogether = requests): RateLimit {
  return { ...perMinute(pool, 'app', requests), keptPerAddress, keptTogether };
}

/** Pages of lists and of messages: each is read on the event loop, and nobody scrolls faster. An office shares an address. */
const PAGES_PER_MINUTE_PER_DEVICE = 600;
const PAGES_PER_MINUTE_PER_ADDRESS = 1_200;

export function pagePools(pool: string): readonly RateLimit[] {
  return [perMinute(pool, 'device', PAGES_PER_MINUTE_PER_DEVICE), addressPool(pool, PAGES_PER_MINUTE_PER_ADDRESS)];
}

/** Limits of the sender, whatever device ids it uses: by the person who signed, otherwise by the address. */
export function senderPools(pool: string): readonly RateLimit[] {
  return [
    { pool, scope: 'person', perMinute: (app) => app.settings.messagesPerMinute },
    { pool, scope: 'address', perMinute: (app) => app.settings.messagesPerMinutePerAddress || Infinity },
  ];
}

/** Requests that name no person: the device's pool comes first, so that a device in a loop uses up nothing of its address's. */
export function writePools(pool: string): readonly RateLimit[] {
  return [messagesPool(pool), ...senderPools(pool)];
}
