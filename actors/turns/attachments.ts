/**
 * What a message attaches (UPLOAD-10): whether these uploads are the device's to use, and what a model is
 * given of them: images as images, PDF and text as text.
 */

import { pdfFileText, plainFileText } from '../../assistant/attachments/attachment-text.ts';
import type { ImagePart } from '../../assistant/models/model.ts';
import { ParsersBusy, parsers } from '../../assistant/parsers/parsers.ts';
import { Refusal } from '../../protocol/errors.ts';
import { ATTACHMENTS_PER_TURN_MAX } from '../../protocol/limits.ts';
import { isImage } from '../../protocol/runtime/uploads.ts';
import type { Storage } from '../../storage/storage.ts';
import {
  deleteUploadFiles,
  hasUploadFile,
  openUploadName,
  readUploadFile,
  readUploadHead,
  uploadPieces,
} from '../../storage/uploads/upload-files.ts';
import { attachmentsOfMessages, readUploads, type UploadRow } from '../../storage/uploads/uploads.ts';
import type { DeviceRef } from '../caller.ts';

/** A person waits for the answer meanwhile; the largest honest PDFs are read in two seconds. */
const PDF_TIMEOUT_MS = 15_000;
const PDF_RETRY_AFTER_S = 5;

interface AttachedFile {
  readonly uploadId: string;
  readonly position: number;
  readonly name: string;
  readonly mediaType: string;
}

/** `text`: at most ATTACHMENT_TEXT_MAX_CHARS characters, and a mark where more were cut off. */
export type Attachment = AttachedFile &
  ({ readonly kind: 'image'; readonly image: ImagePart } | { readonly kind: 'text'; readonly text: string });

export function textOf(attachment: Attachment): string | null {
  return attachment.kind === 'text' ? attachment.text : null;
}

export interface AttachmentRequest extends DeviceRef {
  readonly storage: Storage;
  readonly nowMs: number;
  readonly uploadIds: readonly string[];
}

function refused(position: number, message: string): Refusal {
  const path = `attachments[${position}].upload_id`;
  return new Refusal('invalid_request', `${path} ${message}`, { details: [{ path, message }] });
}

/** One answer whatever the reason: nobody learns what another device has uploaded. */
function unusable(position: number): Refusal {
  return refused(position, 'names no upload of this device that can still be used; upload the file again');
}

function isOwn(row: UploadRow, { appId, channel, deviceId }: AttachmentRequest): boolean {
  return row.appId === appId && row.channel === channel && row.deviceId === deviceId;
}

function isUsable(row: UploadRow, request: AttachmentRequest): boolean {
  return isOwn(row, request) && row.messageId === null && row.expiresAtMs !== null && row.expiresAtMs > request.nowMs;
}

/** @throws Refusal invalid_request naming the first attachment that cannot be used. */
function usableUploads(request: AttachmentRequest): UploadRow[] {
  const { storage, organisationId, uploadIds } = request;
  if (uploadIds.length > ATTACHMENTS_PER_TURN_MAX) {
    throw refused(ATTACHMENTS_PER_TURN_MAX, `is one too many: a message attaches ${ATTACHMENTS_PER_TURN_MAX} uploads at most`);
  }
  const rows = new Map(readUploads(storage.organisation(organisationId), uploadIds).map((row) => [row.id, row]));
  return uploadIds.map((id, position) => {
    if (uploadIds.indexOf(id) < position) throw refused(position, 'names the same upload twice');
    const row = rows.get(id);
    if (row === undefined || !isUsable(row, request)) throw unusable(position);
    return row;
  });
}

/** Deletes the named uploads that have expired before the client learns that they cannot be used, so that they stay gone when the clock is set back. */
async function dropExpired(request: AttachmentRequest): Promise<void> {
  const { storage, organisationId, nowMs } = request;
  const named = readUploads(storage.organisation(organisationId), request.uploadIds.slice(0, ATTACHMENTS_PER_TURN_MAX));
  const expired = named.filter((row) => isOwn(row, request) && row.expiresAtMs !== null && row.expiresAtMs <= nowMs);
  if (expired.length === 0) return;
  const uploadIds = await storage.write(organisationId, 'dropExpiredUploads', { uploadIds: expired.map(({ id }) => id), nowMs });
  await deleteUploadFiles(storage.layout, organisationId, uploadIds);
}

async function usableOrDropped(request: AttachmentRequest): Promise<UploadRow[]> {
  try {
    return usableUploads(request);
  } catch (error) {
    await dropExpired(request);
    throw error;
  }
}

/** An image stays on disk until it is sent to the model. */
function imagePart(
  storage: Storage,
  organisationId: string,
  { id, mediaType, size }: Pick<UploadRow, 'id' | 'mediaType' | 'size'>,
): ImagePart {
  return { mediaType, bytes: size, pieces: () => uploadPieces(storage, organisationId, id) };
}

/** Takes a bounded time, whatever the document does and however many wait before it. */
async function pdfWords(load: () => Promise<Uint8Array>, asker: string, givenUp: AbortSignal): Promise<string> {
  const late = AbortSignal.timeout(PDF_TIMEOUT_MS);
  try {
    return await pdfFileText(load, { parsers, asker, signal: AbortSignal.any([late, givenUp]) });
  } catch (error) {
    if (late.aborted && !givenUp.aborted) return '[The text of this PDF is not here. Reading it took too long.]';
    throw error;
  }
}

function tooManyPdfs(): Refusal {
  return new Refusal('rate_limited', 'Too many PDFs are being read at once. Send the message again in some seconds.', {
    retryAfterS: PDF_RETRY_AFTER_S,
  });
}

async function load(request: AttachmentRequest, row: UploadRow, position: number, givenUp: AbortSignal): Promise<Attachment> {
  const { storage, organisationId } = request;
  const { id: uploadId, mediaType } = row;
  const attachment = { uploadId, position, name: openUploadName(storage.vault, uploadId, row.name), mediaType };
  if (isImage(mediaType)) {
    if (!(await hasUploadFile(storage.layout, organisationId, uploadId))) throw unusable(position);
    return { ...attachment, kind: 'image', image: imagePart(storage, organisationId, row) };
  }
  const read = async (from: typeof readUploadFile) => {
    const bytes = await from(storage, organisationId, uploadId);
    // It ran out between the two reads.
    if (bytes === undefined) throw unusable(position);
    return bytes;
  };
  // A PDF is loaded when a parser is free for it. Only the first piece of a text is shown.
  const text =
    mediaType === 'application/pdf'
      ? await pdfWords(() => read(readUploadFile), organisationId, givenUp)
      : plainFileText(await read(readUploadHead));
  return { ...attachment, kind: 'text', text };
}

/**
 * The attachments of a message that is about to be stored, in its order. They are not used up by this: `useUploads` does that,
 * in the transaction that stores the message.
 * @throws Refusal invalid_request naming an upload that is missing, another device's, used or expired; rate_limited when too
 * many PDFs are being read. A PDF that cannot be read is no error: its text says so.
 */
export async function readAttachments(request: AttachmentRequest): Promise<Attachment[]> {
  const rows = await usableOrDropped(request);
  const pdfs = rows.filter(({ mediaType }) => mediaType === 'application/pdf').length;
  if (!parsers.hasRoom({ asker: request.organisationId, inBackground: false }, pdfs)) throw tooManyPdfs();
  // When one fails, the others stop, because their words will not be used.
  const givenUp = new AbortController();
  try {
    return await Promise.all(rows.map((row, position) => load(request, row, position, givenUp.signal)));
  } catch (error) {
    givenUp.abort(error);
    throw error instanceof ParsersBusy ? tooManyPdfs() : error;
  }
}

/** The attachments of a stored message: images by their place on disk, anything else with the words that were stored. */
export function storedAttachments(storage: Storage, organisationId: string, messageId: string): Attachment[] {
  const stored = attachmentsOfMessages(storage.organisation(organisationId), [messageId]);
  return stored.map(({ uploadId, name, mediaType, size, text }, position) => {
    const file = { uploadId, position, name, mediaType };
    if (text !== null || !isImage(mediaType)) return { ...file, kind: 'text', text: text ?? '' };
    return { ...file, kind: 'image', image: imagePart(storage, organisationId, { id: uploadId, mediaType, size }) };
  });
}
