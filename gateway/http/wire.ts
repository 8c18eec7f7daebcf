/** Rows that two of the interfaces answer with, as they travel. */
import type { SmokeRun as ShownRun } from '../../protocol/console/setup-answers.ts';
import type { AttachmentReply } from '../../protocol/runtime/messages.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import type { SmokeRun } from '../../storage/setup/smoke-runs.ts';
import type { ShownAttachment } from '../../storage/uploads/uploads.ts';

/** A run as POST and GET /smoke answer it. */
export function smokeRunToWire({ id, passed, platformFailure, answers, createdAtMs }: SmokeRun): ShownRun {
  return { id, passed, createdAt: timestamp(createdAtMs), platformFailure, results: answers };
}

export function attachmentToWire({ uploadId, name, mediaType, size }: ShownAttachment): AttachmentReply {
  return { upload_id: uploadId, name, media_type: mediaType, size };
}
