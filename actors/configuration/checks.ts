/**
 * What of a write is looked at before a person decides about it: whether applying it would take it, and what it would
 * replace (PROPOSAL-3). Nothing of it stays.
 */
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
import { takeEach } from './batch.ts';
import { sourceInput } from './knowledge.ts';
import type { IntakeTarget } from './target.ts';
import { requireKnownLogo, type WriteServices } from './writes.ts';

/** All that can be refused of an item of knowledge. Its text is no part of that. @throws Refusal invalid_body. */
function sourceWrite(item: KnowledgeItemShape, target: IntakeTarget, nowMs: number): RehearsedWrite {
  const judged = judgeKnowledgeItem(item);
  if (judged.form === 'refused') throw new Refusal('invalid_body', judged.error);
  if (judged.form === 'archive') return { name: 'requireSource', input: { appId: target.appId, externalKey: judged.item.external_key } };
  return { name: 'addSource', input: newSource({ ...sourceInput(judged, target, nowMs), content: '' }) };
}

function writesOf({ surroundings, nowMs }: WriteServices, target: IntakeTarget, write: SetupWrite): Promise<(RehearsedWrite | Refusal)[]> {
  const { appId, origin } = target;
  switch (write.kind) {
    case 'knowledge':
      return takeEach(write.items, (item) => sourceWrite(item, target, nowMs()));
    case 'actions':
      return takeEach(write.items, (item) => actionWrite(item, surroundings, target, nowMs()));
    case 'screens': {
      const { screens = [], archive = [] } = write.body;
      return Promise.resolve([{ name: 'declareScreens', input: { appId, screens, archive, origin, nowMs: nowMs() } }]);
    }
    default:
      return Promise.resolve([]);
  }
}

/**
 * What approving the write would refuse of it, by the writes themselves: for each item of a batch, in its order; of screens for all
 * of them; nothing of a look or a persona, which are judged by what they say.
 */
export async function rehearse(
  services: WriteServices,
  { organisationId, appId }: Omit<IntakeTarget, 'origin'>,
  write: SetupWrite,
): Promise<(Refusal | null)[]> {
  const writes = await writesOf(services, { organisationId, appId, origin: 'proposal' }, write);
  const rehearsed = writes.filter((one): one is RehearsedWrite => !(one instanceof Refusal));
  if (rehearsed.length === 0) return writes as Refusal[];
  const refusals = (await services.storage.write(organisationId, 'rehearseWrites', { writes: rehearsed })).values();
  return writes.map((one) => {
    if (one instanceof Refusal) return one;
    const refusal = refusals.next().value ?? null;
    return refusal === null ? null : refusalFrom(refusal);
  });
}

interface ItemResult {
  readonly external_key: string;
  readonly ok: boolean;
  readonly op?: 'proposed' | 'unchanged';
  readonly error?: string;
}

/** A write as far as it may be proposed. */
export interface CheckedWrite {
  readonly write: SetupWrite;
  /** Of each item of a batch that was asked for, in its order. */
  readonly results: readonly ItemResult[] | undefined;
}

/** Where an item stands in a write that it was merged into; sent again as it waits already, it is another object. */
function placeOf<Item>(items: readonly Item[], item: Item): number {
  const at = items.lastIndexOf(item);
  return at >= 0 ? at : items.findLastIndex((one) => canonicalize(one) === canonicalize(item));
}

/**
 * `merged` without the items that approving it would refuse, and what is said of those of `asked`, which it was merged from.
 * `waiting`: what else it was merged from is about. @throws Refusal of what is taken as a whole.
 */
export async function checkWrite(
  services: WriteServices,
  target: IntakeTarget,
  { asked, merged, waiting }: { asked: SetupWrite; merged: SetupWrite; waiting: readonly string[] },
): Promise<CheckedWrite> {
  const db = services.storage.organisation(target.organisationId);
  if (asked.kind === 'appearance') requireKnownLogo(db, target.appId, asked.body);
  if (merged.kind === 'logo') requireAppearanceDraft(db, target.appId);
  const refusals = await rehearse(services, target, merged);
  if (!('items' in merged && 'items' in asked)) {
    const refusal = refusals.find((one) => one !== null);
    if (refusal !== undefined) throw refusal;
    return { write: merged, results: undefined };
  }
  const items: readonly { readonly external_key: string }[] = merged.items;
  const results = asked.items.map((item): ItemResult => {
    const { external_key } = item;
    const refusal = refusals[placeOf(items, item)] ?? null;
    // Archiving what only waits to be added takes that back.
    const isTakenBack = refusal?.code === 'not_found' && waiting.includes(external_key);
    return refusal === null || isTakenBack
      ? { external_key, ok: true, op: 'proposed' }
      : { external_key, ok: false, error: refusal.message };
  });
  const fits = (_: unknown, at: number) => refusals[at] === null;
  const write =
    merged.kind === 'knowledge' ? { ...merged, items: merged.items.filter(fits) } : { ...merged, items: merged.items.filter(fits) };
  return { write, results };
}

/** What the appearance draft has that a new look would replace: of the logo and the copilot block only where it names one. */
function lookBase(db: Connection, appId: string, write: Extract<SetupWrite, { kind: 'appearance' | 'logo' }>): unknown {
  const draft = readDraft(db, appId)?.appearance ?? null;
  const { logoAssetId = null, ...theme } = draft?.theme ?? {};
  if (write.kind === 'logo') return logoAssetId;
  const namesLogo = write.logo !== undefined || write.body.theme.logoAssetId !== undefined;
  const copilot = write.body.copilot === undefined ? null : (draft?.copilot ?? null);
  return [theme, draft?.themeDark ?? null, copilot, namesLogo ? logoAssetId : null];
}

/** Hash of what the write would replace, as it is now: lowercase hex. */
export function baseOf(db: Connection, appId: string, write: SetupWrite): string {
  const touched = (): unknown => {
    switch (write.kind) {
      case 'appearance':
      case 'logo':
        return lookBase(db, appId, write);
      case 'experience': {
        const draft: Readonly<Record<string, unknown>> = { ...readDraft(db, appId)?.experience };
        // An object: the order of its fields is no difference.
        return Object.fromEntries(
          Object.keys(write.patch)
            .filter((field) => field !== 'reason')
            .map((field) => [field, draft[field] ?? null]),
        );
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
