/** What the master key protects: each use has a key of its own, derived from it. */
import assert from 'node:assert/strict';
import { createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import { describe, test } from 'node:test';
import { openVault } from '../../../storage/secrets/vault.ts';

const MASTER = Buffer.alloc(32, 7);
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const PURPOSES = ['identity:app_1', 'upload:upl_1#0.', 'bus [null,"a","b"]', 'placeholder:cnv_1', 'traits:app_1'];

/** Opens what a vault sealed with any key that somebody has; undefined when that key does not fit. */
function openWith(key: Uint8Array, purpose: string, sealed: Buffer): string | undefined {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES));
  decipher.setAAD(Buffer.from(purpose));
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    return `${decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)).toString()}${decipher.final().toString()}`;
  } catch {
    return undefined;
  }
}

function derived(kind: string, use: string): Buffer {
  return Buffer.from(hkdfSync('sha256', MASTER, '', `assistant-service v1 ${kind} ${use}`, 32));
}

describe('PRIVACY-16: the vault: a key for each use', () => {
  const vault = openVault('', MASTER.toString('base64'));
  const useOf = (purpose: string) => /^[a-z]+/.exec(purpose)?.[0] ?? '';

  test('what is sealed opens with the key of its use only, and never with the master key', () => {
    for (const purpose of PURPOSES) {
      const sealed = vault.seal(purpose, Buffer.from('secret'));
      assert.equal(openWith(MASTER, purpose, sealed), undefined);
      for (const other of PURPOSES) {
        const opened = openWith(derived('seal', useOf(other)), purpose, sealed);
        assert.equal(opened, other === purpose ? 'secret' : undefined, `${purpose} with the key of ${other}`);
        assert.equal(openWith(derived('digest', useOf(other)), purpose, sealed), undefined);
      }
      assert.equal(vault.open(purpose, sealed).toString(), 'secret');
      assert.throws(() => vault.open(`${purpose}x`, sealed));
    }
  });

  test('a seal that was cut short opens nothing, though what is left of it is right', () => {
    const sealed = vault.seal('cells', Buffer.from(''));
    // Nonce and tag alone: of the tag 4 to 15 bytes are left, which the driver takes by itself.
    for (let bytes = 4; bytes < 16; bytes++)
      assert.throws(() => vault.open('cells', sealed.subarray(0, 12 + bytes)), `${bytes} bytes of the tag`);
    assert.equal(vault.open('cells', sealed).length, 0);
  });

  test('a digest is made with the key of its use, which seals nothing', () => {
    for (const purpose of PURPOSES) {
      const expected = createHmac('sha256', derived('digest', useOf(purpose)))
        .update(`${purpose}\0`)
        .update('a')
        .digest();
      assert.deepEqual(vault.digest(purpose, Buffer.from('a')), expected);
    }
  });
});
