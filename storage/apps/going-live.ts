/** An app goes live in one transaction with its consequences (LIVE-2). Drafts never published become version 1: the smoke run tested them. */

import { type PlannedMails, planMemberMails } from '../billing/member-mails.ts';
import { addServerEvent, type CommitSessionInput, commitSetupSession, readLatestSession } from '../setup/setup-sessions.ts';
import type { Connection } from '../sqlite/connection.ts';
import { insertTrace, type NewTrace } from '../traces/traces.ts';
import { requireAppRecord } from './apps.ts';
import { publishDrafts, readDraft } from './drafts.ts';

interface GoLiveInput {
  readonly appId: string;
  readonly organisationId: string;
  readonly nowMs: number;
  readonly trace?: NewTrace | null;
  /** Absent: none are sent. */
  readonly mails?: PlannedMails;
}

interface WentLive {
  /** False: the app was live already, and nothing was done. */
  readonly wentLive: boolean;
  /** The version that people get; null: none, and they get the default look and persona. */
  readonly version: number | null;
}

function publishesDrafts(db: Connection, appId: string, publishOnGoLive: boolean): boolean {
  const draft = readDraft(db, appId);
  if (!publishOnGoLive || draft === undefined || draft.publishedVersion !== null) return false;
  return draft.appearance !== null || draft.experience !== null;
}

function lineOf(publishes: boolean, version: number | null): string {
  if (publishes) return 'The app went live, and its drafts were published as version 1.';
  if (version !== null) return `The app went live with version ${version}.`;
  return 'The app went live. Nothing was published: people get the default appearance and assistant until a person publishes.';
}

/** From now on live keys are served. Idempotent: the first time stays. @throws Refusal not_found. */
function goLive(db: Connection, input: GoLiveInput): WentLive {
  const { appId, organisationId, nowMs, trace } = input;
  const app = requireAppRecord(db, appId, organisationId);
  if (app.live) return { wentLive: false, version: app.publishedVersion };
  const publishes = publishesDrafts(db, appId, app.settings.publishOnGoLive);
  const version = publishes ? publishDrafts(db, { appId, nowMs }).version : app.publishedVersion;
  const update = 'UPDATE apps SET live = 1, live_at_ms = :nowMs, revision = revision + 1, updated_at_ms = :nowMs WHERE id = :appId';
  db.statement(update).run({ appId, nowMs });
  if (input.mails !== undefined) planMemberMails(db, { ...input.mails, nowMs });
  if (trace != null) insertTrace(db, { appId, machine: 'app-lifecycle', instance: appId, nowMs }, trace);
  const session = readLatestSession(db, appId);
  const line = { step: 'done', status: 'progress', title: lineOf(publishes, version), detail: null, data: null, origin: 'server' } as const;
  if (session !== undefined) addServerEvent(db, session.id, line, nowMs);
  return { wentLive: true, version };
}

function commitSessionAndGoLive(db: Connection, input: CommitSessionInput & { readonly goLive: GoLiveInput }): number[] | null {
  const ids = commitSetupSession(db, input);
  if (ids !== null) goLive(db, input.goLive);
  return ids;
}

export const transactions = { goLive, commitSessionAndGoLive };
