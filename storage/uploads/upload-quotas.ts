/**
 * Quotas for uploads that no message uses yet (STORE-13): by device, by address and by app, in bytes and files. Rows are counted in the
 * transaction that adds one, so the quotas hold across processes and restarts.
 */

import { type DiskRoom, keptForDatabases } from '../health/disk-room.ts';
import type { Channel } from '../organisations/organisations.ts';
import { columns, integer, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';

interface Bounds {
  readonly bytes: number;
  readonly files: number;
}

const MB = 1024 * 1024;

/** Bytes: what two messages may attach at most. Files: two minutes of the limit per minute. */
const DEVICE_BOUNDS: Bounds = { bytes: 160 * MB, files: 40 };
/** Enough for a household or an office behind one address: people attach within minutes what they upload. */
const ADDRESS_BOUNDS: Bounds = { bytes: 320 * MB, files: 400 };
/** All strangers of an app together, on one kind of key. */
const APP_BOUNDS: Bounds = { bytes: 2_048 * MB, files: 4_000 };
/** On a small disk an app has this share of it. */
const APP_DISK_SHARE = 0.05;
/**
 * When a quota is full, unused uploads older than this are evicted for newer ones, so that no client can block others for long with files
 * that they never use.
 */
export const UPLOAD_KEPT_MS = 15 * 60_000;
/** An upload that would evict more files than this is refused. */
const EVICTED_AT_ONCE_MAX = 500;

/** Space that uploads leave free in addition to the databases' reserve, for logs and a backup of a small installation. */
const LEFT_BYTES = 1024 * MB;
const LEFT_SHARE = 0.05;

/** Free bytes below which uploads are refused on a disk of this size: the databases' reserve and the uploads' own margin. */
export function leftByUploads(room: DiskRoom): number {
  return keptForDatabases(room) + Math.min(LEFT_BYTES, Math.floor(room.totalBytes * LEFT_SHARE));
}

export function hasRoomForUpload(room: DiskRoom, bytes: number): boolean {
  return room.freeBytes - bytes >= leftByUploads(room);
}

/** Bytes of unused uploads that an app may have on a disk of this size; never less than one device may have. */
export function appQuotaBytes({ totalBytes }: DiskRoom): number {
  return Math.max(DEVICE_BOUNDS.bytes, Math.min(APP_BOUNDS.bytes, Math.floor(totalBytes * APP_DISK_SHARE)));
}

export interface UploadOwner {
  readonly appId: string;
  readonly channel: Channel;
  readonly deviceId: string;
  /** Keyed digest of the client's address as limits count it; '' when the app counts no addresses. */
  readonly address: string;
}

export interface Wanted {
  readonly bytes: number;
  readonly appMaxBytes: number;
  readonly nowMs: number;
}

export type QuotaScope = 'device' | 'address' | 'app';

/** A full quota, and when its files become old enough to be evicted. */
export interface QuotaFull {
  readonly scope: QuotaScope;
  readonly atMs: number;
}

const usedRoom = columns({ files: integer.from('count(*)'), bytes: integer.from('coalesce(sum(size), 0)') });
const unused = columns({ id: text, size: integer, createdAtMs: integer });

const OWNED = 'app_id = :appId AND channel = :channel AND expires_at_ms IS NOT NULL';
const SCOPES: readonly (readonly [QuotaScope, where: string, Bounds])[] = [
  ['device', `${OWNED} AND device_id = :deviceId`, DEVICE_BOUNDS],
  ['address', `${OWNED} AND address = :address`, ADDRESS_BOUNDS],
  ['app', OWNED, APP_BOUNDS],
];

/** The uploads to evict, oldest first, so that `bytes` fit into each quota; `QuotaFull` when the oldest are too new for it. */
export function roomInQuotas(
  db: Connection,
  owner: UploadOwner,
  { bytes, appMaxBytes, nowMs }: Wanted,
): QuotaFull | { readonly evicted: readonly string[] } {
  const evicted: string[] = [];
  for (const [scope, where, bounds] of SCOPES) {
    if (scope === 'address' && owner.address === '') continue;
    const used = usedRoom.get(db, `FROM uploads WHERE ${where}`, { ...owner }) ?? { files: 0, bytes: 0 };
    let spareBytes = (scope === 'app' ? Math.min(appMaxBytes, bounds.bytes) : bounds.bytes) - used.bytes - bytes;
    let spareFiles = bounds.files - used.files - 1;
    if (spareBytes >= 0 && spareFiles >= 0) continue;
    const oldest = unused.all(db, `FROM uploads WHERE ${where} ORDER BY created_at_ms LIMIT ${EVICTED_AT_ONCE_MAX}`, { ...owner });
    for (const { id, size, createdAtMs } of oldest) {
      if (spareBytes >= 0 && spareFiles >= 0) break;
      const oldAtMs = createdAtMs + UPLOAD_KEPT_MS;
      if (oldAtMs > nowMs) return { scope, atMs: oldAtMs };
      evicted.push(id);
      spareBytes += size;
      spareFiles += 1;
    }
    if (spareBytes < 0 || spareFiles < 0) return { scope, atMs: nowMs + UPLOAD_KEPT_MS };
  }
  return { evicted: [...new Set(evicted)] };
}
