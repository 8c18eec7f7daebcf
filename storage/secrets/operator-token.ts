/** The operator's token (CONSOLE-1): given, or minted on the first start and kept in a file that only its owner reads. */
import { randomBytes } from 'node:crypto';
import { readOrMint } from './minted-file.ts';

const PREFIX = 'rd_op_';
const TOKEN_BYTES = 24;

/** The token `given`, or the one kept in `file`, minted there when missing. @throws Error when the file is empty or cannot be used. */
export function openOperatorToken(file: string, given: string | undefined): string {
  if (given !== undefined) return given;
  const token = readOrMint(file, () => PREFIX + randomBytes(TOKEN_BYTES).toString('hex'));
  if (token === '') throw new Error(`${file} must hold the operator token, it is empty.`);
  return token;
}
