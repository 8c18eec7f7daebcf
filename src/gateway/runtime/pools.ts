/** The per-minute pools of the runtime interface that follow the app's own setting (service.md "the five caps"). */
import type { RateLimit } from '../route.ts';

/** `messages_per_minute` requests a minute for each device of an app; every pool counts by itself. */
export function messagesPool(pool: string): RateLimit {
  return { pool, scope: 'device', perMinute: (app) => app.settings.messagesPerMinute };
}
