/**
 * Proposals (decisions §3): a write of a sync session on a live app is checked as any write, kept, and applied when a
 * person approves it and what it would replace is still what it was.
 */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { contrastWarnings } from '../protocol/appearance/contrast.ts';
import { Refusal } from '../protocol/errors.ts';
import { mintId } from '../protocol/ids.ts';
import { type HttpActionShape, judgeHttpAction, type Surroundings } from '../protocol/setup/actions.ts';
import { replaceAppearance } from '../protocol/setup/appearance.ts';
import { judgeKnowledgeItem, type KnowledgeItemShape } from '../protocol/setup/knowledge.ts';
import { requireAppearanceDraft } from '../storage/assets.ts';
import type { Connection } from '../storage/connection.ts';
import { readDraft } from '../storage/drafts.ts';
import { readAction, readActionByKey } from '../storage/http-actions.ts';
import { readSourceByKey } from '../storage/knowledge.ts';
import { findWaiting, type NewProposal, type Proposal, readProposal } from '../storage/proposals.ts';
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

interface Judged<Item> {
  readonly accepted: readonly Item[];
  readonly results: readonly ItemResult[];
}

/** `errorOf` says what is wrong with an item, given those before it that were accepted. */
function judged<Item extends { external_key: string }>(
  items: readonly Item[],
  errorOf: (item: Item, before: readonly Item[]) => string | undefined,
): Judged<Item> {
  const accepted: Item[] = [];
  const results = items.map((item): ItemResult => {
    const { external_key } = item;
    const error = errorOf(item, accepted);
    if (error !== undefined) return { external_key, ok: false, error };
    accepted.push(item);
    return { external_key, ok: true, op: 'proposed' };
  });
  return { accepted, results };
}

function has<Item extends { external_key: string }>(items: readonly Item[], key: string): boolean {
  return items.some(({ external_key }) => external_key === key);
}

function judgedKnowledge(db: Connection, appId: string, items: readonly KnowledgeItemShape[]): Judged<KnowledgeItemShape> {
  return judged(items, (item, before) => {
    const verdict = judgeKnowledgeItem(item);
    if (verdict.form === 'refused') return verdict.error;
    const { external_key: key } = item;
    const isUnknown = verdict.form === 'archive' && readSourceByKey(db, appId, key) === undefined && !has(before, key);
    return isUnknown ? 'external_key names no source of this app' : undefined;
  });
}

function judgedActions(
  db: Connection,
  appId: string,
  items: readonly HttpActionShape[],
  surroundings: Surroundings,
): Judged<HttpActionShape> {
  return judged(items, (item, before) => {
    const verdict = judgeHttpAction(item, surroundings);
    if (verdict.form === 'refused') return verdict.error;
    const { external_key: key } = item;
    if (verdict.form === 'archive') {
      const isUnknown = readActionByKey(db, appId, key) === undefined && !has(before, key);
      return isUnknown ? 'external_key names no action of this app' : undefined;
    }
    const { name } = verdict.item;
    const holder = readAction(db, appId, name)?.externalKey;
    // One that an earlier item changes may have left its name; applying has the last word.
    const taken = before.find((other) => other.name === name)?.external_key ?? (holder !== undefined && has(before, holder) ? key : holder);
    if (taken === undefined || taken === key) return undefined;
    return `name ${name} belongs to the action with external_key ${taken}: names must be unique`;
  });
}

/** `1 item`, `2 items`. */
function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
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
      const { accepted, results } = judgedKnowledge(db, appId, write.items);
      return { write: { ...write, items: accepted }, summary: `${counted(accepted.length, 'knowledge item')}.`, extra: { results } };
    }
    case 'actions': {
      const { accepted, results } = judgedActions(db, appId, write.items, services.surroundings);
      return { write: { ...write, items: accepted }, summary: `${counted(accepted.length, 'HTTP action')}.`, extra: { results } };
    }
    case 'screens': {
      const { screens = [], archive = [] } = write.body;
      return { write, summary: `${counted(screens.length, 'screen')} declared, ${archive.length} archived.`, extra: {} };
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
 * @throws Refusal as applying the write would; conflict when too many proposals wait.
 */
export async function proposeWrite(services: WriteServices, target: IntakeTarget, sessionId: string, asked: SetupWrite): Promise<Written> {
  const { organisationId, appId } = target;
  const db = services.storage.organisation(organisationId);
  const { write, summary, extra } = await draught(services, db, appId, asked);
  if ('items' in write && write.items.length === 0) {
    return { reply: { proposed: false, kind: write.kind, ...extra, note: 'No item could be proposed.' }, line: '', savedNothing: true };
  }
  const proposal = { appId, sessionId, kind: write.kind, payload: JSON.stringify(write), base: baseOf(db, appId, write), summary };
  const id = findWaiting(db, proposal) ?? (await keep(services, organisationId, proposal));
  const reply = { proposed: true, proposal_id: id, kind: write.kind, summary, ...extra, note: NOTE };
  return { reply, line: `Proposed: ${summary}`, savedNothing: false };
}

/** Decisions under way, by app: what one changes the next one has to see. */
const deciding = new Map<string, Promise<unknown>>();

function inTurn<Value>(appId: string, decide: () => Promise<Value>): Promise<Value> {
  const decided = (deciding.get(appId) ?? Promise.resolve()).then(decide);
  const tail = decided
    .catch(() => undefined)
    .then(() => {
      if (deciding.get(appId) === tail) deciding.delete(appId);
    });
  deciding.set(appId, tail);
  return decided;
}

function decidedBefore(): Refusal {
  return new Refusal('conflict', 'This proposal was decided before.');
}

/**
 * Approves a proposal and applies it through the ordinary rules.
 * @throws Refusal conflict when it was decided before or no longer fits (then nothing is applied and it stays pending).
 */
export function approveProposal(services: WriteServices, organisationId: string, { id, appId }: Proposal): Promise<Written> {
  const { storage, nowMs } = services;
  const db = storage.organisation(organisationId);
  return inTurn(appId, async () => {
    const proposal = readProposal(db, id);
    if (proposal?.state !== 'pending') throw decidedBefore();
    const write = JSON.parse(proposal.payload) as SetupWrite;
    if (baseOf(db, appId, write) !== proposal.base) {
      throw new Refusal(
        'conflict',
        'What this proposal would replace has changed since it was made, so it was not applied. Reject it, and let the agent propose it anew.',
      );
    }
    const written = await applyWrite(services, { organisationId, appId, origin: 'proposal' }, write);
    if (written.savedNothing) throw new Refusal('conflict', 'No item of this proposal could be applied any more.');
    // Last, so that what is shown as approved is applied: after a crash in between it waits, and no longer fits.
    await storage.write(organisationId, 'decideProposal', { id, state: 'approved', reason: null, nowMs: nowMs() });
    return written;
  });
}

/** @throws Refusal conflict when it was decided before. */
export function rejectProposal(
  { storage, nowMs }: WriteServices,
  organisationId: string,
  { id, appId }: Proposal,
  reason: string | null,
): Promise<void> {
  return inTurn(appId, async () => {
    const decided = await storage.write(organisationId, 'decideProposal', { id, state: 'rejected', reason, nowMs: nowMs() });
    if (!decided) throw decidedBefore();
  });
}
