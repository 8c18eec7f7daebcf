/**
 * Proposals (decisions §3): a write of a sync session on a live app is checked as any write, kept, and applied when a
 * person approves it and what it would replace is still what it was.
 */
import { Refusal } from '../protocol/errors.ts';
import { mintId } from '../protocol/ids.ts';
import type { SetupWrite } from '../protocol/setup/writes.ts';
import type { Connection } from '../storage/connection.ts';
import { findWaiting, type NewProposal, type Proposal, readProposal, readWrite } from '../storage/proposals.ts';
import type { IntakeTarget } from './intake-target.ts';
import { listed } from './phrases.ts';
import { baseOf, checkWrite, refusedItems } from './proposal-checks.ts';
import { carryOut, type Report, type WriteServices, type Written } from './setup-writes.ts';
import { inTurn } from './write-turns.ts';

const NOTE = 'Nothing was changed: the app is live, so a person decides about this in the console.';

async function keep(
  { storage, nowMs }: WriteServices,
  organisationId: string,
  proposal: Omit<NewProposal, 'id' | 'nowMs'>,
): Promise<string> {
  const now = nowMs();
  const id = mintId('pro', now);
  await storage.writeControl('registerProposal', { id, organisationId, nowMs: now });
  return storage.write(organisationId, 'addProposal', { ...proposal, id, nowMs: now });
}

/**
 * Keeps the write for a person; the same one sent again while it waits is not kept twice. Answers the body of the 202, or of the 422 when no item of a batch would be saved.
 * @throws Refusal as applying the write would; conflict when too many proposals, or too large ones, wait.
 */
export async function proposeWrite(services: WriteServices, target: IntakeTarget, sessionId: string, asked: SetupWrite): Promise<Written> {
  const { organisationId, appId } = target;
  const db = services.storage.organisation(organisationId);
  const { write, summary, extra } = await checkWrite(services, target, asked);
  if ('items' in write && write.items.length === 0) {
    return { reply: { proposed: false, kind: write.kind, ...extra, note: 'No item could be proposed.' }, line: '', savedNothing: true };
  }
  const proposal = { appId, sessionId, kind: write.kind, payload: JSON.stringify(write), base: baseOf(db, appId, write), summary };
  const id = findWaiting(db, proposal) ?? (await keep(services, organisationId, proposal));
  const reply = { proposed: true, proposal_id: id, kind: write.kind, summary, ...extra, note: NOTE };
  return { reply, line: `Proposed: ${summary}`, savedNothing: false };
}

function decidedBefore(): Refusal {
  return new Refusal('conflict', 'This proposal was decided before.');
}

/** @throws Refusal conflict when what the proposal would replace, or what surrounds it, has changed. */
function refuseUnfit(services: WriteServices, db: Connection, { appId, base, state }: Proposal, write: SetupWrite): void {
  // What a crash cut off has replaced a part of it itself; what it wrote then it may write again.
  if (state === 'pending' && baseOf(db, appId, write) !== base) {
    throw new Refusal(
      'conflict',
      'What this proposal would replace has changed since it was made, so it was not applied. Reject it, and let the agent propose it anew.',
    );
  }
  const refused = refusedItems(services, db, appId, write);
  if (refused.length === 0) return;
  const reasons = refused.map(({ external_key, error }) => `${external_key}: ${error}`);
  const applied = state === 'pending' ? 'so nothing of it was applied' : 'and a part of it was applied before the service stopped';
  throw new Refusal('conflict', `This proposal no longer fits, ${applied}. ${listed(reasons)}.`);
}

/** Writes what the proposal says; refused, it waits for a person again. @throws Refusal of the write's own rules. */
async function applyProposal(services: WriteServices, target: IntakeTarget, proposal: Proposal, write: SetupWrite): Promise<Report> {
  const { storage } = services;
  const { organisationId } = target;
  try {
    refuseUnfit(services, storage.organisation(organisationId), proposal, write);
    // Before anything is written, so that after a crash it is known that a part of it may be.
    await storage.write(organisationId, 'beginApplying', { id: proposal.id });
    return await carryOut(services, target, write);
  } catch (error) {
    // After another error nobody knows what was written, and what a crash cut off may only have come at a busy moment:
    // then it goes on being applied.
    const isOver = error instanceof Refusal && (proposal.state === 'pending' || error.code !== 'rate_limited');
    if (isOver) await storage.write(organisationId, 'leaveApplying', { id: proposal.id });
    throw error;
  }
}

/**
 * Approves a proposal and applies it through the ordinary rules; one whose approval a crash cut off is applied to its end.
 * @throws Refusal conflict when it was decided before or no longer fits (then nothing is applied and it stays pending);
 * rate_limited when too much waits.
 */
export async function approveProposal(services: WriteServices, organisationId: string, { id, appId }: Proposal): Promise<Written> {
  const { storage, nowMs } = services;
  const db = storage.organisation(organisationId);
  const work = async () => {
    const proposal = readProposal(db, id);
    const payload = readWrite(db, id);
    if (proposal === undefined || payload === undefined || proposal.decidedAtMs !== null) throw decidedBefore();
    const target = { organisationId, appId, origin: 'proposal' } as const;
    const applied = await applyProposal(services, target, proposal, JSON.parse(payload) as SetupWrite);
    await storage.write(organisationId, 'decideProposal', { id, state: 'approved', reason: null, nowMs: nowMs() });
    return applied;
  };
  const report = await inTurn(appId, work, services.leases?.turn(organisationId, appId));
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
    if (readProposal(storage.organisation(organisationId), id)?.state !== 'applying') throw decidedBefore();
    throw new Refusal('conflict', 'The approval of this proposal was cut off, and a part of it may be applied. Approve it again.');
  };
  return inTurn(appId, work, leases?.turn(organisationId, appId));
}
