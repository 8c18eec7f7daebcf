/**
 * The manifests that an app's builds registered: immutable documents keyed by (app, hash) (MANIFEST-4, MANIFEST-5).
 * Owns the tables `manifests` and `manifest_uses`, and the moment of an app's first handshake.
 *
 * The key that registers manifests is public, so a stranger may post one to a live app. Such a manifest counts as the app's only once a
 * turn names it; until then it is never "the latest" and evicts none of the app's. Strangers may open turns too. So a manifest that was
 * used for only a few hours evicts others that are as new, but none that was used longer or is vouched for. It is "the latest" only
 * when the app has no other.
 */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { LRUCache } from 'lru-cache';
import { formOf } from '../../protocol/console/apps.ts';
import { Refusal } from '../../protocol/errors.ts';
import { completeManifest, type Manifest, type PostedManifest } from '../../protocol/runtime/manifest.ts';
import { columns, integer, orNull, type RowOf, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';

/**
 * An app has a manifest for each build in use. Beyond this bound the one used or posted longest ago is deleted. A build that still uses
 * it is answered `manifest_unknown` and posts it again.
 */
export const MANIFESTS_PER_APP_MAX = 200;
/** A separate bound for manifests that turns have only begun to use. A release brings a few builds, and each is soon in use for hours. */
export const NEW_MANIFESTS_MAX = 100;
/** A manifest used in this many hours is in use. A stranger needs a turn in each of these hours, and has few turns a day. */
const HOURS_IN_USE = 3;
/** A build unused for this long was replaced. Its manifest is deleted first, even when it is vouched for. */
const REPLACED_AFTER_MS = 90 * 24 * 60 * 60 * 1000;
/** A separate bound for manifests that no turn has used yet. A build's first turn follows its post within seconds. */
const UNUSED_MANIFESTS_MAX = 50;
/** A use is written at most this often: enough to tell builds in use from old ones. */
const USE_NOTED_EVERY_MS = 60 * 60 * 1000;
/** Parsed documents kept: every turn reads one, and the builds in use at once are few. */
const PARSED_KEPT = 500;
/** Characters of all kept documents as text; parsed they take some four times as much memory. */
const PARSED_KEPT_CHARS = 16 * 1024 * 1024;

const manifestRow = columns({
  hash: text,
  document: text,
  sdk: text,
  firstSeenAtMs: integer,
  lastSeenAtMs: integer,
});
type ManifestRow = RowOf<typeof manifestRow>;

const manifestText = columns({ document: text });

interface ManifestRecord extends Omit<ManifestRow, 'document'> {
  readonly document: Manifest;
}

interface HashedManifest {
  /** Lowercase hex SHA-256 of the document's canonical JSON (RFC 8785). */
  readonly hash: string;
  /** JSON as it was posted: people are shown parameters in the order in which the app declares them. */
  readonly document: string;
}

/** Text and hash of a posted manifest. @throws Error when it holds what JSON cannot say, such as 1e999. */
export function hashManifest(manifest: PostedManifest): HashedManifest {
  const canonical = canonicalize(manifest) ?? 'null';
  return { hash: createHash('sha256').update(canonical).digest('hex'), document: JSON.stringify(manifest) };
}

// Documents never change, so an entry is never stale.
const parsed = new LRUCache<string, Manifest>({ max: PARSED_KEPT, maxSize: PARSED_KEPT_CHARS });

function parse(db: Connection, appId: string, hash: string, document: string): Manifest {
  const key = `${db.path} ${appId} ${hash}`;
  let manifest = parsed.get(key);
  if (manifest === undefined) {
    manifest = completeManifest(JSON.parse(document) as PostedManifest);
    parsed.set(key, manifest, { size: document.length });
  }
  return manifest;
}

export function readManifest(db: Connection, appId: string, hash: string): Manifest | undefined {
  const known = parsed.get(`${db.path} ${appId} ${hash}`);
  if (known !== undefined) return known;
  const row = manifestText.get(db, 'FROM manifests WHERE app_id = :appId AND hash = :hash', { appId, hash });
  return row === undefined ? undefined : parse(db, appId, hash, row.document);
}

export function hasManifest(db: Connection, appId: string, hash: string): boolean {
  return db.statement('SELECT 1 FROM manifests WHERE app_id = :appId AND hash = :hash').get({ appId, hash }) !== undefined;
}

/** The last posted first, but those vouched for or in use before the others: a stranger's turn may name any manifest. */
function newestManifests(db: Connection, appId: string, limit: number): ManifestRow[] {
  const from = `FROM manifests JOIN manifest_uses USING (app_id, hash)
    WHERE app_id = :appId ORDER BY (vouched = 1 OR hours >= :hours) DESC, last_seen_at_ms DESC LIMIT :limit`;
  return manifestRow.all(db, from, { appId, hours: HOURS_IN_USE, limit });
}

export function latestManifest(db: Connection, appId: string): ManifestRecord | undefined {
  const [row] = newestManifests(db, appId, 1);
  return row === undefined ? undefined : { ...row, document: parse(db, appId, row.hash, row.document) };
}

/** Whether browsers are to show the app: the build that counts says so, before the first one the person's hint does. */
export function isForWebsites(db: Connection, { id, platformHint }: { readonly id: string; readonly platformHint: string }): boolean {
  const [counting] = newestManifests(db, id, 1);
  return counting === undefined ? formOf(platformHint) === 'web' : counting.sdk.startsWith('web/');
}

interface ShownApp {
  readonly id: string;
  readonly live: boolean;
  readonly platformHint: string;
}

/** Whether it is live, and no website may show it: `domains` are how many may. */
export function isBlocked(db: Connection, app: ShownApp, domains: number): boolean {
  return app.live && domains === 0 && isForWebsites(db, app);
}

const build = columns({ hash: text, sdk: text, document: text, lastSeenAtMs: integer, hours: orNull(integer), vouched: orNull(integer) });

/** The manifest that counts, and the one posted last where that is another: each with what it was used for. Null hours: no turn named it yet. */
export function readBuilds(db: Connection, appId: string) {
  const latest = latestManifest(db, appId);
  const from = `FROM manifests LEFT JOIN manifest_uses USING (app_id, hash) WHERE app_id = :appId
    AND (hash = :hash OR last_seen_at_ms = (SELECT max(last_seen_at_ms) FROM manifests WHERE app_id = :appId))`;
  const rows = build.all(db, from, { appId, hash: latest?.hash ?? '' });
  const builds = rows.map(({ document, hours, vouched, ...row }) => ({
    ...row,
    document: parse(db, appId, row.hash, document),
    standing: vouched === 1 ? ('vouched' as const) : (hours ?? 0) >= HOURS_IN_USE ? ('in_use' as const) : ('new' as const),
    hours: hours ?? 0,
  }));
  return { counts: builds.find(({ hash }) => hash === latest?.hash), newest: builds.find(({ hash }) => hash !== latest?.hash) };
}

export function latestRoutes(db: Connection, appId: string, limit: number): ReadonlySet<string> {
  const manifests = newestManifests(db, appId, limit).map(({ hash, document }) => parse(db, appId, hash, document));
  return new Set(manifests.flatMap(({ routes }) => routes.map(({ name }) => name)));
}

export interface Build extends Omit<ManifestRow, 'document'> {
  readonly actions: number;
  readonly screens: number;
  readonly counts: boolean;
}

/** The last posted of all, whoever posted them, and the one that counts, which is "the latest". */
export function listBuilds(db: Connection, appId: string, limit: number): Build[] {
  const from = 'FROM manifests WHERE app_id = :appId ORDER BY last_seen_at_ms DESC LIMIT :limit';
  const rows = manifestRow.all(db, from, { appId, limit });
  const [counting] = newestManifests(db, appId, 1);
  if (counting !== undefined && !rows.some(({ hash }) => hash === counting.hash)) rows.push(counting);
  return rows.map(({ document, ...row }) => {
    const { actions, routes } = parse(db, appId, row.hash, document);
    return { ...row, actions: actions.length, screens: routes.length, counts: row.hash === counting?.hash };
  });
}

interface RegisterManifest extends HashedManifest {
  readonly appId: string;
  readonly sdk: string;
  readonly nowMs: number;
  /** True when the app is live, so that anybody may have sent it. It counts once a turn names it, or when the app has no other. */
  readonly unsolicited?: boolean;
}

/** A turn named the manifest; to be called as it opens. `vouched`: the caller proved to be no stranger. */
export function noteManifestUse(db: Connection, appId: string, hash: string, nowMs: number, vouched = false): void {
  const insert = `INSERT INTO manifest_uses (app_id, hash, used_at_ms, vouched)
      SELECT app_id, hash, :nowMs, :vouched FROM manifests WHERE app_id = :appId AND hash = :hash
    ON CONFLICT (app_id, hash) DO UPDATE SET hours = hours + (used_at_ms < :nowMs - :every), used_at_ms = max(used_at_ms, :nowMs),
      vouched = max(vouched, :vouched)
    WHERE used_at_ms < :nowMs - :every OR vouched < :vouched`;
  db.statement(insert).run({ appId, hash, nowMs, every: USE_NOTED_EVERY_MS, vouched: vouched ? 1 : 0 });
}

function evict(db: Connection, appId: string, nowMs: number): void {
  const deletionOf = (which: string, order: string) =>
    `DELETE FROM manifests WHERE app_id = :appId AND hash IN
       (SELECT u.hash FROM manifest_uses u JOIN manifests m ON m.app_id = u.app_id AND m.hash = u.hash
        WHERE u.app_id = :appId AND ${which} ORDER BY ${order} max(u.used_at_ms, m.last_seen_at_ms) DESC LIMIT -1 OFFSET :kept)`;
  db.statement(deletionOf('(u.vouched = 1 OR u.hours >= :hours)', 'u.used_at_ms > :replacedMs DESC, u.vouched DESC,')).run({
    appId,
    hours: HOURS_IN_USE,
    replacedMs: nowMs - REPLACED_AFTER_MS,
    kept: MANIFESTS_PER_APP_MAX,
  });
  db.statement(deletionOf('u.vouched = 0 AND u.hours < :hours', '')).run({ appId, hours: HOURS_IN_USE, kept: NEW_MANIFESTS_MAX });
  const remove = `DELETE FROM manifests WHERE app_id = :appId AND hash IN
      (SELECT hash FROM manifests WHERE app_id = :appId AND hash NOT IN (SELECT hash FROM manifest_uses WHERE app_id = :appId)
       ORDER BY last_seen_at_ms DESC LIMIT -1 OFFSET :kept)`;
  db.statement(remove).run({ appId, kept: UNUSED_MANIFESTS_MAX });
}

/** The first request with a handshake, chat or manifest: the app has called in (LIVE-8). False: it had before. */
function noteHandshake(db: Connection, { appId, nowMs }: { appId: string; nowMs: number }): boolean {
  const update = 'UPDATE apps SET handshake_at_ms = :nowMs, revision = revision + 1 WHERE id = :appId AND handshake_at_ms IS NULL';
  return db.statement(update).run({ appId, nowMs }).changes === 1;
}

export const transactions = {
  noteHandshake,

  /** One row, however often it is posted. An app's first is its first handshake. @throws Refusal invalid_key when the app is gone. */
  registerManifest(db: Connection, input: RegisterManifest): { firstHandshake: boolean } {
    const { appId, hash, document, sdk, nowMs } = input;
    const app = db.statement('SELECT 1 FROM apps WHERE id = :appId').get({ appId });
    if (app === undefined) throw new Refusal('invalid_key', 'The app of this key no longer exists.');
    // At least 1 ms after the previous one, so that "the latest" is always unambiguous.
    const insert = `INSERT INTO manifests (app_id, hash, document, sdk, first_seen_at_ms, last_seen_at_ms)
      VALUES (:appId, :hash, :document, :sdk, :nowMs,
        max(:nowMs, 1 + coalesce((SELECT max(last_seen_at_ms) FROM manifests WHERE app_id = :appId), 0)))
      ON CONFLICT (app_id, hash) DO UPDATE SET sdk = excluded.sdk, last_seen_at_ms = excluded.last_seen_at_ms`;
    db.statement(insert).run({ appId, hash, document, sdk, nowMs });
    const isFirst = db.statement('SELECT 1 FROM manifest_uses WHERE app_id = :appId LIMIT 1').get({ appId }) === undefined;
    if (input.unsolicited !== true || isFirst) noteManifestUse(db, appId, hash, nowMs, input.unsolicited !== true);
    evict(db, appId, nowMs);
    return { firstHandshake: noteHandshake(db, { appId, nowMs }) };
  },
};
