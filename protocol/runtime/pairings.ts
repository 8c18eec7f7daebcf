/** The body of POST /v1/pairings/claim, its answer, and how the code in it is spelt. */
import type * as v from 'valibot';
import { PAIRING_CODE_CHARS } from '../limits.ts';
import { text } from '../schema/text.ts';
import { openObject } from './shapes.ts';

/** Digits and letters that nobody takes for one another when they read them off a screen: no 0, 1, I, L, O or U. */
export const PAIRING_ALPHABET = '23456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Room for a code that was typed with a space or a hyphen after every character. */
const TYPED_MAX_CHARS = 32;

export const pairingClaimRequest = openObject({ code: text(TYPED_MAX_CHARS) });
export type PairingClaimRequest = v.InferOutput<typeof pairingClaimRequest>;

export interface PairingClaimReply {
  readonly pairing_id: string;
  /** When the two hours of watching end. */
  readonly expires_at: string;
}

const CODE = new RegExp(`^[${PAIRING_ALPHABET}]{${PAIRING_CODE_CHARS}}$`);

/** The code that was meant: in capitals, without spaces and hyphens; undefined when it cannot be one. */
export function pairingCodeOf(typed: string): string | undefined {
  const code = typed.replaceAll(/[\s\u2010-\u2015-]/g, '').toUpperCase();
  return CODE.test(code) ? code : undefined;
}
