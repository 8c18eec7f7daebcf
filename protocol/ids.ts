/** Mints and recognises the service's identifiers: a prefix and 24 base32 characters that sort by time. */
import { randomFillSync } from 'node:crypto';

/** RFC 4648 base32 does not sort by value; this alphabet (digits, then letters less i, l, o, u) does. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

const PREFIXES = [
  'ses',
  'app',
  'org',
  'cnv',
  'msg',
  'inv',
  'usr',
  'kno',
  'act',
  'upl',
  'pro',
  'run',
  'ast',
  'key',
  'blk',
  'pai',
  'top',
] as const;
export type IdPrefix = (typeof PREFIXES)[number];

// One call to the kernel serves many ids; 4 KB is 455 of them.
const pool = Buffer.alloc(4096);
let used = pool.length;

function randomBytes9(): Buffer {
  if (used + 9 > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += 9;
  return pool.subarray(used - 9, used);
}

/** Base32 of the low `digits * 5` bits of `value`. */
function base32(value: number, digits: number): string {
  let text = '';
  for (let rest = value, i = 0; i < digits; i++) {
    text = ALPHABET[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/**
 * A new identifier, e.g. `cnv_` + 24 characters: 9 of time (45 bits of milliseconds) and 15 of randomness (72 bits
 * of entropy in 75). Ids of one prefix minted in different milliseconds sort by time.
 */
export function mintId(prefix: IdPrefix, nowMs: number): string {
  const bytes = randomBytes9();
  const high = bytes.readUIntBE(0, 3);
  const middle = bytes.readUIntBE(3, 3);
  const low = bytes.readUIntBE(6, 3);
  return `${prefix}_${base32(nowMs, 9)}${base32(high, 5)}${base32(middle, 5)}${base32(low, 5)}`;
}

const ID = new RegExp(`^(?:${PREFIXES.join('|')})_[${ALPHABET}]{24}$`);

/** Whether `text` has the form of an identifier of `prefix`; says nothing about its existence. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && ID.test(text);
}
