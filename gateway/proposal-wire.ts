/** Proposals as they travel, the same to a person in the console and to an agent. */
import type { Proposal as ShownProposal } from '../protocol/console/setup-answers.ts';
import { timestamp } from '../protocol/timestamp.ts';
import { type Proposal, readWrite } from '../storage/setup/proposals.ts';
import type { Connection } from '../storage/sqlite/connection.ts';

/** Without what it would write: that may be megabytes, and a list has many. */
export function proposalToWire(proposal: Proposal): ShownProposal {
  return {
    id: proposal.id,
    app_id: proposal.appId,
    session_id: proposal.sessionId,
    kind: proposal.kind,
    summary: proposal.summary,
    bytes: proposal.bytes,
    // To a person it is undecided until it is approved; approving one that a crash cut off finishes it.
    status: proposal.state === 'applying' ? 'pending' : proposal.state,
    reason: proposal.reason,
    replaced_by: proposal.replacedBy,
    created_at: timestamp(proposal.createdAtMs),
    decided_at: timestamp(proposal.decidedAtMs),
  };
}

/** Bytes of an image: it is looked at, not read. */
const imageToWire = (content: string) => ({ bytes: Buffer.byteLength(content, 'base64') });

/** With what it would write; undefined when it was forgotten meanwhile. */
export function wholeProposalToWire(db: Connection, proposal: Proposal) {
  const write = readWrite(db, proposal.id);
  if (write === undefined) return undefined;
  const { kind: _, ...shown } = write;
  if (write.kind === 'logo') return { ...proposalToWire(proposal), write: imageToWire(write.content) };
  if (write.kind === 'appearance' && write.logo !== undefined) {
    return { ...proposalToWire(proposal), write: { body: write.body, logo: imageToWire(write.logo) } };
  }
  return { ...proposalToWire(proposal), write: shown };
}
