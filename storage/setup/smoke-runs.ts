/**
 * Smoke runs of an app (SMOKE-5): the judged answers of the newest ones. The conversations of a
 * run are held on devices that no client can have, and leave with the transaction that saves what was judged: nobody
 * said those things, so no transcript shows them.
 */
import type { ErrorCode } from '../../protocol/errors.ts';
import { requireAppRow } from '../apps/apps.ts';
import { columns, flag, integer, json, type RowOf, readIds, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';

/** What a question was made of; `general`: nothing was configured to ask about. */
export type QuestionOrigin = 'suggestion' | 'knowledge' | 'action' | 'general';

export interface SmokeAnswer {
  readonly question: string;
  readonly from: QuestionOrigin;
  /** Words of the answer, '' when there were none. */
  readonly answer: string;
  /** It used what the app knows. */
  readonly grounded: boolean;
  /** It called an action. */
  readonly actionBacked: boolean;
  /** One or the other, and no error. */
  readonly ok: boolean;
  /** Names of the actions it called. */
  readonly actions: readonly string[];
  readonly error: { readonly code: ErrorCode; readonly message: string } | null;
}

const smokeRun = columns({
  id: text,
  appId: text,
  passed: flag,
  /** Every answer was an error on the service's side: nothing of the configuration is to blame. */
  platformFailure: flag,
  answers: json<readonly SmokeAnswer[]>().from('results'),
  /** When it began. */
  createdAtMs: integer,
});

export type SmokeRun = RowOf<typeof smokeRun>;

/** Runs kept of an app: a look back, not an archive. */
export const SMOKE_RUNS_KEPT = 20;

/** Devices of clients are hexadecimal (KEY-8): none of them is called this. */
const DEVICE_PREFIX = 'smoke_';

/** The device that a run speaks from. */
export function smokeDevice(runId: string): string {
  return DEVICE_PREFIX + runId;
}

/** The app's newest run, the one saved last; undefined before the first one. */
export function readLatestSmokeRun(db: Connection, appId: string): SmokeRun | undefined {
  return smokeRun.get(db, 'FROM smoke_runs WHERE app_id = :appId ORDER BY rowid DESC LIMIT 1', { appId });
}

/** Removes what was said in runs since the newest saved one: of this run, and of one that a crash cut off. */
function forgetConversations(db: Connection, appId: string): void {
  // A run's conversations were written after every run that was saved before it: the rest need not be looked through.
  const sinceMs = readLatestSmokeRun(db, appId)?.createdAtMs ?? 0;
  const held = `FROM conversations
    WHERE app_id = :appId AND updated_at_ms >= :sinceMs AND channel = 'sandbox' AND device_id GLOB :devices`;
  for (const id of readIds(db, held, { appId, sinceMs, devices: `${DEVICE_PREFIX}*` })) {
    // Turns refer to messages: gone first, no message has to be looked for in them.
    db.statement('DELETE FROM turns WHERE conversation_id = :id').run({ id });
    db.statement('DELETE FROM conversations WHERE id = :id').run({ id });
  }
}

export const transactions = {
  /** Saves the run and removes the conversations it was held in. @throws Refusal not_found when the app was deleted. */
  saveSmokeRun(db: Connection, run: SmokeRun): void {
    const { id, appId, createdAtMs } = run;
    requireAppRow(db, appId);
    forgetConversations(db, appId);
    db.statement(
      `INSERT INTO smoke_runs (id, app_id, passed, platform_failure, results, created_at_ms)
       VALUES (:id, :appId, :passed, :platformFailure, :results, :createdAtMs)`,
    ).run({
      id,
      appId,
      passed: run.passed ? 1 : 0,
      platformFailure: run.platformFailure ? 1 : 0,
      results: JSON.stringify(run.answers),
      createdAtMs,
    });
    db.statement(
      `DELETE FROM smoke_runs WHERE app_id = :appId AND id IN
         (SELECT id FROM smoke_runs WHERE app_id = :appId ORDER BY rowid DESC LIMIT -1 OFFSET :kept)`,
    ).run({ appId, kept: SMOKE_RUNS_KEPT });
  },
};
