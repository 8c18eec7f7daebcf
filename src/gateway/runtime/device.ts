/** The device header, where the specification asks for it (service.md "Authentication", Runtime interface). */
import type { DeviceCaller } from '../../actors/ownership.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { RuntimeCaller } from '../route.ts';

/** The caller as actors know it; `deviceId` is '' when it sent no header. */
export function deviceOf({ app, organisationId, channel, deviceId }: RuntimeCaller): DeviceCaller {
  return { organisationId, appId: app.id, channel, deviceId };
}

/** The caller by its device. @throws Refusal 400 `invalid_request` naming the header; `why` is a sentence without its full stop. */
export function requireDevice(caller: RuntimeCaller, why: string): DeviceCaller {
  if (caller.deviceId === '') {
    const message = 'is required';
    throw new Refusal('invalid_request', `X-Service-Device ${message} here: ${why}.`, { details: [{ path: 'X-Service-Device', message }] });
  }
  return deviceOf(caller);
}
