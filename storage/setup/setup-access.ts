/**
 * File codes and setup tokens (SETUP-10, SETUP-12): which session each opens. Only hashes are stored. Redeeming a code and replacing the
 * token are one write, so when two calls race for one code, exactly one gets a token.
 */
import { createHash, randomBytes } from 'node:crypto';
import { SETUP_CODE_MINUTES } from '../../protocol/limits.ts';
import { columns, insert, integer, orNull, type RowOf, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';

const SETUP_TOKEN_PREFIX = 'rd_st_';
const TOKEN_BYTES = 12;
const CODE_BYTES = 16;
const CODE_VALID_MS = SETUP_CODE_MINUTES * 60_000;
/** Codes and tokens of closed sessions are answered 410; after this they are deleted and count as never issued. */
const FORGOTTEN_AFTER_MS = 30 * 24 * 3_600_000;

const session = {
  sessionId: text,
  organisationId: text,
  appId: text,
};

const sessionRef = columns(session);
const code = columns({
  ...session,
  expiresAtMs: integer,
  usedAtMs: orNull(integer),
  expiredAtMs: orNull(integer).from('told_expired_at_ms'),
});

export type SessionRef = RowOf<typeof sessionRef>;

/** `rd_st_` and 24 lowercase hex characters. */
export function mintSetupToken(): string {
  return SETUP_TOKEN_PREFIX + randomBytes(TOKEN_BYTES).toString('hex');
}

export function mintFileCode(): string {
  return randomBytes(CODE_BYTES).toString('hex');
}

export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** The session whose newest token this is; undefined for one that was never issued or was replaced. */
export function readToken(control: Connection, token: string): SessionRef | undefined {
  // The search compares hashes: its timing could reveal a hash at most, and no token can be derived from that.
  return sessionRef.get(control, 'FROM setup_tokens WHERE token_hash = :hash', { hash: hashSecret(token) });
}

/** The session a code was issued for, whether or not it can still be redeemed. */
export function readCode(control: Connection, fileCode: string): SessionRef | undefined {
  return sessionRef.get(control, 'FROM setup_codes WHERE code_hash = :hash', { hash: hashSecret(fileCode) });
}

export function isUsedCode(control: Connection, fileCode: string): boolean {
  const row = code.get(control, 'FROM setup_codes WHERE code_hash = :hash', { hash: hashSecret(fileCode) });
  return row !== undefined && row.usedAtMs !== null;
}

/** The session with this id; undefined when there is none, or it closed long ago. */
export function findSession(control: Connection, sessionId: string): SessionRef | undefined {
  return sessionRef.get(control, 'FROM setup_codes WHERE session_id = :sessionId LIMIT 1', { sessionId });
}

export type Redeemed = 'redeemed' | 'unknown' | 'used' | 'expired';

export const transactions = {
  /** Issues a new code and invalidates the session's unused ones. Returns when it expires. */
  issueFileCode(control: Connection, input: SessionRef & { codeHash: string; nowMs: number }): { expiresAtMs: number } {
    const { sessionId, organisationId, appId, codeHash, nowMs } = input;
    const expiresAtMs = nowMs + CODE_VALID_MS;
    const forgottenMs = nowMs - FORGOTTEN_AFTER_MS;
    control.statement('DELETE FROM setup_codes WHERE expires_at_ms < :forgottenMs').run({ forgottenMs });
    control.statement('DELETE FROM setup_tokens WHERE minted_at_ms < :forgottenMs').run({ forgottenMs });
    const end = 'UPDATE setup_codes SET expires_at_ms = min(expires_at_ms, :nowMs) WHERE session_id = :sessionId AND used_at_ms IS NULL';
    control.statement(end).run({ sessionId, nowMs });
    insert(control, 'setup_codes', { codeHash, sessionId, organisationId, appId, expiresAtMs });
    return { expiresAtMs };
  },

  /** Redeems the code and makes the token with `tokenHash` the session's only one. */
  redeemFileCode(control: Connection, input: { codeHash: string; tokenHash: string; nowMs: number }): Redeemed {
    const { codeHash, tokenHash, nowMs } = input;
    const row = code.get(control, 'FROM setup_codes WHERE code_hash = :codeHash', { codeHash });
    if (row === undefined) return 'unknown';
    const { sessionId, organisationId, appId } = row;
    if (row.usedAtMs !== null) return 'used';
    if (row.expiredAtMs !== null) return 'expired';
    if (nowMs >= row.expiresAtMs) {
      // The expiry is reported now, so it is stored and holds also when the clock is set back.
      control.statement('UPDATE setup_codes SET told_expired_at_ms = :nowMs WHERE code_hash = :codeHash').run({ codeHash, nowMs });
      return 'expired';
    }
    control.statement('UPDATE setup_codes SET used_at_ms = :nowMs WHERE code_hash = :codeHash').run({ codeHash, nowMs });
    const again = 'ON CONFLICT (session_id) DO UPDATE SET token_hash = excluded.token_hash, minted_at_ms = excluded.minted_at_ms';
    insert(control, 'setup_tokens', { sessionId, tokenHash, organisationId, appId, mintedAtMs: nowMs }, again);
    return 'redeemed';
  },
};
