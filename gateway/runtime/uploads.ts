/** POST /v1/uploads (UPLOAD-1): takes a file that a message of this device may attach. */
import { isEnding } from '../../actors/node.ts';
import type { Uploader, UploadSlot } from '../../actors/uploads/upload-slots.ts';
import { Refusal } from '../../protocol/errors.ts';
import { UPLOAD_MAX_BYTES, UPLOADS_PER_MINUTE_PER_DEVICE, UPLOADS_RETRY_AFTER_S } from '../../protocol/limits.ts';
import { perMinute } from '../rate-limit.ts';
import { json, type RuntimeCaller, runtimeRoute } from '../route.ts';
import type { Services } from '../services.ts';
import { requireDevice } from './identity.ts';
import { addressPool } from './pools.ts';

/** Three devices that upload as fast as one may; every file is read in full. */
const UPLOADS_PER_MINUTE_PER_ADDRESS = 60;

/** Why a device is required; part of the error message. */
const WHY = 'only the device that uploaded a file may attach it';

function uploaderOf(caller: RuntimeCaller): Uploader {
  const countsAddresses = caller.app.settings.messagesPerMinutePerAddress !== 0;
  return { ...requireDevice(caller, WHY), address: countsAddresses ? caller.address : '' };
}

/** Before the file is read. @throws Refusal 400 invalid_request, 429 rate_limited, 503 uploads_unavailable. */
function enter(caller: RuntimeCaller, services: Services): UploadSlot {
  const uploader = uploaderOf(caller);
  if (isEnding(services.node)) {
    const message = 'The service is about to restart. Send the file again in some seconds.';
    throw new Refusal('uploads_unavailable', message, { retryAfterS: UPLOADS_RETRY_AFTER_S });
  }
  return services.uploads.enter(uploader);
}

export const uploadsRoute = runtimeRoute('POST', '/v1/uploads', {
  limits: [
    perMinute('uploads', 'device', UPLOADS_PER_MINUTE_PER_DEVICE, UPLOADS_RETRY_AFTER_S),
    addressPool('uploads', UPLOADS_PER_MINUTE_PER_ADDRESS, UPLOADS_RETRY_AFTER_S),
  ],
  upload: { field: 'file', maxBytes: UPLOAD_MAX_BYTES, enter },
  suspended: 'app_suspended',
  newWork: true,
  async handle({ caller, upload }, services) {
    return json(await services.uploads.receive(uploaderOf(caller), upload));
  },
});
