/** The caller of a runtime request as actors know it, and routes that require a device (KEY-8). */
import type { Caller, DeviceRef } from '../../actors/caller.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { RuntimeCaller } from '../route.ts';
import type { Services } from '../services.ts';
import { type SignedRequest, signerOf } from './identity.ts';

/** The caller as actors know it; `deviceId` is '' when it sent no header. */
export function deviceOf({ organisationId, appId, channel, deviceId }: RuntimeCaller): DeviceRef {
  return { organisationId, appId, channel, deviceId };
}

/** The caller by its device. @throws Refusal 400 `invalid_request` naming the header; `why` is a sentence without its full stop. */
export function requireDevice(caller: RuntimeCaller, why: string): DeviceRef {
  if (caller.deviceId === '') {
    const message = 'is required';
    throw new Refusal('invalid_request', `X-Service-Device ${message} here: ${why}.`, { details: [{ path: 'X-Service-Device', message }] });
  }
  return deviceOf(caller);
}

/** The caller: the device, if one was named, and the person who signed. @throws Refusal 400 `invalid_request`, see signerOf. */
export function callerOf(input: SignedRequest, services: Services): Caller {
  return { ...deviceOf(input.caller), person: signerOf(input, services) };
}

/** The same where a device is required. @throws Refusal 400 `invalid_request`, see requireDevice. */
export function actingCaller(input: SignedRequest, services: Services, why: string): Caller {
  requireDevice(input.caller, why);
  return callerOf(input, services);
}
