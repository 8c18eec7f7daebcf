/**
 * The operator's token (CONSOLE-1): given, or minted on the first start. The data directory keeps its digest only, and the keys made of the
 * digest need the master key as well, so that no copy of a directory, backup or replica opens the console.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { chownSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { putInPlace } from '../sqlite/database-copy.ts';
import { readOrMint } from './minted-file.ts';
import { isSecret, type Vault } from './vault.ts';

const PREFIX = 'rd_op_';
const TOKEN_BYTES = 24;
/** What the file holds; an older release kept the token itself. */
export const KEPT = /^sha256:[0-9a-f]{64}$/;
/** A pass is made for one request, and the clock is that of the same host. */
const PASS_VALID_MS = 60_000;
const PASS = /^rd_pass_(\d{1,16})_[0-9a-f]{64}$/;

export interface OperatorToken {
  readonly digest: string;
  /** The token itself where it was minted now: it cannot be shown later. */
  readonly minted: string | undefined;
}

export function digestOfToken(token: string): string {
  return `sha256:${createHash('sha256').update(token).digest('hex')}`;
}

export function isOperatorToken(given: string, digest: string): boolean {
  return isSecret(digestOfToken(given), digest);
}

function replaceDigest(file: string, digest: string): void {
  const { uid, gid } = statSync(file);
  putInPlace(file, (unfinished) => {
    writeFileSync(unfinished, `${digest}\n`, { mode: 0o600, flag: 'wx' });
    // Run as root, it would be root's, and the service could not read it.
    if (process.getuid?.() === 0) chownSync(unfinished, uid, gid);
  });
}

function mint(): string {
  return PREFIX + randomBytes(TOKEN_BYTES).toString('hex');
}

export function rotateOperatorToken(file: string): string {
  const token = mint();
  replaceDigest(file, digestOfToken(token));
  return token;
}

/** What `file` holds, with the digest in the place of a token that an older release kept there. That goes on to be valid. */
function digestIn(file: string, kept: string): string {
  if (kept === '') throw new Error(`${file} must hold the digest of the operator token, it is empty.`);
  if (KEPT.test(kept)) return kept;
  const digest = digestOfToken(kept);
  try {
    replaceDigest(file, digest);
  } catch {
    // Served all the same on a disk that takes no writes; the next start tries again.
  }
  return digest;
}

/** The token `given`, or the one whose digest is in `file`, minted when the file is missing. @throws Error when the file is empty or cannot be used. */
export function openOperatorToken(file: string, given: string | undefined): OperatorToken {
  if (given !== undefined) {
    if (existsSync(file)) digestIn(file, readFileSync(file, 'utf8').trim() || digestOfToken(mint()));
    return { digest: digestOfToken(given), minted: undefined };
  }
  const token = mint();
  const mintDigest = () => digestOfToken(token);
  const digest = digestIn(file, readOrMint(file, mintDigest));
  return { digest, minted: isOperatorToken(token, digest) ? token : undefined };
}

/** Signs console sessions and passes: another token, or another master key, ends them all. */
export function operatorKey(vault: Vault, digest: string): Buffer {
  return vault.digest('console', Buffer.from(digest));
}

function passUntil(key: Buffer, expiresAtMs: number): string {
  return `rd_pass_${expiresAtMs}_${createHmac('sha256', key).update(`pass\n${expiresAtMs}`).digest('hex')}`;
}

/** What stands for the token in a request of a command that runs on the data directory and has the master key (RUN-27). */
export function operatorPass(key: Buffer, nowMs: number): string {
  return passUntil(key, nowMs + PASS_VALID_MS);
}

export function isOperatorPass(given: string, key: Buffer, nowMs: number): boolean {
  const expiresAtMs = Number(PASS.exec(given)?.[1] ?? 0);
  return nowMs < expiresAtMs && expiresAtMs <= nowMs + PASS_VALID_MS && isSecret(given, passUntil(key, expiresAtMs));
}
