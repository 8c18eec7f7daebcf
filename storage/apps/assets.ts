/** Uploaded logos of an app, kept in its organisation's file, and their place in the appearance draft (LOGO-9, LOGO-10). */
import * as v from 'valibot';
import { Refusal } from '../../protocol/errors.ts';
import { type AppearanceDraft, appearanceBody } from '../../protocol/setup/appearance.ts';
import type { Origin } from '../../protocol/setup/writes.ts';
import { blob, columns, insert, integer, type RowOf, readIds, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { readDraft, storeAppearanceDraft } from './drafts.ts';

const asset = columns({
  id: text,
  appId: text,
  mediaType: text,
  width: integer,
  height: integer,
  content: blob,
  createdAtMs: integer,
});

export type Asset = RowOf<typeof asset>;

/** The newest are kept so that a person can go back. What a draft or a publication names is always kept. At 2 MB each, 20 MB an app. */
export const ASSETS_KEPT = 10;

export function readAsset(db: Connection, appId: string, assetId: string): Asset | undefined {
  return asset.get(db, 'FROM assets WHERE id = :assetId AND app_id = :appId', { assetId, appId });
}

/** @throws Refusal not_found (the app), draft_invalid when no draft was written or it is no longer valid: a logo has to be set in one. */
export function requireAppearanceDraft(db: Connection, appId: string): AppearanceDraft {
  const draft = readDraft(db, appId);
  if (draft === undefined) throw new Refusal('not_found', `There is no app ${appId}.`);
  const result = v.safeParse(appearanceBody, draft.appearance);
  if (result.success) return result.output;
  const state = draft.appearance === null ? 'There is no appearance draft yet' : 'The appearance draft is not valid';
  throw new Refusal('draft_invalid', `${state}. Send PUT /appearance first, then the logo.`);
}

interface LogoInput extends Pick<Asset, 'appId' | 'mediaType' | 'width' | 'height'> {
  /** Used when the app has no such image yet. */
  readonly assetId: string;
  readonly content: Uint8Array;
  readonly origin?: Origin;
  readonly nowMs: number;
}

function storeAsset(db: Connection, input: LogoInput): string {
  const { assetId, appId, mediaType, width, height, nowMs: createdAtMs } = input;
  const content = Buffer.from(input.content.buffer, input.content.byteOffset, input.content.byteLength);
  const rows = 'FROM assets WHERE app_id = :appId AND length(content) = :length AND content = :content AND media_type = :mediaType';
  const [same] = readIds(db, rows, { appId, length: content.length, content, mediaType });
  if (same !== undefined) return same;
  insert(db, 'assets', { id: assetId, appId, mediaType, width, height, content, createdAtMs });
  return assetId;
}

function forgetOldAssets(db: Connection, appId: string): void {
  const sql = `WITH appearances (document) AS (
      SELECT appearance_draft FROM apps WHERE id = :appId
      UNION ALL SELECT appearance FROM publications WHERE app_id = :appId
    ), named (id) AS (
      SELECT document ->> '$.theme.logoAssetId' FROM appearances UNION SELECT document ->> '$.themeDark.logoAssetId' FROM appearances
    )
    DELETE FROM assets WHERE app_id = :appId
      AND id NOT IN (SELECT id FROM assets WHERE app_id = :appId ORDER BY created_at_ms DESC, id DESC LIMIT ${ASSETS_KEPT})
      AND id NOT IN (SELECT id FROM named WHERE id IS NOT NULL)`;
  db.statement(sql).run({ appId });
}

/** An image the app has already keeps its id; `changed` is false when the draft showed it before. @throws as requireAppearanceDraft. */
function saveLogo(db: Connection, input: LogoInput): { draft: AppearanceDraft; logoAssetId: string; changed: boolean } {
  const { appId, nowMs } = input;
  const before = requireAppearanceDraft(db, appId);
  const logoAssetId = storeAsset(db, input);
  if (before.theme.logoAssetId === logoAssetId) return { draft: before, logoAssetId, changed: false };
  const draft: AppearanceDraft = { ...before, theme: { ...before.theme, logoAssetId } };
  storeAppearanceDraft(db, { appId, draft, origin: input.origin, nowMs });
  forgetOldAssets(db, appId);
  return { draft, logoAssetId, changed: true };
}

export const transactions = { saveLogo };
