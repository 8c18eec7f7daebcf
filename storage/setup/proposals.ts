/** Writes of a sync session on a live app that wait for a person (PROPOSAL-1). */
import { Refusal } from '../../protocol/errors.ts';
import type { SetupWrite, WriteKind } from '../../protocol/setup/writes.ts';
import { columns, countRows, integer, json, orNull, type RowOf, readIds, text } from '../sqlite/columns.ts';
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
  /** Bytes of the write's JSON. */
  bytes: integer.from('payload_bytes'),
  /** Hash of what the write would replace, as it was when it was proposed. */
  base: text,
  summary: text,
  state: text.as<ProposalState>(),
  /** Why it was rejected. */
  reason: orNull(text),
  /** The proposal that took its place; null: none did. */
  replacedBy: orNull(text),
  createdAtMs: integer,
  decidedAtMs: orNull(integer),
});

/** A proposal without what it would write: see readWrite. */
export type Proposal = RowOf<typeof proposal>;

/** A person reads them one by one; an agent that proposes more has lost its way. */
export const PENDING_PROPOSALS_MAX = 200;
/** Total bytes of an app's waiting writes: a dozen logos at their largest, or some thousand articles. */
export const PENDING_BYTES_MAX = 32 * 1024 * 1024;
/** A proposal still undecided after a year is found only through its app. */
const LISTED_MS = 365 * 24 * 3_600_000;
/** Decided proposals are kept as history; the oldest are deleted first. */
const DECIDED_KEPT = 200;
/** A separate bound for replaced ones, so that an agent that often corrects itself evicts no verdict. */
const REPLACED_KEPT = 50;

const proposedWrite = columns({ payload: json<SetupWrite>() });
const directoryEntry = columns({ organisationId: text });

/** The proposal, decided or not; undefined when this file has none of this id. */
export function readProposal(db: Connection, id: string): Proposal | undefined {
  return proposal.get(db, 'FROM proposals WHERE id = :id', { id });
}

/** What the proposal would write; undefined as readProposal. */
export function readWrite(db: Connection, id: string): SetupWrite | undefined {
  return proposedWrite.get(db, 'FROM proposals WHERE id = :id', { id })?.payload;
}

/** The organisation whose file holds the proposal. */
export function organisationOfProposal(control: Connection, id: string): string | undefined {
  return directoryEntry.get(control, 'FROM proposal_directory WHERE proposal_id = :id', { id })?.organisationId;
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

/** Undecided proposals, oldest first: at most PENDING_PROPOSALS_MAX. */
export function listWaitingProposals(db: Connection, appId: string): Proposal[] {
  return proposal.all(db, 'FROM proposals WHERE app_id = :appId AND decided_at_ms IS NULL ORDER BY id', { appId });
}

/** The last `limit` verdicts of people, newest first. */
export function listVerdicts(db: Connection, appId: string, limit: number): Proposal[] {
  const from = `FROM proposals WHERE app_id = :appId AND state IN ('approved', 'rejected') ORDER BY decided_at_ms DESC, id DESC LIMIT :limit`;
  return proposal.all(db, from, { appId, limit });
}

export type NewProposal = Pick<Proposal, 'id' | 'appId' | 'sessionId' | 'kind' | 'base' | 'summary'> & {
  /** JSON of the write. */
  readonly payload: string;
  /** Hash of the write without its reasons, which identifies equal proposals. */
  readonly payloadHash: string;
  /** What the write is about, within its kind. */
  readonly subjects: readonly string[];
  /** Proposals that this one takes the place of. */
  readonly replaces: readonly string[];
  readonly nowMs: number;
};

/** Waiting proposals of the app with the same write, from any session, including those whose base has changed since. */
export function findSame(db: Connection, { appId, kind, payloadHash }: Pick<NewProposal, 'appId' | 'kind' | 'payloadHash'>): Proposal[] {
  const from =
    'FROM proposals WHERE app_id = :appId AND decided_at_ms IS NULL AND kind = :kind AND payload_hash = :payloadHash ORDER BY id';
  return proposal.all(db, from, { appId, kind, payloadHash });
}

/** The last rejected proposal with the same write; undefined: none was. */
export function findRejected(
  db: Connection,
  { appId, kind, payloadHash }: Pick<NewProposal, 'appId' | 'kind' | 'payloadHash'>,
): Proposal | undefined {
  const from = `FROM proposals WHERE app_id = :appId AND state = 'rejected' AND kind = :kind AND payload_hash = :payloadHash
    ORDER BY decided_at_ms DESC, id DESC LIMIT 1`;
  return proposal.get(db, from, { appId, kind, payloadHash });
}

/** Ids of the session's waiting proposals of these kinds that are about any of these subjects, oldest first. */
export function findRivals(
  db: Connection,
  sought: { appId: string; sessionId: string; kinds: readonly string[]; subjects: readonly string[] },
): string[] {
  const from = `FROM proposals p WHERE p.app_id = :appId AND p.state = 'pending' AND p.session_id = :sessionId
      AND p.kind IN (SELECT value FROM json_each(:kinds))
      AND EXISTS (SELECT 1 FROM json_each(p.subjects) WHERE value IN (SELECT value FROM json_each(:subjects)))
    ORDER BY p.id`;
  return readIds(db, from, { ...sought, kinds: JSON.stringify(sought.kinds), subjects: JSON.stringify(sought.subjects) });
}

/** Ids of the app's waiting proposals of these kinds that are about any of these subjects, from any session, oldest first. */
export function findOverlapping(
  db: Connection,
  sought: { appId: string; kinds: readonly string[]; subjects: readonly string[] },
): string[] {
  const from = `FROM proposals p WHERE p.app_id = :appId AND p.decided_at_ms IS NULL
      AND p.kind IN (SELECT value FROM json_each(:kinds))
      AND EXISTS (SELECT 1 FROM json_each(p.subjects) WHERE value IN (SELECT value FROM json_each(:subjects)))
    ORDER BY p.id`;
  return readIds(db, from, { ...sought, kinds: JSON.stringify(sought.kinds), subjects: JSON.stringify(sought.subjects) });
}

/** How many proposals of the app are undecided. */
export function countWaitingProposals(db: Connection, appId: string): number {
  return countRows(db, `FROM proposals WHERE app_id = :appId AND state IN ('pending', 'applying')`, { appId });
}

/** pending → replaced; those that were decided meanwhile stay as they are. */
function replace(db: Connection, ids: readonly string[], by: string | null, nowMs: number): void {
  const update = `UPDATE proposals SET state = 'replaced', replaced_by = :by, decided_at_ms = :nowMs
    WHERE state = 'pending' AND id IN (SELECT value FROM json_each(:ids))`;
  db.statement(update).run({ ids: JSON.stringify(ids), by, nowMs });
}

/** Deletes the oldest decided ones. */
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

/** @throws Refusal conflict when the app has no room for another waiting proposal. */
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
  registerProposal(control: Connection, input: { id: string; organisationId: string; nowMs: number }): void {
    control.statement('DELETE FROM proposal_directory WHERE created_at_ms < :oldestMs').run({ oldestMs: input.nowMs - LISTED_MS });
    control
      .statement('INSERT INTO proposal_directory (proposal_id, organisation_id, created_at_ms) VALUES (:id, :organisationId, :nowMs)')
      .run({ ...input });
  },

  /** Adds the proposal and replaces those in `replaces`. @throws Refusal conflict when too many wait. */
  addProposal(db: Connection, { replaces, subjects, ...input }: NewProposal): string {
    const bytes = Buffer.byteLength(input.payload);
    replace(db, replaces, input.id, input.nowMs);
    refuseWithoutRoom(db, input.appId, bytes);
    forgetOldest(db, input.appId);
    const insert = `INSERT INTO proposals (id, app_id, session_id, kind, base, summary, state, created_at_ms, subjects, payload_hash, payload_bytes, payload)
      VALUES (:id, :appId, :sessionId, :kind, :base, :summary, 'pending', :nowMs, :subjects, :payloadHash, :bytes, :payload)`;
    db.statement(insert).run({ ...input, subjects: JSON.stringify(subjects), bytes });
    return input.id;
  },

  /** Withdraws proposals, or replaces them by an equal one that exists. */
  replaceProposals(db: Connection, input: { ids: readonly string[]; by: string | null; nowMs: number }): void {
    replace(db, input.ids, input.by, input.nowMs);
  },

  /** pending → applying; false when it is not pending any more. */
  beginApplying(db: Connection, input: { id: string }): boolean {
    return db.statement(`UPDATE proposals SET state = 'applying' WHERE id = :id AND state = 'pending'`).run({ ...input }).changes === 1;
  },

  /** applying → pending: the write was refused, and a person decides again. */
  leaveApplying(db: Connection, input: { id: string }): void {
    db.statement(`UPDATE proposals SET state = 'pending' WHERE id = :id AND state = 'applying'`).run({ ...input });
  },

  /** pending → rejected, applying → approved; false in any other state. */
  decideProposal(db: Connection, input: { id: string; state: 'approved' | 'rejected'; reason: string | null; nowMs: number }): boolean {
    const { changes } = db
      .statement('UPDATE proposals SET state = :state, reason = :reason, decided_at_ms = :nowMs WHERE id = :id AND state = :from')
      .run({ ...input, from: input.state === 'approved' ? 'applying' : 'pending' });
    return changes === 1;
  },
};
