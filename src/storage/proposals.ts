/** Writes of a sync session on a live app that wait for a person (service.md "Session" `writes`, decisions §3). */
import { Refusal } from '../protocol/errors.ts';
import type { Connection, Row } from './connection.ts';

export type ProposalKind = 'appearance' | 'logo' | 'experience' | 'knowledge' | 'actions' | 'screens';
export type ProposalState = 'pending' | 'approved' | 'rejected';

export interface Proposal {
  readonly id: string;
  readonly appId: string;
  readonly sessionId: string;
  readonly kind: ProposalKind;
  /** JSON of the write. */
  readonly payload: string;
  /** Hash of what the write would replace, as it was when it was proposed. */
  readonly base: string;
  readonly summary: string;
  readonly state: ProposalState;
  /** Why it was rejected. */
  readonly reason: string | null;
  readonly createdAtMs: number;
  readonly decidedAtMs: number | null;
}

/** A person reads them one by one; an agent that proposes more has lost its way. */
export const PENDING_PROPOSALS_MAX = 200;
/** A proposal nobody has decided about in a year is found by its app only. */
const LISTED_MS = 365 * 24 * 3_600_000;
/** Decided ones are kept for a look back, the oldest go first. */
const DECIDED_KEPT = 200;

function proposalOf(row: Row): Proposal {
  return {
    id: row.id as string,
    appId: row.app_id as string,
    sessionId: row.session_id as string,
    kind: row.kind as ProposalKind,
    payload: row.payload as string,
    base: row.base as string,
    summary: row.summary as string,
    state: row.state as ProposalState,
    reason: row.reason as string | null,
    createdAtMs: row.created_at_ms as number,
    decidedAtMs: row.decided_at_ms as number | null,
  };
}

export function readProposal(db: Connection, id: string): Proposal | undefined {
  const row = db.statement('SELECT * FROM proposals WHERE id = :id').get({ id });
  return row === undefined ? undefined : proposalOf(row);
}

/** The organisation whose file holds the proposal. */
export function organisationOfProposal(control: Connection, id: string): string | undefined {
  const row = control.statement('SELECT organisation_id FROM proposal_directory WHERE proposal_id = :id').get({ id });
  return row?.organisation_id as string | undefined;
}

/** Up to `limit` proposals of an app after the id `after` ('' for the first ones), oldest first. */
export function listProposals(db: Connection, appId: string, after: string, limit: number): Proposal[] {
  return db
    .statement('SELECT * FROM proposals WHERE app_id = :appId AND id > :after ORDER BY id LIMIT :limit')
    .all({ appId, after, limit })
    .map(proposalOf);
}

export type NewProposal = Pick<Proposal, 'id' | 'appId' | 'sessionId' | 'kind' | 'payload' | 'base' | 'summary'> & {
  readonly nowMs: number;
};

/** The id of the session's proposal that says just this and waits, if there is one. */
export function findWaiting(
  db: Connection,
  proposal: Pick<NewProposal, 'appId' | 'sessionId' | 'kind' | 'payload' | 'base'>,
): string | undefined {
  const { appId, sessionId, kind, payload, base } = proposal;
  const row = db
    .statement(
      `SELECT id FROM proposals WHERE app_id = :appId AND state = 'pending' AND session_id = :sessionId AND kind = :kind
         AND base = :base AND payload = :payload`,
    )
    .get({ appId, sessionId, kind, base, payload });
  return row?.id as string | undefined;
}

export const transactions = {
  /** Notes in `control.sqlite` whose proposal this is; written before the proposal itself. */
  registerProposal(control: Connection, input: { id: string; organisationId: string; nowMs: number }): void {
    control.statement('DELETE FROM proposal_directory WHERE created_at_ms < :oldestMs').run({ oldestMs: input.nowMs - LISTED_MS });
    control
      .statement('INSERT INTO proposal_directory (proposal_id, organisation_id, created_at_ms) VALUES (:id, :organisationId, :nowMs)')
      .run({ ...input });
  },

  /** Answers the proposal's id, which is another one's when that one says the same. @throws Refusal conflict when too many wait. */
  addProposal(db: Connection, input: NewProposal): string {
    const same = findWaiting(db, input);
    if (same !== undefined) return same;
    const row = db.statement(`SELECT count(*) AS n FROM proposals WHERE app_id = :appId AND state = 'pending'`).get({ appId: input.appId });
    if ((row?.n as number) >= PENDING_PROPOSALS_MAX) {
      throw new Refusal('conflict', `${PENDING_PROPOSALS_MAX} proposals of this app wait for a person. Wait until some are decided.`);
    }
    db.statement(
      `DELETE FROM proposals WHERE app_id = :appId AND id IN
         (SELECT id FROM proposals WHERE app_id = :appId AND state <> 'pending' ORDER BY id DESC LIMIT -1 OFFSET :kept)`,
    ).run({ appId: input.appId, kept: DECIDED_KEPT });
    db.statement(
      `INSERT INTO proposals (id, app_id, session_id, kind, payload, base, summary, state, created_at_ms)
       VALUES (:id, :appId, :sessionId, :kind, :payload, :base, :summary, 'pending', :nowMs)`,
    ).run({ ...input });
    return input.id;
  },

  /** Decides a proposal once; false when somebody has decided it already. */
  decideProposal(db: Connection, input: { id: string; state: 'approved' | 'rejected'; reason: string | null; nowMs: number }): boolean {
    return (
      db
        .statement(`UPDATE proposals SET state = :state, reason = :reason, decided_at_ms = :nowMs WHERE id = :id AND state = 'pending'`)
        .run({ ...input }).changes === 1
    );
  },
};
