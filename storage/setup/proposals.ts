/** Writes of a sync session on a live app that wait for a person (PROPOSAL-1). */
import { Refusal } from '../../protocol/errors.ts';
import type { SetupWrite, WriteKind } from '../../protocol/setup/writes.ts';
import { columns, countRows, insert, integer, json, orNull, type RowOf, readIds, readValue, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';

/**
 * `applying`: approved, and its write is under way, or was when the service stopped. `replaced`: its session proposed something newer
 * about the same subject, or withdrew it.
 */
export type ProposalState = (typeof PROPOSAL_STATES)[number];
const PROPOSAL_STATES = ['pending', 'applying', 'approved', 'rejected', 'replaced'] as const;

const proposal = columns({
  id: text,
  appId: text,
  sessionId: text,
  kind: text.as<WriteKind>(),
  bytes: integer.from('payload_bytes'),
  base: text,
  summary: text,
  state: text.as<ProposalState>(),
  reason: orNull(text),
  replacedBy: orNull(text),
  createdAtMs: integer,
  decidedAtMs: orNull(integer),
});

export type Proposal = RowOf<typeof proposal>;

/** A person reads them one by one; an agent that proposes more has lost its way. */
const PENDING_PROPOSALS_MAX = 200;
/** Total bytes of an app's waiting writes: a dozen logos at their largest, or some thousand articles. */
export const PENDING_BYTES_MAX = 32 * 1024 * 1024;
/** A proposal still undecided after a year is found only through its app. */
const LISTED_MS = 365 * 24 * 3_600_000;
/** Decided proposals are kept as history; the oldest are deleted first. */
const DECIDED_KEPT = 200;
/** A separate bound for replaced ones, so that an agent that often corrects itself evicts no verdict. */
const REPLACED_KEPT = 50;

export function readProposal(db: Connection, id: string): Proposal | undefined {
  return proposal.get(db, 'FROM proposals WHERE id = :id', { id });
}

export function readWrite(db: Connection, id: string): SetupWrite | undefined {
  return readValue(db, json<SetupWrite>(), 'SELECT payload FROM proposals WHERE id = :id', { id });
}

export function organisationOfProposal(control: Connection, id: string): string | undefined {
  return readValue(control, text, 'SELECT organisation_id FROM proposal_directory WHERE proposal_id = :id', { id });
}

/** Up to `limit` proposals of an app after the id `after` ('' for the first ones), oldest first. */
export function listProposals(
  db: Connection,
  appId: string,
  after: string,
  limit: number,
  states: readonly ProposalState[] = PROPOSAL_STATES,
): Proposal[] {
  const from =
    'FROM proposals WHERE app_id = :appId AND id > :after AND state IN (SELECT value FROM json_each(:states)) ORDER BY id LIMIT :limit';
  return proposal.all(db, from, { appId, after, limit, states: JSON.stringify(states) });
}

export function listWaitingProposals(db: Connection, appId: string): Proposal[] {
  return proposal.all(db, 'FROM proposals WHERE app_id = :appId AND decided_at_ms IS NULL ORDER BY id', { appId });
}

export function listVerdicts(db: Connection, appId: string, limit: number): Proposal[] {
  const from = `FROM proposals WHERE app_id = :appId AND state IN ('approved', 'rejected') ORDER BY decided_at_ms DESC, id DESC LIMIT :limit`;
  return proposal.all(db, from, { appId, limit });
}

export type NewProposal = Pick<Proposal, 'id' | 'appId' | 'sessionId' | 'kind' | 'base' | 'summary'> & {
  readonly payload: string;
  /** Hash of the write without its reasons, which identifies equal proposals. */
  readonly payloadHash: string;
  readonly subjects: readonly string[];
  readonly replaces: readonly string[];
  readonly nowMs: number;
};

type SameWrite = Pick<NewProposal, 'appId' | 'kind' | 'payloadHash'>;

/** Waiting proposals of the app with the same write, from any session, including those whose base has changed since. */
export function findSame(db: Connection, { appId, kind, payloadHash }: SameWrite): Proposal[] {
  const from =
    'FROM proposals WHERE app_id = :appId AND decided_at_ms IS NULL AND kind = :kind AND payload_hash = :payloadHash ORDER BY id';
  return proposal.all(db, from, { appId, kind, payloadHash });
}

export function findRejected(db: Connection, { appId, kind, payloadHash }: SameWrite): Proposal | undefined {
  const from = `FROM proposals WHERE app_id = :appId AND state = 'rejected' AND kind = :kind AND payload_hash = :payloadHash
    ORDER BY decided_at_ms DESC, id DESC LIMIT 1`;
  return proposal.get(db, from, { appId, kind, payloadHash });
}

interface Sought {
  readonly appId: string;
  readonly kinds: readonly string[];
  readonly subjects: readonly string[];
}

function findAbout(db: Connection, which: string, { appId, kinds, subjects, ...of }: Sought & { readonly sessionId?: string }): string[] {
  const from = `FROM proposals p WHERE p.app_id = :appId AND ${which} AND p.kind IN (SELECT value FROM json_each(:kinds))
    AND EXISTS (SELECT 1 FROM json_each(p.subjects) WHERE value IN (SELECT value FROM json_each(:subjects))) ORDER BY p.id`;
  return readIds(db, from, { appId, kinds: JSON.stringify(kinds), subjects: JSON.stringify(subjects), ...of });
}

/** Ids of the session's waiting proposals of these kinds that are about any of these subjects, oldest first. */
export function findRivals(db: Connection, sought: Sought & { readonly sessionId: string }): string[] {
  return findAbout(db, `p.state = 'pending' AND p.session_id = :sessionId`, sought);
}

/** The same of the app's undecided proposals, from any session. */
export function findOverlapping(db: Connection, sought: Sought): string[] {
  return findAbout(db, 'p.decided_at_ms IS NULL', sought);
}

export function countWaitingProposals(db: Connection, appId: string): number {
  return countRows(db, `FROM proposals WHERE app_id = :appId AND state IN ('pending', 'applying')`, { appId });
}

/** pending → replaced; those that were decided meanwhile stay as they are. */
function replace(db: Connection, ids: readonly string[], by: string | null, nowMs: number): void {
  const update = `UPDATE proposals SET state = 'replaced', replaced_by = :by, decided_at_ms = :nowMs
    WHERE state = 'pending' AND id IN (SELECT value FROM json_each(:ids))`;
  db.statement(update).run({ ids: JSON.stringify(ids), by, nowMs });
}

function forgetOldest(db: Connection, appId: string): void {
  const forget = db.statement(
    `DELETE FROM proposals WHERE app_id = :appId AND id IN
       (SELECT id FROM proposals WHERE app_id = :appId AND decided_at_ms IS NOT NULL AND (state = 'replaced') = :replaced
        ORDER BY decided_at_ms DESC, id DESC LIMIT -1 OFFSET :kept)`,
  );
  forget.run({ appId, replaced: 0, kept: DECIDED_KEPT });
  forget.run({ appId, replaced: 1, kept: REPLACED_KEPT });
}

const waitingTogether = columns({ proposals: integer.from('count(*)'), bytes: integer.from('coalesce(sum(payload_bytes), 0)') });

function refuseWithoutRoom(db: Connection, appId: string, bytes: number): void {
  const waiting = waitingTogether.get(db, 'FROM proposals WHERE app_id = :appId AND decided_at_ms IS NULL', { appId });
  if (waiting === undefined) return;
  if (waiting.proposals >= PENDING_PROPOSALS_MAX) {
    throw new Refusal('conflict', `${PENDING_PROPOSALS_MAX} proposals of this app wait for a person. Wait until some are decided.`);
  }
  if (waiting.bytes + bytes > PENDING_BYTES_MAX) {
    const most = `${PENDING_BYTES_MAX / (1024 * 1024)} MB`;
    throw new Refusal('conflict', `Proposals of this app that wait for a person may hold ${most}. Wait until some are decided.`);
  }
}

export const transactions = {
  /** Notes in `control.sqlite` whose proposal this is; written before the proposal itself. */
  registerProposal(control: Connection, { id, organisationId, nowMs }: { id: string; organisationId: string; nowMs: number }): void {
    control.statement('DELETE FROM proposal_directory WHERE created_at_ms < :oldestMs').run({ oldestMs: nowMs - LISTED_MS });
    insert(control, 'proposal_directory', { proposalId: id, organisationId, createdAtMs: nowMs });
  },

  /** Adds the proposal and replaces those in `replaces`. @throws Refusal conflict when too many wait. */
  addProposal(db: Connection, { replaces, nowMs, ...input }: NewProposal): string {
    const payloadBytes = Buffer.byteLength(input.payload);
    replace(db, replaces, input.id, nowMs);
    refuseWithoutRoom(db, input.appId, payloadBytes);
    forgetOldest(db, input.appId);
    insert(db, 'proposals', { ...input, state: 'pending', createdAtMs: nowMs, payloadBytes });
    return input.id;
  },

  replaceProposals(db: Connection, input: { ids: readonly string[]; by: string | null; nowMs: number }): void {
    replace(db, input.ids, input.by, input.nowMs);
  },

  beginApplying(db: Connection, input: { id: string }): boolean {
    return db.statement(`UPDATE proposals SET state = 'applying' WHERE id = :id AND state = 'pending'`).run({ ...input }).changes === 1;
  },

  /** applying → pending: the write was refused, and a person decides again. */
  leaveApplying(db: Connection, input: { id: string }): void {
    db.statement(`UPDATE proposals SET state = 'pending' WHERE id = :id AND state = 'applying'`).run({ ...input });
  },

  /** pending → rejected, applying → approved; false in any other state. */
  decideProposal(db: Connection, input: { id: string; state: 'approved' | 'rejected'; reason: string | null; nowMs: number }): boolean {
    const update = 'UPDATE proposals SET state = :state, reason = :reason, decided_at_ms = :nowMs WHERE id = :id AND state = :from';
    return db.statement(update).run({ ...input, from: input.state === 'approved' ? 'applying' : 'pending' }).changes === 1;
  },
};
