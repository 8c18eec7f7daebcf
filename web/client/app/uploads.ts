/** Sends files that messages attach (UPLOAD-1), tells how far they are, and sends again what a busy service refused (CLIENT-17). */
import type { UploadReply } from '../../../protocol/runtime/uploads.ts';
import type { FileContent } from '../surroundings.ts';
import { ClientError, failureOf, logged, ownFailure } from '../transport/failure.ts';
import { patiently } from '../transport/patience.ts';
import type { Ground } from '../transport/requests.ts';

export interface UploadOptions {
  /** Share of the file that is sent, from 0 to 1. It begins anew when the file is sent again. */
  readonly onProgress?: (share: number) => void;
  readonly signal?: AbortSignal;
}

function isReply(value: unknown): value is UploadReply {
  return typeof (value as UploadReply | null | undefined)?.upload_id === 'string';
}

/** @throws ClientError what the service says of the file, or `unreachable` */
export async function upload(
  { requests, surroundings, log }: Ground,
  file: { readonly content: FileContent; readonly name: string },
  { onProgress = () => {}, signal = new AbortController().signal }: UploadOptions = {},
): Promise<UploadReply> {
  try {
    return await patiently(
      surroundings,
      async () => {
        const reply = await requests.file(file, signal, log.contain(onProgress));
        if (isReply(reply)) return reply;
        throw new ClientError(ownFailure('unreadable', 'The service answered something that is no upload.', true));
      },
      ({ retryable }) => retryable && !signal.aborted,
    );
  } catch (error) {
    if (!signal.aborted) log.say('warn', 'upload_failed', logged(failureOf(error)));
    throw error;
  }
}
