/** Proposals (PROPOSAL-1): a write on a live app waits for a person, and for what it would replace to be still the same. */
import canonicalize from 'canonicalize';
import { contrastWarnings } from '../../protocol/appearance/contrast.ts';
import { Refusal } from '../../protocol/errors.ts';
import { mintId } from '../../protocol/ids.ts';
import { replaceAppearance } from '../../protocol/setup/appearance.ts';
import type { ScreensBody } from '../../protocol/setup/screens.ts';
import type { SetupWrite } from '../../protocol/setup/writes.ts';
import { readDraft } from '../../storage/apps/drafts.ts';
import { readScreen } from '../../storage/apps/screens.ts';
import {
  findRejected,
  findRivals,
  findSame,
  type NewProposal,
  type Proposal,
  readProposal,
  readWrite,
} from '../../storage/setup/proposals.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { baseOf, type CheckedWrite, checkWrite, hashOf, rehearse } from './checks.ts';
import { examineLogoContent } from './logo.ts';
import { changesOf } from './proposal-changes.ts';
import { kindsLike, mergeWrites, subjectsOf } from './proposal-merge.ts';
import { listed } from './text-format.ts';
import { inWriteOrder, type WriteTarget } from './write-queue.ts';
import { carryOut, type Report, type WriteServices, type Written } from './writes.ts';

const NOTE = 'Nothing was changed: the app is live, so a person decides about this in the console.';
const UNCHANGED_NOTE = 'Nothing was proposed: this is what the app has already.';

export interface ProposedWrite extends Written {
  /** 202 proposed, 200 it would change nothing, 422 no item could be proposed. */
  readonly status: 202 | 200 | 422;
}

/** The most that waiting writes may hold which a newer one replaces: the largest logo with its theme, or two full batches of knowledge. */
const MERGED_BYTES_MAX = 5 * 1024 * 1024;

function withoutReason<Value extends object>(value: Value): Value {
  return { ...value, reason: undefined };
}

/** A hash of the write without its reasons: two writes with the same hash ask a person the same question. */
function questionHash(write: SetupWrite): string {
  if ('items' in write) return hashOf({ ...write, items: write.items.map(withoutReason) });
  if ('patch' in write) return hashOf({ ...write, patch: withoutReason(write.patch) });
  if (write.kind === 'appearance') return hashOf({ ...write, body: withoutReason(write.body) });
  if (write.kind === 'logo') return hashOf(write);
  return hashOf({ ...write, body: { ...write.body, archive: (write.body.archive ?? []).map(withoutReason) } });
}

/** Waiting proposals of the session that are about the same subjects as `asked`, with their writes. */
function rivalsOf(db: Connection, appId: string, sessionId: string, asked: SetupWrite): { id: string; write: SetupWrite }[] {
  const ids = findRivals(db, { appId, sessionId, kinds: kindsLike(asked.kind), subjects: subjectsOf(asked) });
  const bytes = ids.reduce((sum, id) => sum + (readProposal(db, id)?.bytes ?? 0), 0);
  if (bytes > MERGED_BYTES_MAX) {
    throw new Refusal(
      'conflict',
      'What this session has proposed about these is too large to be put together with this. Wait until it is decided.',
    );
  }
  return ids.flatMap((id) => {
    const write = readWrite(db, id);
    return write === undefined ? [] : [{ id, write }];
  });
}

async function keep(services: WriteServices, organisationId: string, proposal: Omit<NewProposal, 'id' | 'nowMs'>): Promise<string> {
  const { storage, nowMs } = services;
  const now = nowMs();
  const id = mintId('pro', now);
  await storage.writeControl('registerProposal', { id, organisationId, nowMs: now });
  return storage.write(organisationId, 'addProposal', { ...proposal, id, nowMs: now });
}

/** Keeps `write` in place of its rivals, unless the same proposal waits already. Returns the id of the kept one and its summary. */
async function keepOnce(
  services: WriteServices,
  { organisationId, appId }: WriteTarget,
  sessionId: string,
  { write, summary, rivals }: { write: SetupWrite; summary: string; rivals: readonly string[] },
): Promise<{ id: string; summary: string }> {
  const db = services.storage.organisation(organisationId);
  const payload = canonicalize(write) ?? 'null';
  const base = baseOf(db, appId, write);
  const proposal = {
    appId,
    sessionId,
    kind: write.kind,
    payload,
    base,
    summary,
    payloadHash: questionHash(write),
    subjects: subjectsOf(write),
  };
  const same = findSame(db, proposal);
  // The session's own proposal with another reason is replaced. One that is being applied has changed part of its base itself.
  const gives = ({ id }: Proposal) => !rivals.includes(id) || canonicalize(readWrite(db, id)) === payload;
  const waiting = same.find((one) => one.state === 'applying' || (one.base === base && gives(one)));
  if (waiting === undefined) {
    // The same proposal on an outdated base can only be rejected.
    const outdated = same.filter((one) => one.base !== base).map(({ id }) => id);
    return { id: await keep(services, organisationId, { ...proposal, replaces: [...new Set([...rivals, ...outdated])] }), summary };
  }
  const others = rivals.filter((id) => id !== waiting.id);
  if (others.length > 0) {
    await services.storage.write(organisationId, 'replaceProposals', { ids: others, by: waiting.id, nowMs: services.nowMs() });
  }
  return { id: waiting.id, summary: waiting.summary };
}

/** Names to be archived that the app has not declared, as applying says them. */
function unknownScreens(db: Connection, appId: string, { archive = [] }: ScreensBody): string[] {
  return archive.map(({ name }) => name).filter((name) => readScreen(db, appId, name) === undefined);
}

function resultsOf({ results }: CheckedWrite, kept: SetupWrite | null): Readonly<Record<string, unknown>> {
  if (results === undefined) return {};
  const proposed = new Set(kept === null ? [] : subjectsOf(kept));
  return { results: results.map((one) => (one.ok && !proposed.has(one.external_key) ? { ...one, op: 'unchanged' } : one)) };
}

async function propose(
  services: WriteServices,
  target: WriteTarget,
  sessionId: string,
  asked: SetupWrite,
  logoHash: string | null,
): Promise<ProposedWrite> {
  const { organisationId, appId } = target;
  const db = services.storage.organisation(organisationId);
  const rivals = rivalsOf(db, appId, sessionId, asked);
  // Merged in their order. What would be refused by now is left out, and so is what changes nothing.
  const merged = [...rivals.map(({ write }) => write), asked].reduce(mergeWrites);
  const waiting = rivals.flatMap(({ write }) => subjectsOf(write));
  const checked = await checkWrite(services, target, { asked, merged, waiting });
  if (checked.results?.every(({ ok }) => !ok) === true) {
    const reply = { proposed: false, kind: asked.kind, results: checked.results, note: 'No item could be proposed.' };
    return { reply, line: '', savedNothing: true, status: 422 };
  }
  const before = readDraft(db, appId)?.appearance ?? null;
  const extra = {
    ...(asked.kind === 'appearance' && { warnings: contrastWarnings(replaceAppearance(before, asked.body)) }),
    ...(asked.kind === 'screens' && { unknown: unknownScreens(db, appId, asked.body) }),
    ...(asked.kind === 'actions' && { needs_key: checked.results?.flatMap(({ ok, name, needs_key }) => (ok && needs_key ? [name] : [])) }),
  };
  const { write, summary } = await changesOf({ db, appId }, checked, logoHash);
  const ids = rivals.map(({ id }) => id);
  if (write === null) {
    if (ids.length > 0) await services.storage.write(organisationId, 'replaceProposals', { ids, by: null, nowMs: services.nowMs() });
    const reply = { proposed: false, unchanged: true, kind: asked.kind, ...resultsOf(checked, null), ...extra, note: UNCHANGED_NOTE };
    return { reply, line: UNCHANGED_NOTE, savedNothing: false, status: 200 };
  }
  const kept = await keepOnce(services, target, sessionId, { write, summary, rivals: ids });
  const rejected = findRejected(db, { appId, kind: write.kind, payloadHash: questionHash(write) });
  const replaced = ids.filter((id) => id !== kept.id);
  const reply = {
    ...{ proposed: true, proposal_id: kept.id, kind: write.kind, summary: kept.summary },
    ...resultsOf(checked, write),
    ...extra,
    ...(replaced.length > 0 && { replaces: replaced }),
    ...(rejected !== undefined && { rejected_before: { id: rejected.id, reason: rejected.reason } }),
    note: NOTE,
  };
  return { reply, line: `Proposed: ${kept.summary}`, savedNothing: false, status: 202 };
}

/** Keeps the write (PROPOSAL-6 to PROPOSAL-8). @throws Refusal as applying would; conflict when too much waits; rate_limited. */
export async function proposeWrite(
  services: WriteServices,
  target: WriteTarget,
  sessionId: string,
  asked: SetupWrite,
): Promise<ProposedWrite> {
  const { organisationId, appId } = target;
  const logoHash = asked.kind === 'logo' ? await examineLogoContent(asked.content, organisationId) : null;
  const lease = services.leases.forWrites(organisationId, appId);
  return inWriteOrder(appId, () => propose(services, target, sessionId, asked, logoHash), lease);
}

function decidedBefore(proposal: Proposal | undefined): Refusal {
  if (proposal?.state !== 'replaced') return new Refusal('conflict', 'This proposal was decided before.');
  const { replacedBy } = proposal;
  const what = replacedBy === null ? 'taken back by its session' : `replaced by ${replacedBy}: decide about that one`;
  return new Refusal('conflict', `This proposal was ${what}.`);
}

/** @throws Refusal conflict when what the proposal would replace, or what surrounds it, has changed. */
async function refuseUnfit(services: WriteServices, target: WriteTarget, { base, state }: Proposal, write: SetupWrite): Promise<void> {
  const db = services.storage.organisation(target.organisationId);
  // An approval that a crash cut off has changed part of the base itself, and may write the same again.
  if (state === 'pending' && baseOf(db, target.appId, write) !== base) {
    throw new Refusal(
      'conflict',
      'What this proposal would replace has changed since it was made, so it was not applied. Reject it, and let the agent propose it anew.',
    );
  }
  // Only batches can be applied in part.
  if (!('items' in write)) return;
  const rehearsed = await rehearse(services, target, write);
  const reasons = write.items.flatMap(({ external_key }, at) => {
    const outcome = rehearsed[at];
    return outcome instanceof Refusal ? [`${external_key}: ${outcome.message}`] : [];
  });
  if (reasons.length === 0) return;
  const applied = state === 'pending' ? 'so nothing of it was applied' : 'and a part of it was applied before the service stopped';
  throw new Refusal('conflict', `This proposal no longer fits, ${applied}. ${listed(reasons)}.`);
}

/** Writes what the proposal says. If that is refused, the proposal waits for a person again. @throws Refusal of the write's own rules. */
async function applyProposal(services: WriteServices, target: WriteTarget, proposal: Proposal, write: SetupWrite): Promise<Report> {
  const { storage } = services;
  const { organisationId } = target;
  try {
    await refuseUnfit(services, target, proposal, write);
    // Before anything is written: after a crash the state tells that part of it may have been.
    await storage.write(organisationId, 'beginApplying', { id: proposal.id });
    return await carryOut(services, target, write);
  } catch (error) {
    // After another error it is not known what was written, and an approval that a crash cut off may have met a busy moment:
    // then the proposal stays `applying`.
    const isOver = error instanceof Refusal && (proposal.state === 'pending' || error.code !== 'rate_limited');
    if (isOver) await storage.write(organisationId, 'leaveApplying', { id: proposal.id });
    throw error;
  }
}

/** An approval that a crash cut off is completed. @throws Refusal conflict when it was decided before or no longer fits; rate_limited. */
export async function approveProposal(services: WriteServices, organisationId: string, { id, appId }: Proposal): Promise<Written> {
  const { storage, nowMs } = services;
  const db = storage.organisation(organisationId);
  const work = async () => {
    const proposal = readProposal(db, id);
    const write = readWrite(db, id);
    if (proposal === undefined || write === undefined || proposal.decidedAtMs !== null) throw decidedBefore(proposal);
    const target = { organisationId, appId, origin: 'proposal' } as const;
    const applied = await applyProposal(services, target, proposal, write);
    await storage.write(organisationId, 'decideProposal', { id, state: 'approved', reason: null, nowMs: nowMs() });
    return applied;
  };
  const report = await inWriteOrder(appId, work, services.leases.forWrites(organisationId, appId));
  return report();
}

/** @throws Refusal conflict when it was decided before or its approval has begun; rate_limited when too much waits. */
export function rejectProposal(
  { storage, nowMs, leases }: WriteServices,
  organisationId: string,
  { id, appId }: Proposal,
  reason: string | null,
): Promise<void> {
  const work = async () => {
    const decided = await storage.write(organisationId, 'decideProposal', { id, state: 'rejected', reason, nowMs: nowMs() });
    if (decided) return;
    const now = readProposal(storage.organisation(organisationId), id);
    if (now?.state !== 'applying') throw decidedBefore(now);
    throw new Refusal('conflict', 'The approval of this proposal was cut off, and a part of it may be applied. Approve it again.');
  };
  return inWriteOrder(appId, work, leases.forWrites(organisationId, appId));
}
