/** Which calls with a setup token are admitted (SETUP-16 to SETUP-24). */
import type { SetupSessionEffect } from '../../machines/setup-session.ts';
import type { SessionKind } from '../../protocol/console/sessions.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { WriteMode } from '../../protocol/setup/writes.ts';
import { type AppRecord, readApp } from '../../storage/apps/apps.ts';
import { readToken, type SessionRef } from '../../storage/setup/setup-access.ts';
import type { SetupSessionRow } from '../../storage/setup/setup-sessions.ts';
import type { Storage } from '../../storage/storage.ts';
import { noSuchApp, sessionMachine, sessionOrRefuse } from './session.ts';

export interface SetupCall {
  readonly ref: SessionRef;
  readonly row: SetupSessionRow;
  readonly app: AppRecord;
  readonly writes: WriteMode;
}

const MESSAGES: Readonly<Record<Extract<SetupSessionEffect, { type: 'refuse' }>['code'], string>> = {
  not_started: 'The session has not been started. Call POST /start first.',
  already_claimed: 'Another agent has started this session. Get a new setup file from the console for a session of your own.',
  session_closed: 'The session is closed: it was completed, failed, cancelled or ran out. Get a new setup file from the console.',
  app_live: 'The app is live, so a setup session cannot write to it any more. Open a sync session in the console.',
};

export function refusalIn(effects: readonly SetupSessionEffect[]): Refusal | undefined {
  const refused = effects.find((effect) => effect.type === 'refuse');
  return refused === undefined ? undefined : new Refusal(refused.code, MESSAGES[refused.code]);
}

/** @throws Refusal app_live for a setup session on a live app. */
export function refuseLiveApp(app: AppRecord, kind: SessionKind): void {
  if (kind === 'setup' && app.live) throw new Refusal('app_live', MESSAGES.app_live);
}

export function authenticateSetup(storage: Storage, token: string): SessionRef {
  const ref = readToken(storage.control, token);
  if (ref !== undefined) return ref;
  throw new Refusal('invalid_token', 'This token was not issued here, or a newer setup file replaced it. Get a new file from the console.');
}

/** @throws Refusal app_not_found. */
export function sessionRows(storage: Storage, ref: SessionRef): { row: SetupSessionRow; app: AppRecord } {
  const db = storage.organisation(ref.organisationId);
  const app = readApp(db, ref.appId, ref.organisationId);
  if (app === undefined) throw noSuchApp();
  return { row: sessionOrRefuse(db, ref.sessionId), app };
}

/** Why a call would be refused now; undefined: it is admitted. Steps a copy of the machine and commits nothing. */
export function refusalOfCall(row: SetupSessionRow, app: AppRecord, nowMs: number): Refusal | undefined {
  return refusalIn(sessionMachine(row).send({ type: 'session.call', nowMs, appLive: app.live }).effects);
}

export function writeModeOf(row: SetupSessionRow, app: AppRecord): WriteMode {
  return row.kind === 'sync' && app.live ? 'propose' : 'apply';
}

/** Lets a call with the session's token in. @throws Refusal not_started, session_closed, app_live, app_not_found. */
export function admitSetupCall(storage: Storage, ref: SessionRef, nowMs: number): SetupCall {
  const { row, app } = sessionRows(storage, ref);
  const refusal = refusalOfCall(row, app, nowMs);
  if (refusal !== undefined) throw refusal;
  return { ref, row, app, writes: writeModeOf(row, app) };
}
