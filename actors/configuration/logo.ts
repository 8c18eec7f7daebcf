/** Stores a logo (LOGO-9): one set of rules for the setup interface and the console. */
import { createHash } from 'node:crypto';
import { examineLogo, type LogoImage } from '../../assistant/images/images.ts';
import { mintId } from '../../protocol/ids.ts';
import type { SetupWrite } from '../../protocol/setup/writes.ts';
import type { Storage } from '../../storage/storage.ts';
import type { WriteTarget } from './write-queue.ts';

/** `bytes` are within the logo's limit. @throws Refusal 415, 413, 429 (see examineLogo), 409 draft_invalid, 404 not_found. */
export async function takeInLogo(storage: Storage, target: WriteTarget, bytes: Uint8Array, nowMs: number) {
  const { organisationId, appId, origin } = target;
  const { mediaType, width, height, bytes: content } = await examineLogo(bytes, organisationId);
  return storage.write(organisationId, 'saveLogo', {
    assetId: mintId('ast', nowMs),
    appId,
    mediaType,
    width,
    height,
    content,
    origin,
    nowMs,
  });
}

/** Hash (hex SHA-256) of what would be stored of an image in base64, as a proposal holds it. @throws Refusal as takeInLogo. */
export async function examineLogoContent(content: string, asker: string): Promise<string> {
  const { bytes } = await examineLogo(Buffer.from(content, 'base64'), asker);
  return createHash('sha256').update(bytes).digest('hex');
}

/** The picture that a write would put into the look, as it would be stored. @throws Refusal as takeInLogo. */
export async function pictureOf(write: SetupWrite, asker: string): Promise<LogoImage | undefined> {
  const content = write.kind === 'logo' ? write.content : write.kind === 'appearance' ? write.logo : undefined;
  return content === undefined ? undefined : examineLogo(Buffer.from(content, 'base64'), asker);
}
