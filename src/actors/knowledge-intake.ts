/**
 * Takes in a batch of knowledge items (service.md "POST /knowledge rules"): one set of rules for the setup interface
 * and the console. Each item is saved and indexed on its own; one that fails does not fail the others.
 */
import { Refusal } from '../protocol/errors.ts';
import { mintId } from '../protocol/ids.ts';
import { type JudgedItem, judgeKnowledgeItem, type KnowledgeItemShape } from '../protocol/setup/knowledge.ts';
import type { SourceState } from '../storage/knowledge.ts';
import type { Storage } from '../storage/storage.ts';
import { indexSource } from './knowledge-indexer.ts';

export type KnowledgeOp = 'created' | 'updated' | 'unchanged' | 'archived';

/** As it travels. */
export type KnowledgeResult =
  | {
      readonly external_key: string;
      readonly ok: true;
      readonly op: KnowledgeOp;
      readonly id: string;
      readonly status: SourceState | 'archived' | undefined;
      readonly chunks: number;
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

export interface IntakeTarget {
  readonly organisationId: string;
  readonly appId: string;
  /** Who writes: `console` or `setup`. */
  readonly origin: string;
}

type Saved = Extract<KnowledgeResult, { ok: true }>;

async function save(storage: Storage, target: IntakeTarget, judged: JudgedItem, nowMs: number): Promise<Saved> {
  const { organisationId, appId, origin } = target;
  switch (judged.form) {
    case 'refused':
      throw new Refusal('invalid_body', judged.error);
    case 'link':
      throw new Refusal('invalid_body', 'kind must be text: this server does not read links, send the text itself');
    case 'archive': {
      const { external_key } = judged.item;
      const archived = await storage.write(organisationId, 'archiveSource', { appId, externalKey: external_key, nowMs });
      if (archived === undefined) throw new Refusal('not_found', 'external_key names no source of this app');
      return { external_key, ok: true, op: 'archived', id: archived.id, status: 'archived', chunks: 0 };
    }
    case 'text': {
      const { external_key, title, content, reason } = judged.item;
      const { op, id } = await storage.write(organisationId, 'upsertSource', {
        sourceId: mintId('kno', nowMs),
        appId,
        externalKey: external_key,
        kind: 'text',
        title,
        uri: null,
        content,
        origin,
        reason: reason ?? null,
        nowMs,
      });
      return { external_key, ok: true, op, id, ...(await indexSource(storage, organisationId, id, nowMs)) };
    }
  }
}

/**
 * Saves and indexes the items in their order; text is searchable when this resolves.
 * @throws StorageError when the disk or the writer fails: sending the same items again is safe.
 */
export async function takeInKnowledge(
  storage: Storage,
  target: IntakeTarget,
  items: readonly KnowledgeItemShape[],
  nowMs: number,
): Promise<KnowledgeReport> {
  const results: KnowledgeResult[] = [];
  for (const item of items) {
    try {
      results.push(await save(storage, target, judgeKnowledgeItem(item), nowMs));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      results.push({ external_key: item.external_key, ok: false, error: error.message });
    }
  }
  const count = (op: KnowledgeOp) => results.filter((result) => result.ok && result.op === op).length;
  const failed = results.filter((result) => !result.ok).length;
  return {
    created: count('created'),
    updated: count('updated'),
    unchanged: count('unchanged'),
    archived: count('archived'),
    failed,
    results,
    note:
      failed === 0
        ? 'Every item was taken. Text that was sent is searchable now.'
        : 'Read results[i].error of the items that failed; the others were taken.',
  };
}
