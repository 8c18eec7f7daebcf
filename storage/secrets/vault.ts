/** Seals secrets at rest with AES-256-GCM under keys that are derived from the master key, and mints random secrets. */
import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { readOrMint } from './minted-file.ts';

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Names this service and its key derivation: another derivation needs another version. */
const DERIVATION = 'assistant-service v1';

export interface Vault {
  /**
   * `purpose` is authenticated: what was sealed for one purpose does not open for another. Its first word is the use (`identity`,
   * `upload`, `bus`), a constant of the program; each use has its own key.
   */
  seal(purpose: string, plain: Uint8Array): Buffer;
  /** @throws Error when the bytes were changed, sealed for something else or under another master key. */
  open(purpose: string, sealed: Uint8Array): Buffer;
  /** HMAC-SHA256 (32 bytes): recognises an earlier value of the same use without revealing it to anybody without the master key. */
  digest(purpose: string, plain: Uint8Array): Buffer;
}

/** Compares in constant time. Hashing first makes the lengths equal, as the comparison needs. */
export function isSecret(given: string, secret: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(secret));
}

function masterKeyBytes(file: string, given: string | undefined): Buffer {
  if (given !== undefined) return Buffer.from(given, 'base64');
  const mint = () => randomBytes(KEY_BYTES).toString('base64');
  const key = Buffer.from(readOrMint(file, mint), 'base64');
  if (key.length !== KEY_BYTES) throw new Error(`${file} must hold ${KEY_BYTES} bytes in base64, it holds ${key.length}.`);
  return key;
}

/**
 * Derives one key for each use (HKDF-SHA256, RFC 5869), so that a leaked or misused key does no harm to other uses. The master key itself
 * neither seals nor signs. Uses are a few constants of the program, so all keys are cached.
 */
function derivedKeys(master: Buffer, kind: 'seal' | 'digest'): (purpose: string) => Buffer {
  const keys = new Map<string, Buffer>();
  return (purpose) => {
    const use = /^[a-z]*/.exec(purpose)?.[0] ?? '';
    const known = keys.get(use);
    if (known !== undefined) return known;
    const key = Buffer.from(hkdfSync('sha256', master, '', `${DERIVATION} ${kind} ${use}`, KEY_BYTES));
    keys.set(use, key);
    return key;
  };
}

/** Opens the vault with the given master key (base64), or with the one kept in `file`, minted there when missing. */
export function openVault(file: string, given: string | undefined): Vault {
  const master = masterKeyBytes(file, given);
  const sealKey = derivedKeys(master, 'seal');
  const digestKey = derivedKeys(master, 'digest');
  return {
    seal(purpose, plain) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', sealKey(purpose), nonce);
      cipher.setAAD(Buffer.from(purpose));
      return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    },
    open(purpose, sealed) {
      const bytes = Buffer.from(sealed);
      const decipher = createDecipheriv('aes-256-gcm', sealKey(purpose), bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(purpose));
      decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
      return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, bytes.length - TAG_BYTES)), decipher.final()]);
    },
    // The NUL ends the purpose, so that no other split into purpose and bytes gives the same input.
    digest: (purpose, plain) => createHmac('sha256', digestKey(purpose)).update(`${purpose}\0`).update(plain).digest(),
  };
}
