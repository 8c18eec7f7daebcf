/** The operator's token (decisions §1): given, or minted on the first start and kept in a file that only its owner reads. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const PREFIX = 'rd_op_';
const TOKEN_BYTES = 24;

/** The token `given`, or the one kept in `file`, minted there when missing. @throws Error when the file is empty or cannot be used. */
export function openOperatorToken(file: string, given: string | undefined): string {
  if (given !== undefined) return given;
  if (!existsSync(file)) {
    try {
      writeFileSync(file, `${PREFIX}${randomBytes(TOKEN_BYTES).toString('hex')}\n`, { mode: 0o600, flag: 'wx' });
    } catch (error) {
      // Another process of the same data directory was first: its token is the one.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  const token = readFileSync(file, 'utf8').trim();
  if (token === '') throw new Error(`${file} must hold the operator token, it is empty.`);
  return token;
}
