/** The app's identity secret: sealed at rest, and rotated without locking out backends that still use the old one. */
import { randomBytes } from 'node:crypto';
import { Refusal } from '../../protocol/errors.ts';
import type { Vault } from '../secrets/vault.ts';
import { blob, columns, integer, orNull } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';

/** A rotated secret stays valid this long: a backend is redeployed within a day. */
export const PREVIOUS_IDENTITY_SECRET_VALID_MS = 24 * 60 * 60 * 1000;
/** As long as the SHA-256 that it keys. */
const SECRET_BYTES = 32;

export interface IdentitySecrets {
  readonly current: string;
  readonly previous: { readonly secret: string; readonly validUntilMs: number } | null;
}

/** A new secret: 64 hex characters, used as they are (their UTF-8 bytes) as the key of the HMAC. */
export function mintIdentitySecret(): string {
  return randomBytes(SECRET_BYTES).toString('hex');
}

/** Seals a secret for this app; sealing needs the master key, which the writer thread does not have. */
export function sealIdentitySecret(vault: Vault, appId: string, secret: string): Buffer {
  return vault.seal(`identity:${appId}`, Buffer.from(secret, 'utf8'));
}

export function openIdentitySecret(vault: Vault, appId: string, sealed: Buffer): string {
  return vault.open(`identity:${appId}`, sealed).toString('utf8');
}

const sealedSecrets = columns({
  current: blob.from('identity_secret'),
  previous: orNull(blob).from('previous_identity_secret'),
  validUntilMs: orNull(integer).from('previous_identity_secret_until_ms'),
});

export function readIdentitySecrets(db: Connection, vault: Vault, appId: string, nowMs: number): IdentitySecrets | undefined {
  const row = sealedSecrets.get(db, 'FROM apps WHERE id = :appId', { appId });
  if (row === undefined) return undefined;
  const { current, previous, validUntilMs } = row;
  const open = (sealed: Buffer) => openIdentitySecret(vault, appId, sealed);
  const isValid = previous !== null && validUntilMs !== null && nowMs < validUntilMs;
  return { current: open(current), previous: isValid ? { secret: open(previous), validUntilMs } : null };
}

/** Puts a new secret in place; the one before it stays valid for a day. @throws Refusal not_found. */
function rotateIdentitySecret(
  db: Connection,
  input: { appId: string; sealed: Uint8Array; nowMs: number },
): { previousValidUntilMs: number } {
  const previousValidUntilMs = input.nowMs + PREVIOUS_IDENTITY_SECRET_VALID_MS;
  const update = `UPDATE apps SET previous_identity_secret = identity_secret, previous_identity_secret_until_ms = :previousValidUntilMs,
      identity_secret = :sealed, revision = revision + 1, updated_at_ms = :nowMs
    WHERE id = :appId`;
  const { appId, nowMs } = input;
  const { changes } = db.statement(update).run({ appId, sealed: Buffer.from(input.sealed), previousValidUntilMs, nowMs });
  if (changes === 0) throw new Refusal('not_found', `There is no app ${appId}.`);
  return { previousValidUntilMs };
}

export const transactions = { rotateIdentitySecret };
