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

// The present id's characters: pieces of text joined to one another leave twenty times as much garbage.
const written = Buffer.alloc(24);
/** Writes base32 of the low `digits * 5` bits of `value` up to `end`. */
function writeBase32(value: number, digits: number, end: number): void {
  for (let rest = value, at = end - 1; at >= end - digits; at--) {
    written[at] = ALPHABET.charCodeAt(rest % 32);
    rest = Math.floor(rest / 32);
  }
}

/**
 * A new identifier, e.g. `cnv_` + 24 characters: 9 of time (45 bits of milliseconds) and 15 of randomness (72 bits
 * of entropy in 75). Ids of one prefix minted in different milliseconds sort by time.
 */
export function mintId(prefix: IdPrefix, nowMs: number): string {
  if (used + 9 > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  writeBase32(nowMs, 9, 9);
  for (const end of [14, 19, 24]) {
    writeBase32(pool.readUIntBE(used, 3), 5, end);
    used += 3;
  }
  return `${prefix}_${written.toString('latin1')}`;
}

const ID = new RegExp(`^(?:${PREFIXES.join('|')})_[${ALPHABET}]{24}$`);

/** Whether `text` has the form of an identifier of `prefix`; says nothing about its existence. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && ID.test(text);
}
