/** Keys, setup tokens and setup codes in this cell's control file, as they are said to other cells (CELL-19). */
import { columns, integer, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';

export interface OwnName {
  readonly kind: 'key' | 'setup_token' | 'setup_code';
  /** The key itself; of tokens and codes the hash. */
  readonly secret: string;
  readonly organisationId: string;
}

const ownKey = columns({ rowid: integer, secret: text.from('token'), organisationId: text });
const ownToken = columns({ secret: text.from('token_hash'), organisationId: text });
const ownCode = columns({ secret: text.from('code_hash'), organisationId: text });

/**
 * Up to `limit` keys that work, of rows after `rowid`: those after `newest`, and those made since `sinceMs`, because numbers of the newest rows
 * are given again once these were deleted.
 */
export function ownKeys(
  control: Connection,
  where: { readonly rowid: number; readonly newest: number; readonly sinceMs: number; readonly limit: number },
): (OwnName & { readonly rowid: number })[] {
  const isNew = '(rowid > :newest OR created_at_ms >= :sinceMs)';
  const from = `FROM app_keys WHERE rowid > :rowid AND ${isNew} AND revoked_at_ms IS NULL ORDER BY rowid LIMIT :limit`;
  return ownKey.all(control, from, where).map((row) => ({ kind: 'key', ...row }));
}

/** Tokens minted since, and codes that end later; both are deleted a month after their session (SETUP-12). */
export function ownSetupSecrets(control: Connection, sinceMs: number): OwnName[] {
  return [
    ...ownToken
      .all(control, 'FROM setup_tokens WHERE minted_at_ms >= :sinceMs', { sinceMs })
      .map((row) => ({ kind: 'setup_token' as const, ...row })),
    ...ownCode
      .all(control, 'FROM setup_codes WHERE expires_at_ms >= :sinceMs', { sinceMs })
      .map((row) => ({ kind: 'setup_code' as const, ...row })),
  ];
}
