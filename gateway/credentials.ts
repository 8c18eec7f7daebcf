/** Who is calling: from the headers of a runtime request to its app, channel and device (KEY-1, KEY-8). */
import { Refusal } from '../protocol/errors.ts';
import { EARLIER_KEY_PREFIX, KEY_PREFIX, runtimeHeader } from '../protocol/headers.ts';
import type { AppRecord } from '../storage/apps/apps.ts';
import type { Channel, Key } from '../storage/organisations/organisations.ts';
import { checkOrigin, isOwnPage } from './http/cors.ts';
import type { Exchange } from './http/exchange.ts';
import type { RuntimeCaller } from './route.ts';
import type { Services } from './services.ts';

/** Anything else was never minted, and is refused without looking it up. */
const KEY = new RegExp(`^${KEY_PREFIX}(?:live|test)_[A-Za-z0-9_-]{8,120}$`);
const DEVICE = /^[0-9a-f]{32}$/;

/** Keys minted under the earlier prefix were carried over under the present one. */
function presentSpelling(token: string): string {
  return token.startsWith(EARLIER_KEY_PREFIX) ? KEY_PREFIX + token.slice(EARLIER_KEY_PREFIX.length) : token;
}

function deviceOf(header: (name: string) => string): string {
  const device = runtimeHeader(header, 'device');
  if (device === '' || DEVICE.test(device)) return device;
  const message = 'must be 32 lowercase hex characters';
  throw new Refusal('invalid_request', `X-Service-Device ${message}.`, { details: [{ path: 'X-Service-Device', message }] });
}

/** Its address is made when a limit asks for it. A class, because a getter of an object literal is a shape of its own each time. */
class Presented implements RuntimeCaller {
  readonly app: AppRecord;
  readonly appId: string;
  readonly organisationId: string;
  readonly channel: Channel;
  readonly deviceId: string;
  readonly person = null;
  readonly #exchange: Pick<Exchange, 'address'>;

  constructor(app: AppRecord, { organisationId, channel }: Key, deviceId: string, exchange: Pick<Exchange, 'address'>) {
    this.app = app;
    this.appId = app.id;
    this.organisationId = organisationId;
    this.channel = channel;
    this.deviceId = deviceId;
    this.#exchange = exchange;
  }

  get address(): string {
    return this.#exchange.address;
  }
}

/** Key, origin, device id (CHAT-15). @throws Refusal `invalid_request`, `invalid_key`, `app_not_live`, `origin_not_allowed`. */
export function authenticateRuntime(exchange: Pick<Exchange, 'header' | 'address' | 'origin'>, services: Services): RuntimeCaller {
  const { header, origin } = exchange;
  const token = presentSpelling(runtimeHeader(header, 'key'));
  if (token === '') {
    const message = 'is required';
    throw new Refusal('invalid_request', `X-Service-Key ${message}: send the app's publishable key.`, {
      details: [{ path: 'X-Service-Key', message }],
    });
  }
  const { storage } = services;
  const key = KEY.test(token) ? storage.key(token) : undefined;
  if (key === undefined || key.revokedAtMs !== null) {
    throw new Refusal('invalid_key', 'The publishable key is unknown or was revoked. Check the key and the environment it is for.');
  }
  const app = storage.app(key.organisationId, key.appId);
  if (app === undefined) throw new Refusal('invalid_key', 'The app of this key no longer exists.');
  if (key.channel === 'live' && !app.live) {
    throw new Refusal('app_not_live', 'The app is not live yet. Use its test key until it is.');
  }
  // Pages of the service itself need no setting: the demo's (DEMO-5), and the one in web views of apps (MOBILE-3).
  const { publicUrl } = services.config;
  // Where the address is known, a name that somebody else gave it (DNS rebinding) counts for the demo alone.
  const host = token === services.demo?.key || publicUrl === undefined ? header('host') : '';
  if (!isOwnPage(origin, host, publicUrl)) checkOrigin(origin, app.settings.allowedDomains, key.channel);
  return new Presented(app, key, deviceOf(header), exchange);
}
