/**
 * An app's row in its organisation's file: who it is and its settings. Owns `revision`, which rises with every change
 * that a cached copy must notice: drafts, publications and the identity secret raise it too.
 */

import { basename } from 'node:path';
import { LRUCache } from 'lru-cache';
import { type AppSettingsPatch, patchSettings, settingsFromWire, settingsToWire } from '../../protocol/console/app-settings.ts';
import { deriveSlug, type PatchAppBody, SLUG_MAX_CHARS } from '../../protocol/console/apps.ts';
import { Refusal } from '../../protocol/errors.ts';
import { withoutEnd } from '../../protocol/schema/text.ts';
import { columns, flag, insert, integer, orNull, type RowOf, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { transactions as draftTransactions } from './drafts.ts';
import { transactions as identityTransactions } from './identity-secrets.ts';

/** The row of the newest source that can be found, 0 where none can. Read with the revision, which indexing does not raise. */
const newestSource = integer.from(
  "coalesce((SELECT max(rowid) FROM knowledge_sources WHERE app_id = apps.id AND state = 'indexed' AND archived_at_ms IS NULL), 0)",
);

const appRow = columns({
  id: text,
  name: text,
  slug: text,
  platformHint: text,
  settings: text.to((wire) => settingsFromWire(JSON.parse(wire))),
  live: flag,
  liveAtMs: orNull(integer),
  revision: integer,
  personaVersion: integer,
  publishedVersion: orNull(integer),
  handshakeAtMs: orNull(integer),
  createdAtMs: integer,
  updatedAtMs: integer,
  newestSource,
});

export interface AppRecord extends RowOf<typeof appRow> {
  readonly organisationId: string;
}

/** One is about 2 KB. */
const CACHED_APPS_MAX = 2_000;

/** By app and what is read of it each time: a changed row has another key, so nothing is ever stale. */
const cache = new LRUCache<string, AppRecord>({ max: CACHED_APPS_MAX });

const appRevision = columns({ revision: integer, newestSource });

function keyOf(appId: string, { revision, newestSource: source }: RowOf<typeof appRevision>): string {
  return `${appId}@${revision}+${source}`;
}

function organisationIdOf(db: Connection): string {
  return basename(db.path, '.sqlite');
}

/** Parses the row anew. Transactions read with this: what they see may yet be rolled back and must not be cached. */
function loadApp(db: Connection, appId: string, organisationId: string): AppRecord | undefined {
  const row = appRow.get(db, 'FROM apps WHERE id = :appId', { appId });
  return row === undefined ? undefined : { ...row, organisationId };
}

/** For reads on the event loop, once per request: costs one look at `revision` while nothing has changed. */
export function readApp(db: Connection, appId: string, organisationId = organisationIdOf(db)): AppRecord | undefined {
  const row = appRevision.get(db, 'FROM apps WHERE id = :appId', { appId });
  if (row === undefined) return undefined;
  const known = cache.get(keyOf(appId, row));
  if (known !== undefined) return known;
  const app = loadApp(db, appId, organisationId);
  // The row may have moved on between the two reads; it is kept under the revision that it has.
  if (app !== undefined) cache.set(keyOf(appId, app), app);
  return app;
}

export function listApps(db: Connection, organisationId = organisationIdOf(db)): AppRecord[] {
  return appRow.all(db, 'FROM apps ORDER BY id').map((row) => ({ ...row, organisationId }));
}

function slugTaken(db: Connection, slug: string, exceptAppId: string): boolean {
  return db.statement('SELECT 1 FROM apps WHERE slug = :slug AND id <> :exceptAppId').get({ slug, exceptAppId }) !== undefined;
}

/** `shop`, or `shop-2`, `shop-3`, … when taken. Ends, because an organisation has a bounded number of apps. */
function freeSlug(db: Connection, name: string): string {
  const base = deriveSlug(name);
  for (let count = 1; ; count++) {
    const suffix = count === 1 ? '' : `-${count}`;
    const slug = `${withoutEnd(base.slice(0, SLUG_MAX_CHARS - suffix.length), '-')}${suffix}`;
    if (!slugTaken(db, slug, '')) return slug;
  }
}

function refuseTakenSlug(db: Connection, slug: string, appId: string): void {
  if (slugTaken(db, slug, appId)) throw new Refusal('conflict', `slug "${slug}" belongs to another app of the organisation.`);
}

function noSuchApp(appId: string): Refusal {
  return new Refusal('not_found', `There is no app ${appId}.`);
}

/** For writes whose rows would belong to no app. @throws Refusal not_found when the app was deleted, or never was. */
export function requireAppRow(db: Connection, appId: string): void {
  if (db.statement('SELECT 1 FROM apps WHERE id = :appId').get({ appId }) === undefined) throw noSuchApp(appId);
}

export interface NewApp extends Pick<AppRecord, 'organisationId' | 'name' | 'platformHint'> {
  readonly appId: string;
  readonly slug?: string | undefined;
  /** Settings that do not start at their default. */
  readonly settings: AppSettingsPatch;
  readonly sealedIdentitySecret: Uint8Array;
  readonly nowMs: number;
}

function createApp(db: Connection, input: NewApp): AppRecord {
  const { appId, name, platformHint, nowMs } = input;
  if (input.slug !== undefined) refuseTakenSlug(db, input.slug, appId);
  const slug = input.slug ?? freeSlug(db, name);
  const settings = settingsToWire(settingsFromWire(input.settings));
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
  insert(db, 'apps', { id: appId, name, slug, platformHint, settings, live: 0, identitySecret: input.sealedIdentitySecret, ...times });
  return requireAppRecord(db, appId, input.organisationId);
}

/** The app as the transaction sees it. @throws Refusal not_found. */
export function requireAppRecord(db: Connection, appId: string, organisationId: string): AppRecord {
  const app = loadApp(db, appId, organisationId);
  if (app === undefined) throw noSuchApp(appId);
  return app;
}

/** Changes what the patch names. @throws Refusal not_found; conflict when the slug is taken. */
function patchApp(db: Connection, input: { appId: string; organisationId: string; patch: PatchAppBody; nowMs: number }): AppRecord {
  const { appId, organisationId, patch, nowMs } = input;
  const before = requireAppRecord(db, appId, organisationId);
  if (patch.slug !== undefined) refuseTakenSlug(db, patch.slug, appId);
  const update = `UPDATE apps SET name = :name, slug = :slug, platform_hint = :platformHint, settings = :settings,
      revision = revision + 1, updated_at_ms = :nowMs
    WHERE id = :appId`;
  db.statement(update).run({
    appId,
    name: patch.name ?? before.name,
    slug: patch.slug ?? before.slug,
    platformHint: patch.platform_hint ?? before.platformHint,
    settings: JSON.stringify(settingsToWire(patchSettings(before.settings, patch))),
    nowMs,
  });
  return requireAppRecord(db, appId, organisationId);
}

/** With all it knew and said; false when there was none. The ledger (charges, usage_days) stays: what was spent was spent. */
function deleteApp(db: Connection, input: { appId: string }): boolean {
  // A full-text table takes no part in foreign keys.
  db.statement('DELETE FROM knowledge_index WHERE rowid IN (SELECT id FROM knowledge_chunks WHERE app_id = :appId)').run(input);
  // In the order of an index; their turns and messages go with them.
  db.statement('DELETE FROM conversations WHERE app_id = :appId').run(input);
  return db.statement('DELETE FROM apps WHERE id = :appId').run(input).changes === 1;
}

export const transactions = { createApp, patchApp, deleteApp, ...draftTransactions, ...identityTransactions };
