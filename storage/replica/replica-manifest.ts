/**
 * What a replica has beside databases: one manifest for each organisation, and one for the service. Each lists files with their digests
 * and with when they came and went, which says what belongs to a moment.
 */
import * as v from 'valibot';
import { isBackupName } from '../backup/backup-manifest.ts';

const FORMAT = 'assistant-service replica';
/** A newer version is refused: it may list what this program cannot restore. */
const VERSION = 1;

const moment = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const fileSchema = v.object({
  /** Below the data directory, with slashes; only names that a backup may hold. */
  path: v.pipe(v.string(), v.check(isBackupName)),
  size: moment,
  sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  /** When it was first seen. */
  came_at_ms: moment,
  /** When it was first seen to be away; null: it is there. */
  went_at_ms: v.nullable(moment),
});

const manifestSchema = v.object({
  format: v.literal(FORMAT),
  version: v.literal(VERSION),
  files: v.array(fileSchema),
  /** The service's manifest only. */
  service: v.optional(
    v.object({
      /** Every database was in the replica as it was at this time less `lag_max_s`. */
      at_ms: moment,
      lag_max_s: v.pipe(v.number(), v.minValue(0)),
      master_key: v.object({ fingerprint: v.string(), included: v.boolean() }),
    }),
  ),
});

export type ReplicatedFile = v.InferOutput<typeof fileSchema>;
export type ReplicaManifest = v.InferOutput<typeof manifestSchema>;

/** The name of an organisation's manifest below the destination. */
export function organisationManifest(organisationId: string): string {
  return `files/${organisationId}.json`;
}

/** The name of the manifest that is no organisation's. */
export const SERVICE_MANIFEST = 'files/service.json';

/** Where a file lies below the destination. */
export function storedName(path: string): string {
  return `files/${path}`;
}

export function manifestBytes(contents: Omit<ReplicaManifest, 'format' | 'version'>): Buffer {
  return Buffer.from(`${JSON.stringify({ format: FORMAT, version: VERSION, ...contents })}\n`);
}

/** @throws Error with one sentence when it is none, or of a newer release. */
export function parseManifest(name: string, bytes: Buffer): ReplicaManifest {
  let read: unknown;
  try {
    read = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new Error(`${name} in the replica is damaged: it is no JSON.`);
  }
  const checked = v.safeParse(manifestSchema, read);
  if (checked.success) return checked.output;
  const [issue] = checked.issues;
  throw new Error(`${name} in the replica cannot be used: ${v.getDotPath(issue) ?? 'it'}: ${issue.message}`);
}

/** The files that belong to a moment; undefined: those that are there now. */
export function filesAt(files: readonly ReplicatedFile[], atMs: number | undefined): ReplicatedFile[] {
  // One that came later is harmless: a start deletes what has no row.
  return files.filter(({ went_at_ms: wentAtMs }) => wentAtMs === null || (atMs !== undefined && wentAtMs > atMs));
}
