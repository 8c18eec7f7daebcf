/** Moves stored knowledge sources through their machine (KNOWLEDGE-3), by compare-and-set: an overtaken step is done again. */
import { type KnowledgeSourceEvent, knowledgeSource } from '../../machines/knowledge-source.ts';
import { stepper } from '../../machines/step.ts';
import { Refusal } from '../../protocol/errors.ts';
import {
  contentHashOf,
  type KnowledgeSource,
  readSource,
  readSourceByKey,
  requireSource,
  type SourceInput,
  type SourceMove,
  type SourcePlace,
  type SourceState,
} from '../../storage/knowledge/knowledge.ts';
import type { Storage } from '../../storage/storage.ts';
import { OVERTAKEN, retried } from '../retried.ts';
import { takenTrace } from '../taken-trace.ts';

export type SourceStorage = Pick<Storage, 'organisation' | 'write'>;

/** Besides this, a few indexers and one writer of the app at a time write the same source. */
const RETRIES = {
  max: 20,
  exhausted: () =>
    new Refusal('rate_limited', 'This source is being changed by others at the same time. Send it again.', { retryAfterS: 1 }),
};

export function placeOf({ state, attempts, archivedAtMs }: KnowledgeSource): SourcePlace {
  return { state: archivedAtMs === null ? state : 'archived', attempts };
}

function moveOf(source: KnowledgeSource, event: KnowledgeSourceEvent, nowMs: number): SourceMove | null {
  const from = placeOf(source);
  const machine = stepper(knowledgeSource, { stored: { state: from.state, context: { attempts: from.attempts } } });
  if (!machine.snapshot.can(event)) return null;
  const { state, snapshot } = machine.send(event);
  const to = { state: state as SourcePlace['state'], attempts: snapshot.context.attempts };
  return { sourceId: source.id, contentHash: source.contentHash, from, to, nowMs, trace: takenTrace(knowledgeSource, machine) };
}

/** The page of a link may have changed: a link that is sent again counts as changed content. */
function eventOf(source: KnowledgeSource, contentHash: string): KnowledgeSourceEvent {
  const mayHaveChanged = source.kind === 'url' && placeOf(source).state === 'indexed';
  return { type: source.contentHash === contentHash && !mayHaveChanged ? 'source.restored' : 'source.updated' };
}

async function noteReason(storage: SourceStorage, organisationId: string, source: KnowledgeSource, reason: string | null): Promise<void> {
  if (reason === null || reason === source.reason) return;
  await storage.write(organisationId, 'noteSourceReason', { sourceId: source.id, reason });
}

export function newSource(input: SourceInput): SourceInput & { readonly state: SourceState } {
  return { ...input, state: stepper(knowledgeSource).state as SourceState };
}

/** Links are read again, texts only if archived or failed. @throws Refusal conflict at the bound; rate_limited when others change it. */
export function saveSource(
  storage: SourceStorage,
  organisationId: string,
  input: SourceInput,
): Promise<{ readonly op: 'created' | 'updated' | 'unchanged'; readonly id: string }> {
  const contentHash = contentHashOf(input);
  return retried(RETRIES, async () => {
    const before = readSourceByKey(storage.organisation(organisationId), input.appId, input.externalKey);
    if (before === undefined) {
      const isAdded = await storage.write(organisationId, 'addSource', newSource(input));
      return isAdded ? { op: 'created', id: input.sourceId } : OVERTAKEN;
    }
    const { id } = before;
    const move = moveOf(before, eventOf(before, contentHash), input.nowMs);
    if (move !== null) return (await storage.write(organisationId, 'changeSource', { move, input })) ? { op: 'updated', id } : OVERTAKEN;
    await noteReason(storage, organisationId, before, input.reason);
    return { op: 'unchanged', id };
  });
}

/** Its text stays, and its reason unless another is given. @throws Refusal not_found; rate_limited as saveSource. */
export function archiveSource(
  storage: SourceStorage,
  organisationId: string,
  input: { readonly appId: string; readonly externalKey: string; readonly reason: string | null; readonly nowMs: number },
): Promise<{ readonly id: string }> {
  return retried(RETRIES, async () => {
    const source = requireSource(storage.organisation(organisationId), input);
    const { id } = source;
    const move = moveOf(source, { type: 'source.archived' }, input.nowMs);
    if (move === null) await noteReason(storage, organisationId, source, input.reason);
    else if (!(await storage.write(organisationId, 'archiveSource', { move, reason: input.reason }))) return OVERTAKEN;
    return { id };
  });
}

export interface IndexedContent {
  readonly sourceId: string;
  readonly contentHash: string;
}

/** `write` commits the step. Null, and nothing is written, when it has other content by now or the machine ignores the event. */
export function moveSource(
  storage: SourceStorage,
  organisationId: string,
  { sourceId, contentHash }: IndexedContent,
  event: KnowledgeSourceEvent,
  nowMs: number,
  write: (move: SourceMove) => Promise<boolean>,
): Promise<SourcePlace | null> {
  return retried(RETRIES, async () => {
    const source = readSource(storage.organisation(organisationId), sourceId);
    const move = source?.contentHash === contentHash ? moveOf(source, event, nowMs) : null;
    if (move === null) return null;
    return (await write(move)) ? move.to : OVERTAKEN;
  });
}
