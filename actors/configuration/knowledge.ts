/** Writes a batch of knowledge items (KNOWLEDGE-1, KNOWLEDGE-2). Each is saved and indexed on its own; one that fails does not fail the others. */

import { createHash } from 'node:crypto';
import { Refusal } from '../../protocol/errors.ts';
import { mintId } from '../../protocol/ids.ts';
import { type JudgedItem, judgeKnowledgeItem, type KnowledgeItemShape } from '../../protocol/setup/knowledge.ts';
import type { Origin } from '../../protocol/setup/writes.ts';
import type { AppRecord } from '../../storage/apps/apps.ts';
import { readSourceByKey, type SourceInput } from '../../storage/knowledge/knowledge.ts';
import type { Storage } from '../../storage/storage.ts';
import type { IndexOutcome, KnowledgeIndexer } from '../knowledge/indexer.ts';
import { archiveSource, saveSource } from '../knowledge/sources.ts';
import { settleEach, type WriteTarget } from './write-queue.ts';

/** How long a request waits for its links. Most sites answer sooner, and an agent should not wait for the others. */
export const LINK_WAIT_MS = 5_000;

export interface KnowledgeServices {
  readonly storage: Storage;
  readonly indexer: KnowledgeIndexer;
  nowMs(): number;
}

export type KnowledgeOp = 'created' | 'updated' | 'unchanged' | 'archived';

export type KnowledgeResult =
  | {
      readonly external_key: string;
      readonly ok: true;
      readonly op: KnowledgeOp;
      readonly id: string;
      /** `pending` or `indexing`: a link that is still being read. */
      readonly status: IndexOutcome['status'];
      readonly chunks: number;
      readonly error?: string;
    }
  | { readonly external_key: string; readonly ok: false; readonly error: string };

export interface KnowledgeReport {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly archived: number;
  readonly failed: number;
  readonly results: readonly KnowledgeResult[];
  readonly note: string;
}

type Saved = Extract<KnowledgeResult, { ok: true }>;
type Upserted = Pick<Saved, 'external_key' | 'ok' | 'op' | 'id'>;
type TakenForm = Exclude<JudgedItem, { form: 'refused' | 'archive' }>;

/** How an item that was taken is stored; its id is used when the key is new. */
export function sourceInput(taken: TakenForm, { appId, origin }: WriteTarget, nowMs: number): SourceInput {
  const { external_key: externalKey, reason = null } = taken.item;
  const source = { sourceId: mintId('kno', nowMs), appId, externalKey, origin, reason, nowMs };
  if (taken.form === 'text') return { ...source, kind: 'text', title: taken.item.title, uri: null, content: taken.item.content };
  return { ...source, kind: 'url', title: taken.item.title?.trim() || null, uri: taken.item.uri, content: null };
}

async function upsert({ storage, nowMs }: KnowledgeServices, target: WriteTarget, taken: TakenForm): Promise<Upserted> {
  const { op, id } = await saveSource(storage, target.organisationId, sourceInput(taken, target, nowMs()));
  return { external_key: taken.item.external_key, ok: true, op, id };
}

/** Saves one item; a text is indexed when this resolves, a link is not yet read: `waiting` reads it. */
async function save(
  services: KnowledgeServices,
  target: WriteTarget,
  judged: JudgedItem,
): Promise<{ saved: Saved } | { waiting: Upserted }> {
  const { organisationId, appId } = target;
  switch (judged.form) {
    case 'refused':
      throw new Refusal('invalid_body', judged.error);
    case 'archive': {
      const { external_key, reason } = judged.item;
      const input = { appId, externalKey: external_key, reason: reason ?? null, nowMs: services.nowMs() };
      const { id } = await archiveSource(services.storage, organisationId, input);
      return { saved: { external_key, ok: true, op: 'archived', id, status: 'archived', chunks: 0 } };
    }
    case 'link':
      return { waiting: await upsert(services, target, judged) };
    case 'text': {
      const upserted = await upsert(services, target, judged);
      return { saved: { ...upserted, ...(await services.indexer.index(organisationId, upserted.id, 0)) } };
    }
  }
}

function takenNote(results: readonly KnowledgeResult[]): string {
  if (results.every(({ ok }) => ok)) return 'Every item was taken. Text that was sent is searchable now.';
  return results.some(({ ok }) => ok)
    ? 'Read results[i].error of the items that failed; the others were taken.'
    : 'No item was taken. Read results[i].error of each, mend it and send it again.';
}

function noteOn(results: readonly KnowledgeResult[]): string {
  const some = (...states: unknown[]) => results.some((result) => result.ok && states.includes(result.status));
  const notes = [takenNote(results)];
  if (some('failed')) notes.push('Sources whose status is failed say why in error: mend that and send them again.');
  if (some('pending', 'indexing')) notes.push('Links that are pending or indexing are still being read: GET /status counts them.');
  return notes.join(' ');
}

/** Returns a function that reads the links side by side and reports. @throws StorageError: sending the same again is safe. */
export async function saveKnowledge(
  services: KnowledgeServices,
  target: WriteTarget,
  items: readonly KnowledgeItemShape[],
  linkWaitMs: number = LINK_WAIT_MS,
): Promise<() => Promise<KnowledgeReport>> {
  const outcomes = await settleEach(items, (item) => save(services, target, judgeKnowledgeItem(item)));
  return async () => {
    const results = await Promise.all(
      items.map(async ({ external_key }, at): Promise<KnowledgeResult> => {
        const outcome = outcomes[at] as (typeof outcomes)[number];
        if (outcome instanceof Refusal) return { external_key, ok: false, error: outcome.message };
        if ('saved' in outcome) return outcome.saved;
        const { waiting } = outcome;
        return { ...waiting, ...(await services.indexer.index(target.organisationId, waiting.id, linkWaitMs)) };
      }),
    );
    return reportOn(results);
  };
}

function reportOn(results: readonly KnowledgeResult[]): KnowledgeReport {
  const count = (op: KnowledgeOp) => results.filter((result) => result.ok && result.op === op).length;
  return {
    created: count('created'),
    updated: count('updated'),
    unchanged: count('unchanged'),
    archived: count('archived'),
    failed: results.filter(({ ok }) => !ok).length,
    results,
    note: noteOn(results),
  };
}

export async function takeInKnowledge(...args: Parameters<typeof saveKnowledge>): Promise<KnowledgeReport> {
  const report = await saveKnowledge(...args);
  return report();
}

/** The origin of sources that were seeded. */
export const INTAKE_ORIGIN = 'intake' satisfies Origin;

/** The key of a link's source. It is a hash, because links may be longer than keys. */
function keyOf(link: string): string {
  return `intake:${createHash('sha256').update(link).digest('hex').slice(0, 32)}`;
}

/** Adds and reads the links that are no sources yet. An archived source stays archived. */
export async function seedSources(services: KnowledgeServices, { id: appId, organisationId, settings }: AppRecord): Promise<void> {
  const db = services.storage.organisation(organisationId);
  const items = settings.intake.links
    .map((uri) => ({ external_key: keyOf(uri), kind: 'url', uri }))
    .filter((item) => readSourceByKey(db, appId, item.external_key) === undefined);
  if (items.length > 0) await takeInKnowledge(services, { organisationId, appId, origin: INTAKE_ORIGIN }, items);
}
