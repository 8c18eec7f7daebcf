/** Checks a write before a person decides (PROPOSAL-3): makes the real writes, withdraws them, hashes what they would replace. */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { Refusal, refusalFrom } from '../../protocol/errors.ts';
import { judgeKnowledgeItem, type KnowledgeItemShape } from '../../protocol/setup/knowledge.ts';
import type { SetupWrite } from '../../protocol/setup/writes.ts';
import { requireAppearanceDraft } from '../../storage/apps/assets.ts';
import { readDraft } from '../../storage/apps/drafts.ts';
import { readActionByKey } from '../../storage/apps/http-actions.ts';
import { readScreen } from '../../storage/apps/screens.ts';
import { readSourceByKey } from '../../storage/knowledge/knowledge.ts';
import type { RehearsedWrite } from '../../storage/setup/rehearsals.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { newSource } from '../knowledge/sources.ts';
import { actionWrite } from './actions.ts';
import { sourceInput } from './knowledge.ts';
import { keepItems } from './proposal-merge.ts';
import { settleEach, type WriteTarget } from './write-queue.ts';
import { requireKnownLogo, requireListedModels, type WriteServices } from './writes.ts';

/** @throws Refusal invalid_body. */
function sourceWrite(item: KnowledgeItemShape, target: WriteTarget, nowMs: number): RehearsedWrite {
  const judged = judgeKnowledgeItem(item);
  if (judged.form === 'refused') throw new Refusal('invalid_body', judged.error);
  if (judged.form === 'archive') return { name: 'requireSource', input: { appId: target.appId, externalKey: judged.item.external_key } };
  return { name: 'addSource', input: newSource(sourceInput(judged, target, nowMs)) };
}

const isWrite = (one: RehearsedWrite | Refusal): one is RehearsedWrite => !(one instanceof Refusal);

/** No rule looks at the text, which may be long, so the writer thread is not sent it. */
function withoutText(write: RehearsedWrite): RehearsedWrite {
  return write.name === 'addSource' ? { ...write, input: { ...write.input, content: '' } } : write;
}

function writesOf({ surroundings, nowMs }: WriteServices, target: WriteTarget, write: SetupWrite): Promise<(RehearsedWrite | Refusal)[]> {
  const { appId, origin } = target;
  switch (write.kind) {
    case 'knowledge':
      return settleEach(write.items, (item) => sourceWrite(item, target, nowMs()));
    case 'actions':
      return settleEach(write.items, (item) => actionWrite(item, surroundings, target, nowMs()));
    case 'screens': {
      const { screens = [], archive = [] } = write.body;
      return Promise.resolve([{ name: 'declareScreens', input: { appId, screens, archive, origin, nowMs: nowMs() } }]);
    }
    default:
      return Promise.resolve([]);
  }
}

/** Returns each write, or what it was refused with: one for each item of a batch, one for all screens; none for a look or a persona. */
export async function rehearse(
  services: WriteServices,
  { organisationId, appId }: Omit<WriteTarget, 'origin'>,
  write: SetupWrite,
): Promise<(RehearsedWrite | Refusal)[]> {
  const judged = await writesOf(services, { organisationId, appId, origin: 'proposal' }, write);
  const writes = judged.filter(isWrite).map(withoutText);
  if (writes.length === 0) return judged;
  const refusals = (await services.storage.write(organisationId, 'rehearseWrites', { writes })).values();
  return judged.map((one) => {
    const refusal = one instanceof Refusal ? null : (refusals.next().value ?? null);
    return refusal === null ? one : refusalFrom(refusal);
  });
}

interface ItemResult {
  readonly external_key: string;
  readonly ok: boolean;
  readonly op?: 'proposed' | 'unchanged';
  /** An action, as where it is applied at once; null where an item that is refused names none. */
  readonly name?: string | null;
  readonly needs_key?: boolean;
  readonly error?: string;
}

export interface CheckedWrite {
  readonly write: SetupWrite;
  readonly writes: readonly RehearsedWrite[];
  /** One for each item of the batch that was asked for, in its order; undefined where the write is no batch. */
  readonly results: readonly ItemResult[] | undefined;
}

/** What a result says of an action beside its key: its name, and whether it will wait for a shared key. Nothing of other items. */
function actionFacts(
  db: Connection,
  appId: string,
  item: { readonly external_key: string; readonly name?: string | undefined },
  kind: SetupWrite['kind'],
) {
  if (kind !== 'actions') return {};
  const { needs_key } = item as { readonly needs_key?: unknown };
  const known = readActionByKey(db, appId, item.external_key);
  return { name: item.name ?? known?.definition.name ?? null, needs_key: needs_key !== undefined && known?.hasKey !== true };
}

/** The position of an item in the write that it was merged into. An item that was sent twice may be another object with the same content. */
function positionOf<Item>(items: readonly Item[], item: Item): number {
  const at = items.lastIndexOf(item);
  return at >= 0 ? at : items.findLastIndex((one) => canonicalize(one) === canonicalize(item));
}

/** `waiting`: the subjects of the waiting proposals that `merged` was merged from. @throws Refusal for a write that is taken as a whole. */
export async function checkWrite(
  services: WriteServices,
  target: WriteTarget,
  { asked, merged, waiting }: { asked: SetupWrite; merged: SetupWrite; waiting: readonly string[] },
): Promise<CheckedWrite> {
  const db = services.storage.organisation(target.organisationId);
  if (asked.kind === 'appearance') requireKnownLogo(db, target.appId, asked.body);
  if (asked.kind === 'experience') requireListedModels(services.models, asked.patch);
  if (merged.kind === 'logo') requireAppearanceDraft(db, target.appId);
  const rehearsed = await rehearse(services, target, merged);
  const writes = rehearsed.filter(isWrite);
  if (!('items' in merged && 'items' in asked)) {
    const refusal = rehearsed.find((one) => one instanceof Refusal);
    if (refusal !== undefined) throw refusal;
    return { write: merged, writes, results: undefined };
  }
  const items: readonly { readonly external_key: string }[] = merged.items;
  const results = asked.items.map((item): ItemResult => {
    const { external_key } = item;
    const outcome = rehearsed[positionOf(items, item)];
    // Archiving an item that is only proposed withdraws it.
    const isWithdrawn = outcome instanceof Refusal && outcome.code === 'not_found' && waiting.includes(external_key);
    const facts = actionFacts(db, target.appId, item, asked.kind);
    return outcome instanceof Refusal && !isWithdrawn
      ? { external_key, ok: false, ...facts, error: outcome.message }
      : { external_key, ok: true, op: 'proposed', ...facts };
  });
  return { write: keepItems(merged, (at) => !(rehearsed[at] instanceof Refusal)), writes, results };
}

/** The logo and the copilot block count only where the write names one. */
function lookBase(db: Connection, appId: string, write: Extract<SetupWrite, { kind: 'appearance' | 'logo' }>): unknown {
  const draft = readDraft(db, appId)?.appearance ?? null;
  const { logoAssetId = null, ...theme } = draft?.theme ?? {};
  if (write.kind === 'logo') return logoAssetId;
  const namesLogo = write.logo !== undefined || write.body.theme.logoAssetId !== undefined;
  const copilot = write.body.copilot === undefined ? null : (draft?.copilot ?? null);
  return [theme, draft?.themeDark ?? null, copilot, namesLogo ? logoAssetId : null];
}

/** SHA-256 of the value as canonical JSON, lowercase hex. */
export function hashOf(value: unknown): string {
  return createHash('sha256')
    .update(canonicalize(value) ?? 'null')
    .digest('hex');
}

export function baseOf(db: Connection, appId: string, write: SetupWrite): string {
  const entry = (row: { readonly archivedAtMs: number | null } | undefined, content: unknown) =>
    row === undefined ? null : [content, row.archivedAtMs !== null];
  const touched = (): unknown => {
    switch (write.kind) {
      case 'appearance':
      case 'logo':
        return lookBase(db, appId, write);
      case 'experience': {
        const draft: Readonly<Record<string, unknown>> = { ...readDraft(db, appId)?.experience };
        const fields = Object.keys(write.patch).filter((field) => field !== 'reason');
        // An object, which canonicalize sorts: the order of the fields does not count.
        return Object.fromEntries(fields.map((field) => [field, draft[field] ?? null]));
      }
      case 'knowledge':
        return write.items.map(({ external_key }) => {
          const source = readSourceByKey(db, appId, external_key);
          return entry(source, source?.contentHash);
        });
      case 'actions':
        return write.items.map(({ external_key }) => {
          const action = readActionByKey(db, appId, external_key);
          return entry(action, action?.definition);
        });
      case 'screens':
        return [...(write.body.screens ?? []), ...(write.body.archive ?? [])].map(({ name }) => {
          const screen = readScreen(db, appId, name);
          return entry(screen, screen?.definition);
        });
    }
  };
  return hashOf(touched());
}
