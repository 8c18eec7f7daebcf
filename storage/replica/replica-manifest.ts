/**
 * What a replica has beside databases: one manifest for each organisation, and one for the service. Each lists files with their digests
 * and with when they came and went, which says what belongs to a moment.
 */
import * as v from 'valibot';
import { fileSchema, masterKeyFingerprint } from '../backup/backup-manifest.ts';
import { isSecret, type Vault } from '../secrets/vault.ts';

const FORMAT = 'assistant-service replica';
/** A newer version is refused: it may list what this program cannot restore. So is the one before, which nothing proves. */
const VERSION = 2;

const moment = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const replicatedSchema = v.object({
  ...v.pick(fileSchema, ['path', 'size', 'sha256']).entries,
  /** Sealed for the way, because on disk it is not: a mail. */
  sealed: v.optional(v.literal(true)),
  came_at_ms: moment,
  /** When it was first seen to be away; null: it is there. */
  went_at_ms: v.nullable(moment),
});

const manifestSchema = v.object({
  format: v.literal(FORMAT),
  version: v.literal(VERSION),
  files: v.array(replicatedSchema),
  /** The service's manifest only. */
  service: v.optional(
    v.object({
      /** Every database was in the replica as it was at this time less `lag_max_s`. */
      at_ms: moment,
      lag_max_s: v.pipe(v.number(), v.minValue(0)),
      master_key: v.object({ fingerprint: v.string(), included: v.boolean() }),
      /** Names of the other manifests that there are. */
      manifests: v.array(v.string()),
    }),
  ),
});

export type ReplicatedFile = v.InferOutput<typeof replicatedSchema>;
export type ReplicaManifest = v.InferOutput<typeof manifestSchema>;

export function organisationManifest(organisationId: string): string {
  return `files/${organisationId}.json`;
}

/** The name of the manifest that is no organisation's. */
export const SERVICE_MANIFEST = 'files/service.json';

/** For what a file is sealed that is not sealed on disk. */
export function sealPurpose(path: string): string {
  return `replica ${path}`;
}

export function storedName(path: string): string {
  return `files/${path}`;
}

/** How a text ends that `provenBytes` made: the last member is the MAC of all before it. */
const MAC = /^(.*),"mac":"([0-9a-f]{64})"\}\n$/s;

function macOf(vault: Vault, name: string, text: string): string {
  return vault.digest(`replica ${name}`, Buffer.from(text)).toString('hex');
}

/** An object as JSON that only who has the master key can write, for this name below the destination. */
export function provenBytes(vault: Vault, name: string, value: object): Buffer {
  const text = JSON.stringify(value).slice(0, -1);
  return Buffer.from(`${text},"mac":"${macOf(vault, name, text)}"}\n`);
}

/** Whether `provenBytes` made these bytes under this master key and for this name. */
export function isProven(vault: Vault, name: string, bytes: Buffer): boolean {
  const [, text = '', mac = ''] = MAC.exec(bytes.toString('utf8')) ?? [];
  return isSecret(mac, macOf(vault, name, text));
}

export function manifestBytes(vault: Vault, name: string, contents: Omit<ReplicaManifest, 'format' | 'version'>): Buffer {
  return provenBytes(vault, name, { format: FORMAT, version: VERSION, ...contents });
}

/** The part of a manifest without a proof that helps to say why it has none. */
const claimSchema = v.object({
  version: v.optional(v.number()),
  service: v.optional(v.object({ master_key: v.object({ fingerprint: v.string() }) })),
});

function reasonOf(name: string, read: unknown, vault: Vault): string {
  const { version, service } = v.parse(v.fallback(claimSchema, {}), read);
  if (version === 1) return `${name} in the replica is of an older release, and nothing proves who wrote it: restore it with that release`;
  if (service !== undefined && service.master_key.fingerprint !== masterKeyFingerprint(vault))
    return 'MASTER_KEY is not the key that the service had';
  return `${name} in the replica was not written by a service with this master key, or was changed`;
}

/** @throws Error with one sentence when it is none, when nothing proves it, or it is of another release. */
export function parseManifest(vault: Vault, name: string, bytes: Buffer): ReplicaManifest {
  let read: unknown;
  try {
    read = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new Error(`${name} in the replica is damaged: it is no JSON, nothing was restored.`);
  }
  if (!isProven(vault, name, bytes)) throw new Error(`${reasonOf(name, read, vault)}, nothing was restored.`);
  const checked = v.safeParse(manifestSchema, read);
  if (checked.success) return checked.output;
  const [issue] = checked.issues;
  throw new Error(`${name} in the replica cannot be used: ${v.getDotPath(issue) ?? 'it'}: ${issue.message}`);
}

/** The files of a manifest's copy in the data directory; none when it is damaged. */
export function filesIn(copy: Buffer | undefined): readonly ReplicatedFile[] {
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), v.pick(manifestSchema, ['files'])), copy?.toString('utf8'));
  return read.success ? read.output.files : [];
}

/** The files that belong to a moment; undefined: those that are there now. */
export function filesAt(files: readonly ReplicatedFile[], atMs: number | undefined): ReplicatedFile[] {
  // One that came later is harmless: a start deletes what has no row.
  return files.filter(({ went_at_ms: wentAtMs }) => wentAtMs === null || (atMs !== undefined && wentAtMs > atMs));
}
