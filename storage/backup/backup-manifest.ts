/**
 * What is in a backup: the names its files may have, and `manifest.json`, which is written last and tells each file's size and
 * digest. The files lie as they do in a data directory (data-layout.ts).
 */
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import type { DataLayout } from '../data-layout.ts';
import { openVault, type Vault } from '../secrets/vault.ts';

export const MANIFEST = 'manifest.json';
const FORMAT = 'assistant-service backup';
/** Version of the manifest. A newer one is refused: it may hold files that this program cannot restore. */
const VERSION = 1;

const ID = '[0-9a-z]{24}';
/** The only paths that a backup or a replica may name. */
const NAMES = new RegExp(
  `^(?:control\\.sqlite|master-key|organisations/org_${ID}\\.sqlite|uploads/org_${ID}/upl_${ID}|outbox/[0-9A-Za-z_-]{1,100}\\.eml)$`,
);

/** Whether a backup may hold a file of this path (below it, with slashes). */
export function isBackupName(path: string): boolean {
  return NAMES.test(path);
}

const hex256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const value = v.union([v.string(), v.number(), v.null()]);

export const fileSchema = v.strictObject({
  /** Below the backup, with slashes. */
  path: v.pipe(v.string(), v.regex(NAMES)),
  /** Bytes. */
  size: count,
  sha256: hex256,
  /** Databases only: schema version, and rows by table. */
  database: v.optional(v.strictObject({ schema_version: count, rows: v.record(v.string(), count) })),
});

const manifestSchema = v.strictObject({
  format: v.literal(FORMAT),
  version: v.literal(VERSION),
  /** RFC 3339. What was committed before is in the backup. */
  began_at: v.string(),
  finished_at: v.string(),
  master_key: v.strictObject({
    fingerprint: hex256,
    included: v.boolean(),
  }),
  /** `<organisation>/<upload>`: rows whose files were deleted while the backup was made. */
  missing_uploads: v.array(v.string()),
  /** Files that were damaged before they were copied. */
  unreadable_uploads: v.array(v.string()),
  files: v.array(fileSchema),
  /** Only where it is of one organisation, which moves to another cell: that move, and the organisation's rows of the control file. */
  move: v.optional(
    v.strictObject({
      organisation_id: v.string(),
      move_id: v.string(),
      control_schema_version: count,
      control_rows: v.record(v.string(), v.array(v.record(v.string(), value))),
    }),
  ),
});

export type BackupFile = v.InferOutput<typeof fileSchema>;
export type Manifest = v.InferOutput<typeof manifestSchema>;
export type ManifestContents = Omit<Manifest, 'format' | 'version'>;

/** Separates this use of the key from every other. */
const FINGERPRINT = 'backup';

/** Identifies a master key without revealing it: 64 hex characters. */
export function masterKeyFingerprint(vault: Vault): string {
  return vault.digest(FINGERPRINT, Buffer.from('master key')).toString('hex');
}

/**
 * The vault of an existing directory; never mints a key. `masterKey`: MASTER_KEY when set, and then the file is not read. Undefined
 * when there is no key.
 */
export function existingVault(layout: DataLayout, masterKey: string | undefined): Vault | undefined {
  if (masterKey === undefined && !existsSync(layout.masterKey)) return undefined;
  return openVault(layout.masterKey, masterKey);
}

/** Rows of all tables of all databases among `files`. */
export function rowsIn(files: readonly BackupFile[]): number {
  const counts = files.flatMap(({ database }) => Object.values(database?.rows ?? {}));
  return counts.reduce((sum, rows) => sum + rows, 0);
}

function digestOf(fields: object): string {
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex');
}

/** The text of `manifest.json`. It ends with a digest of itself, so that damage to it is detected. */
export function manifestText(contents: ManifestContents): string {
  const manifest: Manifest = { format: FORMAT, version: VERSION, ...contents };
  return `${JSON.stringify({ ...manifest, digest: digestOf(manifest) }, null, 1)}\n`;
}

function parsed(path: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Error(`${path} is missing: this is no backup, or one that was cut off.`);
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw new Error(`${path} is damaged: it is no JSON object.`);
}

/**
 * The manifest of the backup in the folder `backup`.
 * @throws Error with one sentence when it is missing, damaged, of something else or of a newer release.
 */
export function readManifest(backup: string): Manifest {
  const path = join(backup, MANIFEST);
  const { digest, ...fields } = parsed(path);
  if (fields.format !== FORMAT) throw new Error(`${path} is damaged, or not of a backup of this service: its format is not "${FORMAT}".`);
  if (typeof fields.version === 'number' && fields.version > VERSION) {
    const known = `this program knows version ${VERSION}`;
    throw new Error(`${path} has version ${fields.version}, made by a newer release; ${known}. Restore it with the newer release.`);
  }
  if (digest !== digestOf(fields)) throw new Error(`${path} is damaged: its digest does not fit.`);
  const checked = v.safeParse(manifestSchema, fields);
  if (checked.success) return checked.output;
  const [issue] = checked.issues;
  throw new Error(`${path} cannot be used: ${v.getDotPath(issue) ?? 'it'}: ${issue.message}`);
}

/** Everything below `folder` except folders, as paths with slashes; `isFile` false: a link or another special file. */
export function* filesBelow(
  folder: string,
  prefix = '',
): Generator<{ readonly path: string; readonly size: number; readonly isFile: boolean }> {
  for (const name of readdirSync(join(folder, prefix)).sort()) {
    const path = prefix === '' ? name : `${prefix}/${name}`;
    const found = lstatSync(join(folder, path));
    if (found.isDirectory()) yield* filesBelow(folder, path);
    else yield { path, size: found.size, isFile: found.isFile() };
  }
}
