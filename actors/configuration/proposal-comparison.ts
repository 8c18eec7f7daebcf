/** What a waiting proposal would change, field by field beside what the app has now, for the person who decides (PROPOSAL-16). */

import canonicalize from 'canonicalize';
import { measuredPairs } from '../../protocol/appearance/contrast.ts';
import type { Comparison, ContrastChange, FieldChange, ItemChange } from '../../protocol/console/setup-answers.ts';
import { judgeHttpAction, type Surroundings } from '../../protocol/setup/actions.ts';
import { type AppearanceDraft, replaceAppearance } from '../../protocol/setup/appearance.ts';
import { judgeKnowledgeItem } from '../../protocol/setup/knowledge.ts';
import type { SetupWrite } from '../../protocol/setup/writes.ts';
import { readDraft } from '../../storage/apps/drafts.ts';
import { readActionByKey } from '../../storage/apps/http-actions.ts';
import { readScreen } from '../../storage/apps/screens.ts';
import { readSourceByKey, readSourceContent } from '../../storage/knowledge/knowledge.ts';
import { findOverlapping, type Proposal } from '../../storage/setup/proposals.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { baseOf } from './checks.ts';
import { kindsLike, subjectsOf } from './proposal-merge.ts';

interface Rows {
  readonly db: Connection;
  readonly appId: string;
  readonly surroundings: Surroundings;
}

type Fields = Readonly<Record<string, unknown>>;

/** The fields that differ, in the order of what would be written; reasons are no part of what the app has. */
function changedFields(before: Fields, after: Fields): FieldChange[] {
  const names = [...new Set([...Object.keys(after), ...Object.keys(before)])].filter((name) => name !== 'reason');
  const changes = names.map((field) => ({ field, before: before[field] ?? null, after: after[field] ?? null }));
  return changes.filter((change) => canonicalize(change.before) !== canonicalize(change.after));
}

/** `before` undefined: there is none in service. */
function itemChange(name: string, before: Fields | undefined, after: Fields | null): ItemChange[] {
  if (after === null) return before === undefined ? [] : [{ name, change: 'archived', fields: changedFields(before, {}) }];
  return [{ name, change: before === undefined ? 'added' : 'updated', fields: changedFields(before ?? {}, after) }];
}

function lookItems({ db, appId }: Rows, write: Extract<SetupWrite, { kind: 'appearance' | 'logo' }>): ItemChange[] {
  const draft: AppearanceDraft | null = readDraft(db, appId)?.appearance ?? null;
  const after = write.kind === 'logo' ? draft : replaceAppearance(draft, write.body);
  const parts = (['theme', 'themeDark', 'copilot'] as const).flatMap((part) => {
    const fields = changedFields({ ...draft?.[part] }, { ...after?.[part] });
    return fields.length === 0 ? [] : [{ name: part, change: 'updated', fields } as const];
  });
  const image = write.kind === 'logo' ? write.content : write.logo;
  if (image === undefined) return parts;
  const bytes = Buffer.byteLength(image, 'base64');
  return [...parts, { name: 'logo', change: 'updated', fields: [{ field: 'bytes', before: null, after: bytes }] }];
}

function contrastChanges({ db, appId }: Rows, write: SetupWrite): ContrastChange[] {
  if (write.kind !== 'appearance') return [];
  const draft: AppearanceDraft | null = readDraft(db, appId)?.appearance ?? null;
  const now = draft === null ? [] : measuredPairs(draft);
  return measuredPairs(replaceAppearance(draft, write.body)).flatMap(({ variant: part, check, subject, minimum, ratio: after }) => {
    const before = now.find((pair) => pair.variant === part && pair.check === check)?.ratio ?? null;
    return before === after ? [] : [{ part, subject, minimum, before, after }];
  });
}

function personaItems({ db, appId }: Rows, { patch }: Extract<SetupWrite, { kind: 'experience' }>): ItemChange[] {
  const draft: Fields = { ...readDraft(db, appId)?.experience };
  const named = Object.fromEntries(Object.keys(patch).map((field) => [field, draft[field]]));
  return [{ name: 'assistant', change: 'updated', fields: changedFields(named, { ...patch }) }];
}

function sourceNow({ db, appId }: Rows, key: string): Fields | undefined {
  const source = readSourceByKey(db, appId, key);
  if (source === undefined || source.archivedAtMs !== null) return undefined;
  const { kind, title, uri, id } = source;
  return kind === 'url' ? { kind, title, uri } : { kind, title, content: readSourceContent(db, id) ?? null };
}

function knowledgeItems(rows: Rows, { items }: Extract<SetupWrite, { kind: 'knowledge' }>): ItemChange[] {
  return items.flatMap((shape) => {
    const judged = judgeKnowledgeItem(shape);
    if (judged.form === 'refused') return [];
    const { external_key: name, ...content } = judged.item;
    const now = sourceNow(rows, name);
    if (judged.form === 'archive') return itemChange(name, now, null);
    // A link without a title has that of its page.
    const after = judged.form === 'link' ? { title: now?.title, ...content } : content;
    return itemChange(name, now, { ...after });
  });
}

function actionItems({ db, appId, surroundings }: Rows, { items }: Extract<SetupWrite, { kind: 'actions' }>): ItemChange[] {
  return items.flatMap((shape) => {
    const judged = judgeHttpAction(shape, surroundings);
    if (judged.form === 'refused') return [];
    const action = readActionByKey(db, appId, judged.item.external_key);
    const now = action === undefined || action.archivedAtMs !== null ? undefined : { ...action.definition };
    if (judged.form === 'archive') return itemChange(now?.name ?? judged.item.external_key, now, null);
    return itemChange(judged.item.name, now, { ...judged.item });
  });
}

function screenItems({ db, appId }: Rows, { body }: Extract<SetupWrite, { kind: 'screens' }>): ItemChange[] {
  const now = (name: string) => {
    const screen = readScreen(db, appId, name);
    return screen === undefined || screen.archivedAtMs !== null ? undefined : { ...screen.definition };
  };
  const archived = (body.archive ?? []).flatMap(({ name }) => itemChange(name, now(name), null));
  return [...(body.screens ?? []).flatMap((screen) => itemChange(screen.name, now(screen.name), { ...screen })), ...archived];
}

function itemsOf(rows: Rows, write: SetupWrite): ItemChange[] {
  switch (write.kind) {
    case 'appearance':
    case 'logo':
      return lookItems(rows, write);
    case 'experience':
      return personaItems(rows, write);
    case 'knowledge':
      return knowledgeItems(rows, write);
    case 'actions':
      return actionItems(rows, write);
    case 'screens':
      return screenItems(rows, write);
  }
}

export function compareProposal(rows: Rows, proposal: Proposal, write: SetupWrite): Comparison {
  const { db, appId } = rows;
  const overlaps = findOverlapping(db, { appId, kinds: kindsLike(write.kind), subjects: subjectsOf(write) });
  return {
    items: itemsOf(rows, write),
    // One that was begun has changed part of what it would replace itself, and can be finished.
    contrast: contrastChanges(rows, write),
    outdated: proposal.state === 'pending' && baseOf(db, appId, write) !== proposal.base,
    overlaps: overlaps.filter((id) => id !== proposal.id),
  };
}
