/**
 * What a write would change of an app as it is now (PROPOSAL-8, PROPOSAL-10): the write without what changes nothing, and a
 * sentence that lets a person decide. Reads only.
 */
import { createHash } from 'node:crypto';
import { setImmediate as breathe } from 'node:timers/promises';
import canonicalize from 'canonicalize';
import { clip } from '../../protocol/schema/text.ts';
import { type HttpActionShape, judgeHttpAction, type Surroundings } from '../../protocol/setup/actions.ts';
import { type AppearanceDraft, replaceAppearance } from '../../protocol/setup/appearance.ts';
import { judgeKnowledgeItem, type KnowledgeItemShape } from '../../protocol/setup/knowledge.ts';
import type { ScreensBody } from '../../protocol/setup/screens.ts';
import type { SetupWrite } from '../../protocol/setup/writes.ts';
import { readAsset } from '../../storage/apps/assets.ts';
import { readDraft } from '../../storage/apps/drafts.ts';
import { hostOf, readActionByKey, tokensMovedFrom } from '../../storage/apps/http-actions.ts';
import { readScreen } from '../../storage/apps/screens.ts';
import { contentHashOf, readSourceByKey } from '../../storage/knowledge/knowledge.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { contentOf } from './knowledge.ts';
import { counted, listed } from './phrases.ts';

/** A person reads it in a list. */
const SUMMARY_MAX_CHARS = 600;
/** Of a text that changes, enough to know it by. */
const VALUE_MAX_CHARS = 60;
/** Before the place where two texts begin to differ. */
const SAME_SHOWN_CHARS = 20;
/** Moves to other hosts told with their hosts, which are never cut short: their ends say whose they are. The others are counted. */
const MOVES_TOLD_MAX = 4;
/** Tokens or fields told with their values; the others are counted. */
const CHANGES_TOLD_MAX = 8;

export interface Changes {
  /** Null: the write changes nothing. */
  readonly write: SetupWrite | null;
  readonly summary: string;
  /** Sentences that go before the summary and are never cut short. */
  readonly alarms?: string;
}

/** What happens to one item, e.g. `updated`, and what it goes by. */
interface ItemChange {
  readonly verb: string;
  readonly name: string;
  /** What a person has to know before all else. */
  readonly alarm?: string;
  readonly movesTokens?: boolean;
}

interface Place {
  readonly db: Connection;
  readonly appId: string;
  readonly surroundings: Surroundings;
}

function quoted(text: string): string {
  return text.startsWith('#') ? text : `“${clip(text, VALUE_MAX_CHARS)}”`;
}

function shown(value: unknown): string {
  if (value === undefined || value === null || value === '') return 'none';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map((item) => quoted(String(item))).join(', ');
  return typeof value === 'string' ? quoted(value.replaceAll(/\s+/g, ' ').trim()) : String(value);
}

/** Of two long texts the parts from a few words before where they begin to differ: their beginnings tell nothing. */
function differingParts(old: string, young: string): [string, string] {
  let same = 0;
  while (same < Math.min(old.length, young.length) && old[same] === young[same]) same += 1;
  const from = same - SAME_SHOWN_CHARS;
  if (from <= 0 || Math.max(old.length, young.length) <= VALUE_MAX_CHARS) return [old, young];
  return [`…${old.slice(from)}`, `…${young.slice(from)}`];
}

/** `“Brief.” → “Brief and friendly.”`; of lists what is new and what is gone. */
function step(before: unknown, after: unknown): string {
  if (Array.isArray(before) && Array.isArray(after)) {
    const added = after.filter((item) => !before.includes(item));
    const gone = before.filter((item) => !after.includes(item));
    const parts = [...(added.length > 0 ? [`new ${shown(added)}`] : []), ...(gone.length > 0 ? [`without ${shown(gone)}`] : [])];
    return parts.length > 0 ? parts.join(', ') : 'in another order';
  }
  if (typeof before !== 'string' || typeof after !== 'string') return `${shown(before)} → ${shown(after)}`;
  const [old, young] = differingParts(before, after);
  return `${shown(old)} → ${shown(young)}`;
}

type Fields = Readonly<Record<string, unknown>>;

/** Names of the fields that differ. */
function differing(old: Fields, young: Fields): string[] {
  return [...new Set([...Object.keys(old), ...Object.keys(young)])].filter((name) => canonicalize(old[name]) !== canonicalize(young[name]));
}

/** `accent #5fae7f → #358556` for each value that differs; `prefix` goes before the name. */
function differences(before: object | null | undefined, after: object | null | undefined, prefix = ''): string[] {
  const old: Fields = { ...before };
  const young: Fields = { ...after };
  return differing(old, young).map((name) => `${prefix}${name} ${step(old[name], young[name])}`);
}

function told(parts: readonly string[]): string {
  const more = parts.length - CHANGES_TOLD_MAX;
  return more > 0 ? `${parts.slice(0, CHANGES_TOLD_MAX).join(', ')} and ${more} more` : parts.join(', ');
}

function lookDifferences(before: AppearanceDraft | null, after: AppearanceDraft): string[] {
  return [
    ...differences(before?.theme, after.theme),
    ...differences(before?.themeDark, after.themeDark, 'dark '),
    ...differences(before?.copilot, after.copilot),
  ];
}

/** Whether the draft shows this very image. `logo` is the hash of the image as it would be stored. */
function isShown({ db, appId }: Place, draft: AppearanceDraft | null, logo: string): boolean {
  const id = draft?.theme.logoAssetId;
  const asset = id === undefined ? undefined : readAsset(db, appId, id);
  return asset !== undefined && createHash('sha256').update(asset.content).digest('hex') === logo;
}

function changesOfLook(place: Place, write: Extract<SetupWrite, { kind: 'appearance' | 'logo' }>, logoHash: string | null): Changes {
  const draft = readDraft(place.db, place.appId)?.appearance ?? null;
  const content = write.kind === 'logo' ? write.content : write.logo;
  const parts = write.kind === 'logo' ? [] : lookDifferences(draft, replaceAppearance(draft, write.body));
  const hasLook = parts.length > 0;
  const hasLogo = content !== undefined && (logoHash === null || !isShown(place, draft, logoHash));
  if (hasLogo) parts.push(`a new logo of ${Math.ceil(Buffer.byteLength(content, 'base64') / 1024)} KB`);
  const summary = told(parts);
  if (hasLook && write.kind === 'appearance') {
    const { logo: _, ...body } = write;
    return { write: hasLogo ? write : body, summary };
  }
  return { write: hasLogo ? { kind: 'logo', content } : null, summary };
}

function changesOfPersona({ db, appId }: Place, { patch }: Extract<SetupWrite, { kind: 'experience' }>): Changes {
  const before: Readonly<Record<string, unknown>> = { ...readDraft(db, appId)?.experience };
  const changed = Object.entries(patch).filter(
    ([field, value]) => field !== 'reason' && JSON.stringify(before[field]) !== JSON.stringify(value),
  );
  if (changed.length === 0) return { write: null, summary: '' };
  const kept = patch.reason === undefined ? changed : [...changed, ['reason', patch.reason]];
  const after = Object.fromEntries(changed);
  const old = Object.fromEntries(changed.map(([field]) => [field, before[field]]));
  return { write: { kind: 'experience', patch: Object.fromEntries(kept) as typeof patch }, summary: told(differences(old, after)) };
}

/** Undefined: sending it changes nothing. A link that is sent again is read again. */
function changeOfSource({ db, appId }: Place, item: KnowledgeItemShape): ItemChange | undefined {
  const judged = judgeKnowledgeItem(item);
  const { external_key: name } = item;
  const source = readSourceByKey(db, appId, name);
  const isThere = source !== undefined && source.archivedAtMs === null;
  if (judged.form === 'refused') return undefined;
  if (judged.form === 'archive') return isThere ? { verb: 'archived', name } : undefined;
  if (source === undefined) return { verb: 'added', name };
  if (!isThere || source.contentHash !== contentHashOf(contentOf(judged))) return { verb: 'updated', name };
  return judged.form === 'link' || source.state === 'failed' ? { verb: 'read again', name } : undefined;
}

function changeOfAction({ db, appId, surroundings }: Place, item: HttpActionShape): ItemChange | undefined {
  const judged = judgeHttpAction(item, surroundings);
  const action = readActionByKey(db, appId, item.external_key);
  const isThere = action !== undefined && action.archivedAtMs === null;
  if (judged.form === 'refused') return undefined;
  if (judged.form === 'archive') return isThere ? { verb: 'archived', name: action.name } : undefined;
  const { reason: _, ...definition } = judged.item;
  const { name, risk, method } = definition;
  const host = hostOf(definition);
  const from = tokensMovedFrom(db, appId, judged.item, host);
  const moved = from === undefined ? {} : { alarm: `${name} sends people's tokens to ${host} instead of ${from}`, movesTokens: true };
  if (!isThere) return { verb: 'added', name: `${name} (${risk}, ${method} ${host})`, ...moved };
  if (canonicalize(action.definition) === canonicalize(definition)) return undefined;
  const alarm = host === action.host ? moved : { alarm: `${name} calls ${host} instead of ${action.host}`, ...moved };
  return { verb: 'updated', name: `${name} (${told(differing({ ...action.definition }, { ...definition }))})`, ...alarm };
}

/** `refund_order sends people's tokens to a.example instead of b.example. ` first, those that move tokens before others; '' without one. */
function alarms(changes: readonly ItemChange[]): string {
  const all = changes
    .filter(({ alarm }) => alarm !== undefined)
    .toSorted((a, b) => Number(b.movesTokens ?? false) - Number(a.movesTokens ?? false));
  const more = all.length - MOVES_TOLD_MAX;
  const parts = all.slice(0, MOVES_TOLD_MAX).map(({ alarm }) => `${alarm}. `);
  return parts.join('') + (more > 0 ? `${counted(more, 'more action')} ${more === 1 ? 'moves' : 'move'} to another host. ` : '');
}

function changesOfScreens({ db, appId }: Place, { screens = [], archive = [] }: ScreensBody): { body: ScreensBody; changes: ItemChange[] } {
  const changes: ItemChange[] = [];
  const declared = new Set(screens.map(({ name }) => name));
  const kept = screens.filter((screen) => {
    const before = readScreen(db, appId, screen.name);
    const isThere = before !== undefined && before.archivedAtMs === null;
    if (isThere && canonicalize(before.definition) === canonicalize(screen)) return false;
    const parts = isThere ? ` (${told(differing({ ...before.definition }, { ...screen }))})` : '';
    changes.push({ verb: isThere ? 'updated' : 'added', name: `${screen.name}${parts}` });
    return true;
  });
  const gone = archive.filter(({ name }) => {
    // What is both archived and declared ends declared.
    if (declared.has(name) || readScreen(db, appId, name)?.archivedAtMs !== null) return false;
    changes.push({ verb: 'archived', name });
    return true;
  });
  return { body: { screens: kept, archive: gone }, changes };
}

/** `2 sources updated: returns, sizes; 1 added: delivery`. */
function tallied(changes: readonly ItemChange[], one: string): string {
  const verbs = [...new Set(changes.map(({ verb }) => verb))];
  const parts = verbs.map((verb, at) => {
    const names = changes.filter((change) => change.verb === verb).map(({ name }) => clip(name, 2 * VALUE_MAX_CHARS));
    const what = at > 0 ? '' : names.length === 1 ? ` ${one}` : ` ${one}s`;
    return `${names.length}${what} ${verb}: ${listed(names)}`;
  });
  return parts.join('; ');
}

/** Items that change something. One whose key comes more than once stays: what it changes depends on the others. */
async function changing<Item extends { readonly external_key: string }>(
  items: readonly Item[],
  changeOf: (item: Item) => ItemChange | undefined,
): Promise<{ items: Item[]; changes: ItemChange[] }> {
  const keys = items.map(({ external_key }) => external_key);
  const isRepeated = (key: string) => keys.indexOf(key) !== keys.lastIndexOf(key);
  const kept: Item[] = [];
  const changes: ItemChange[] = [];
  for (const item of items) {
    // As when they are taken in: judging many takes long.
    await breathe();
    const change = changeOf(item) ?? (isRepeated(item.external_key) ? { verb: 'updated', name: item.external_key } : undefined);
    if (change === undefined) continue;
    kept.push(item);
    changes.push(change);
  }
  return { items: kept, changes };
}

async function changed(place: Place, write: SetupWrite, logoHash: string | null): Promise<Changes> {
  switch (write.kind) {
    case 'appearance':
    case 'logo':
      return changesOfLook(place, write, logoHash);
    case 'experience':
      return changesOfPersona(place, write);
    case 'knowledge': {
      const { items, changes } = await changing(write.items, (item) => changeOfSource(place, item));
      return { write: items.length === 0 ? null : { ...write, items }, summary: tallied(changes, 'source') };
    }
    case 'actions': {
      const { items, changes } = await changing(write.items, (item) => changeOfAction(place, item));
      return { write: items.length === 0 ? null : { ...write, items }, summary: tallied(changes, 'action'), alarms: alarms(changes) };
    }
    case 'screens': {
      const { body, changes } = changesOfScreens(place, write.body);
      return { write: changes.length === 0 ? null : { ...write, body }, summary: tallied(changes, 'screen') };
    }
  }
}

/** What of `write` changes something, and what that is. `logoHash`: of its logo as it would be stored, hex SHA-256; null where it has none. */
export async function changesOf(place: Place, write: SetupWrite, logoHash: string | null): Promise<Changes> {
  const { write: kept, summary, alarms: first = '' } = await changed(place, write, logoHash);
  return { write: kept, summary: kept === null ? '' : `${first}${clip(summary, SUMMARY_MAX_CHARS - 1)}.` };
}
