/** Codes that fetch a setup file, and the token that each file carries (SETUP-10, SETUP-13). */
import { Refusal } from '../../protocol/errors.ts';
import type { AppRecord } from '../../storage/apps/apps.ts';
import {
  hashSecret,
  isUsedCode,
  mintFileCode,
  mintSetupToken,
  type Redeemed,
  readCode,
  type SessionRef,
} from '../../storage/setup/setup-access.ts';
import type { SetupSessionRow } from '../../storage/setup/setup-sessions.ts';
import { refusalOfCall, sessionRows } from './admission.ts';
import type { SetupServices } from './session.ts';

const CODE = /^[0-9a-f]{32}$/;

export interface IssuedCode {
  /** Told once: only its hash is kept. */
  readonly code: string;
  readonly expiresAtMs: number;
}

export interface RedeemedFile {
  readonly token: string;
  readonly row: SetupSessionRow;
  readonly app: AppRecord;
}

function refusalOf(outcome: Exclude<Redeemed, 'redeemed'>): Refusal {
  switch (outcome) {
    case 'used':
      return new Refusal('code_used', 'This code was used; each works once. Get a new command in the console.');
    case 'expired':
      return new Refusal('code_expired', 'This code is too old, or a newer one replaced it. Get a new command in the console.');
    case 'unknown':
      return new Refusal('unknown_code', 'This code was never issued. Copy the command from the console again.');
  }
}

/** What redeeming a code needs; `expire`: see SetupSessions. */
interface FileServices extends SetupServices {
  readonly sessions: { expire(ref: SessionRef): Promise<void> };
}

export async function issueFileCode({ storage, nowMs }: SetupServices, ref: SessionRef): Promise<IssuedCode> {
  const code = mintFileCode();
  const { expiresAtMs } = await storage.writeControl('issueFileCode', { ...ref, codeHash: hashSecret(code), nowMs: nowMs() });
  return { code, expiresAtMs };
}

/** The token before stops working. @throws Refusal unknown_code, code_used, code_expired, app_not_found, session_closed, app_live. */
export async function redeemFileCode({ storage, nowMs, sessions }: FileServices, code: string): Promise<RedeemedFile> {
  const ref = CODE.test(code) ? readCode(storage.control, code) : undefined;
  if (ref === undefined) throw refusalOf('unknown');
  // Whatever state its session is in, a new command is needed.
  if (isUsedCode(storage.control, code)) throw refusalOf('used');
  const { row, app } = sessionRows(storage, ref);
  const refusal = refusalOfCall(row, app, nowMs());
  // A file is what a session is started with.
  if (refusal?.code === 'session_closed') await sessions.expire(ref);
  if (refusal !== undefined && refusal.code !== 'not_started') throw refusal;
  const token = mintSetupToken();
  const input = { codeHash: hashSecret(code), tokenHash: hashSecret(token), nowMs: nowMs() };
  const outcome = await storage.writeControl('redeemFileCode', input);
  if (outcome !== 'redeemed') throw refusalOf(outcome);
  return { token, row, app };
}
