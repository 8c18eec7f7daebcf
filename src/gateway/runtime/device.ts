/** The device header, where the specification asks for it (service.md "Authentication", Runtime interface). */
import { Refusal } from '../../protocol/errors.ts';
import type { RuntimeCaller } from '../route.ts';

export interface KnownDevice {
  readonly organisationId: string;
  readonly appId: string;
  readonly channel: RuntimeCaller['channel'];
  /** 32 lowercase hex characters. */
  readonly deviceId: string;
}

/** The caller by its device. @throws Refusal 400 `invalid_request` naming the header; `why` is a sentence without its full stop. */
export function requireDevice({ app, organisationId, channel, deviceId }: RuntimeCaller, why: string): KnownDevice {
  if (deviceId === '') {
    const message = 'is required';
    throw new Refusal('invalid_request', `X-Service-Device ${message} here: ${why}.`, { details: [{ path: 'X-Service-Device', message }] });
  }
  return { organisationId, appId: app.id, channel, deviceId };
}
