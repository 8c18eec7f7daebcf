/** Smoke runs of an app (SMOKE-5). Saving one deletes its conversations: no transcript shows what no person wrote. */
import type { ErrorCode } from '../../protocol/errors.ts';
import { requireAppRow } from '../apps/apps.ts';
import { columns, flag, insert, integer, json, type RowOf, readIds, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';

/** What a question was derived from; `general`: nothing suitable is configured. */
export type QuestionOrigin = 'suggestion' | 'knowledge' | 'action' | 'general';

export interface SmokeAnswer {
  readonly question: string;
  readonly from: QuestionOrigin;
  readonly answer: string;
  readonly grounded: boolean;
  readonly actionBacked: boolean;
  readonly ok: boolean;
  readonly actions: readonly string[];
  readonly error: { readonly code: ErrorCode; readonly message: string } | null;
}

const smokeRun = columns({
  id: text,
  appId: text,
  passed: flag,
  /** Every answer was an error of the service, so the configuration is not to blame. */
  platformFailure: flag,
  answers: json<readonly SmokeAnswer[]>().from('results'),
  createdAtMs: integer,
});

export type SmokeRun = RowOf<typeof smokeRun>;

/** Runs kept of an app: a history, not an archive. */
export const SMOKE_RUNS_KEPT = 20;

/** Devices of clients are hexadecimal (KEY-8), so none has this prefix. */
const DEVICE_PREFIX = 'smoke_';

export function smokeDevice(runId: string): string {
  return DEVICE_PREFIX + runId;
}

export function readLatestSmokeRun(db: Connection, appId: string): SmokeRun | undefined {
  return smokeRun.get(db, 'FROM smoke_runs WHERE app_id = :appId ORDER BY rowid DESC LIMIT 1', { appId });
}

/** Deletes the conversations of runs since the newest saved one: of this run, and of runs that a crash interrupted. */
function forgetConversations(db: Connection, appId: string): void {
  // A run's conversations are newer than every run saved before it, so older ones need not be searched.
  const sinceMs = readLatestSmokeRun(db, appId)?.createdAtMs ?? 0;
  const conversations = `FROM conversations
    WHERE app_id = :appId AND updated_at_ms >= :sinceMs AND channel = 'sandbox' AND device_id GLOB :devices`;
  for (const id of readIds(db, conversations, { appId, sinceMs, devices: `${DEVICE_PREFIX}*` })) {
    db.statement('DELETE FROM conversations WHERE id = :id').run({ id });
  }
}

export const transactions = {
  /** Saves the run and removes the conversations it was held in. @throws Refusal not_found when the app was deleted. */
  saveSmokeRun(db: Connection, { answers: results, ...run }: SmokeRun): void {
    const { appId } = run;
    requireAppRow(db, appId);
    forgetConversations(db, appId);
    insert(db, 'smoke_runs', { ...run, results });
    const remove = `DELETE FROM smoke_runs WHERE app_id = :appId AND id IN
        (SELECT id FROM smoke_runs WHERE app_id = :appId ORDER BY rowid DESC LIMIT -1 OFFSET :kept)`;
    db.statement(remove).run({ appId, kept: SMOKE_RUNS_KEPT });
  },
};
