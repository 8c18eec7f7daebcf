/**
 * Proposals (decisions §3): a write of a sync session on a live app is checked as any write, kept, and applied when a
 * person approves it and what it would replace is still what it was.
 */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { contrastWarnings } from '../protocol/appearance/contrast.ts';
import { Refusal } from '../protocol/errors.ts';
import { mintId } from '../protocol/ids.ts';
import { judgeHttpAction } from '../protocol/setup/actions.ts';
import { replaceAppearance } from '../protocol/setup/appearance.ts';
import { judgeKnowledgeItem } from '../protocol/setup/knowledge.ts';
import { requireAppearanceDraft } from '../storage/assets.ts';
import type { Connection } from '../storage/connection.ts';
import { readDraft } from '../storage/drafts.ts';
import { readActionByKey } from '../storage/http-actions.ts';
import { readSourceByKey } from '../storage/knowledge.ts';
import type { Proposal } from '../storage/proposals.ts';
import { readScreen } from '../storage/screens.ts';
import type { IntakeTarget } from './knowledge-intake.ts';
import { examineLogoContent } from './logo-intake.ts';
import { applyWrite, requireKnownLogo, type SetupWrite, type WriteServices, type Written } from './setup-writes.ts';

const NOTE = 'Nothing was changed: the app is live, so a person decides about this in the console.';

type ItemResult =
  | { readonly external_key: string; readonly ok: true; readonly op: 'proposed' }
  | { readonly external_key: string; readonly ok: false; readonly error: string };

/** A write as far as it may be proposed, and what is said of it. */
interface Draught {
  readonly write: SetupWrite;
  readonly summary: string;
  readonly extra: Readonly<Record<string, unknown>>;
}

function judged<Item extends { external_key: string }>(
  items: readonly Item[],
  judge: (item: Item) => { form: string; error?: string },
): { accepted: Item[]; results: ItemResult[] } {
  const verdicts = items.map((item) => ({ item, verdict: judge(item) }));
  return {
    accepted: verdicts.flatMap(({ item, verdict }) => (verdict.form === 'refused' ? [] : [item])),
    results: verdicts.map(({ item: { external_key }, verdict }) =>
      verdict.form === 'refused'
        ? { external_key, ok: false, error: verdict.error ?? 'The item is malformed.' }
        : { external_key, ok: true, op: 'proposed' },
    ),
  };
}

/** Checks the write as applying it would. @throws Refusal as applying it would. */
async function draught(services: WriteServices, db: Connection, appId: string, write: SetupWrite): Promise<Draught> {
  switch (write.kind) {
    case 'appearance': {
      requireKnownLogo(db, appId, write.body);
      const draft = replaceAppearance(readDraft(db, appId)?.appearance ?? null, write.body);
      return { write, summary: 'A new appearance.', extra: { warnings: contrastWarnings(draft) } };
    }
    case 'logo':
      requireAppearanceDraft(db, appId);
      await examineLogoContent(write.content);
      return { write, summary: 'A new logo.', extra: {} };
    case 'experience': {
      const fields = Object.keys(write.patch).filter((field) => field !== 'reason');
      return { write, summary: `The assistant's ${fields.join(', ') || 'persona'}.`, extra: {} };
    }
    case 'knowledge': {
      const { accepted, results } = judged(write.items, judgeKnowledgeItem);
      return { write: { ...write, items: accepted }, summary: `${accepted.length} knowledge items.`, extra: { results } };
    }
    case 'actions': {
      const { accepted, results } = judged(write.items, (item) => judgeHttpAction(item, services.surroundings));
      return { write: { ...write, items: accepted }, summary: `${accepted.length} HTTP actions.`, extra: { results } };
    }
    case 'screens': {
      const { screens = [], archive = [] } = write.body;
      return { write, summary: `${screens.length} screens declared, ${archive.length} archived.`, extra: {} };
    }
  }
}

/** Hash of what the write would replace, as it is now. */
function baseOf(db: Connection, appId: string, write: SetupWrite): string {
  const touched = (): unknown => {
    switch (write.kind) {
      case 'appearance':
        return readDraft(db, appId)?.appearance ?? null;
      case 'logo':
        return readDraft(db, appId)?.appearance?.theme.logoAssetId ?? null;
      case 'experience': {
        const draft: Readonly<Record<string, unknown>> = { ...readDraft(db, appId)?.experience };
        return Object.keys(write.patch)
          .filter((field) => field !== 'reason')
          .map((field) => [field, draft[field] ?? null]);
      }
      case 'knowledge':
        return write.items.map(({ external_key }) => {
          const source = readSourceByKey(db, appId, external_key);
          return source === undefined ? null : [source.contentHash, source.archivedAtMs !== null];
        });
      case 'actions':
        return write.items.map(({ external_key }) => {
          const action = readActionByKey(db, appId, external_key);
          return action === undefined ? null : [action.definition, action.archivedAtMs !== null];
        });
      case 'screens': {
        const { screens = [], archive = [] } = write.body;
        return [...screens, ...archive].map(({ name }) => {
          const screen = readScreen(db, appId, name);
          return screen === undefined ? null : [screen.definition, screen.archivedAtMs !== null];
        });
      }
    }
  };
  return createHash('sha256')
    .update(canonicalize(touched()) ?? 'null')
    .digest('hex');
}

/**
 * Keeps the write for a person. Answers the body of the 202, or of the 422 when no item of a batch would be saved.
 * @throws Refusal as applying the write would; conflict when too many proposals wait.
 */
export async function proposeWrite(services: WriteServices, target: IntakeTarget, sessionId: string, asked: SetupWrite): Promise<Written> {
  const { organisationId, appId } = target;
  const db = services.storage.organisation(organisationId);
  const { write, summary, extra } = await draught(services, db, appId, asked);
  if ('items' in write && write.items.length === 0) {
    return { reply: { proposed: false, kind: write.kind, ...extra, note: 'No item could be proposed.' }, line: '', savedNothing: true };
  }
  const nowMs = services.nowMs();
  const id = mintId('pro', nowMs);
  const base = baseOf(db, appId, write);
  const payload = JSON.stringify(write);
  await services.storage.writeControl('registerProposal', { id, organisationId, nowMs });
  await services.storage.write(organisationId, 'addProposal', { id, appId, sessionId, kind: write.kind, payload, base, summary, nowMs });
  const reply = { proposed: true, proposal_id: id, kind: write.kind, summary, ...extra, note: NOTE };
  return { reply, line: `Proposed: ${summary}`, savedNothing: false };
}

/**
 * Approves a proposal and applies it through the ordinary rules.
 * @throws Refusal conflict when it was decided before or no longer fits (then nothing is applied and it stays pending).
 */
export async function approveProposal(services: WriteServices, organisationId: string, proposal: Proposal): Promise<Written> {
  const { id, appId } = proposal;
  const { storage } = services;
  const write = JSON.parse(proposal.payload) as SetupWrite;
  if (proposal.state === 'pending' && baseOf(storage.organisation(organisationId), appId, write) !== proposal.base) {
    throw new Refusal(
      'conflict',
      'What this proposal would replace has changed since it was made, so it was not applied. Reject it, and let the agent propose it anew.',
    );
  }
  // Decided first: of two people who approve at once one applies it. A crash in between leaves it approved; applying is repeatable.
  const decided = await storage.write(organisationId, 'decideProposal', { id, state: 'approved', reason: null, nowMs: services.nowMs() });
  if (!decided) throw new Refusal('conflict', 'This proposal was decided before.');
  try {
    const written = await applyWrite(services, { organisationId, appId, origin: 'proposal' }, write);
    if (written.savedNothing) throw new Refusal('conflict', 'No item of this proposal could be applied any more.', {});
    return written;
  } catch (error) {
    await storage.write(organisationId, 'reopenProposal', { id });
    throw error;
  }
}

/** @throws Refusal conflict when it was decided before. */
export async function rejectProposal(
  { storage, nowMs }: WriteServices,
  organisationId: string,
  id: string,
  reason: string | null,
): Promise<void> {
  const decided = await storage.write(organisationId, 'decideProposal', { id, state: 'rejected', reason, nowMs: nowMs() });
  if (!decided) throw new Refusal('conflict', 'This proposal was decided before.');
}
