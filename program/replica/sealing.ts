/**
 * What Litestream sends is sealed by Litestream itself, with age (https://age-encryption.org/v1) for a recipient that is derived from the
 * master key, one for each database. Nobody else knows the recipient, so that a piece which opens was sent by whoever has the master key, and
 * of this database. Owns the derivation: another one needs another purpose.
 */
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { bech32 } from '@scure/base';
import { Decrypter } from 'age-encryption';
import type { Vault } from '../../storage/secrets/vault.ts';

export interface DatabaseSeal {
  /** Opens: a secret. */
  readonly identity: string;
  /** Seals: a secret as well, because it proves who sealed. */
  readonly recipient: string;
}

/** What stands before the 32 bytes of a private key for X25519 in PKCS #8 (RFC 8410); Node takes them in no shorter form. */
const PKCS8 = Buffer.from('302e020100300506032b656e04220420', 'hex');
const KEY_BYTES = 32;

export type DatabaseSeals = (name: string) => DatabaseSeal;

/** The seals of databases by their names below the destination. They are kept: deriving a thousand would hold the event loop up. */
export function databaseSeals(vault: Vault): DatabaseSeals {
  // Bounded by the databases that this directory had while the process ran.
  const known = new Map<string, DatabaseSeal>();
  return (name) => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const secret = vault.digest('litestream', Buffer.from(name));
    const key = createPrivateKey({ key: Buffer.concat([PKCS8, secret]), format: 'der', type: 'pkcs8' });
    const point = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-KEY_BYTES);
    const seal = {
      identity: bech32.encodeFromBytes('AGE-SECRET-KEY-', secret).toUpperCase(),
      recipient: bech32.encodeFromBytes('age', point),
    };
    known.set(name, seal);
    return seal;
  };
}

/** @throws Error when the piece was sealed by somebody else, for another database, or was changed. */
export async function openPiece({ identity }: DatabaseSeal, bytes: Buffer): Promise<Buffer> {
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  return Buffer.from(await decrypter.decrypt(bytes));
}
