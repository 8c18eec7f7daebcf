/** What a write would change in an app as it is now (PROPOSAL-8, PROPOSAL-10). It judges no item: `checks.ts` has done that. */
import { createHash } from 'node:crypto';
import { setImmediate as breathe } from 'node:timers/promises';
import canonicalize from 'canonicalize';
import { clip } from '../../protocol/schema/text.ts';
import type { HttpAction } from '../../protocol/setup/action-rules.ts';
import { type AppearanceDraft, replaceAppearance } from '../../protocol/setup/appearance.ts';
import { madeChoice } from '../../protocol/setup/model-choice.ts';
import type { ScreensBody } from '../../protocol/setup/screens.ts';
import type { SetupWrite } from '../../protocol/setup/writes.ts';
import { readAsset } from '../../storage/apps/assets.ts';
import { readDraft } from '../../storage/apps/drafts.ts';
import { hostOf, readActionByKey, tokensMovedFrom } from '../../storage/apps/http-actions.ts';
import { readScreen } from '../../storage/apps/screens.ts';
import { contentHashOf, readSourceByKey, type SourceInput } from '../../storage/knowledge/knowledge.ts';
import type { RehearsedWrite } from '../../storage/setup/rehearsals.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { CheckedWrite } from './checks.ts';
import { keepItems } from './proposal-merge.ts';
import { counted, listed } from './text-format.ts';

/** People read summaries in a list. */
const SUMMARY_MAX_CHARS = 600;
const VALUE_MAX_CHARS = 60;
/** How much is shown before the first difference of two texts. */
const SAME_SHOWN_CHARS = 20;
/** Moves that are told with their hosts; the others are counted. A host is never cut short, because its end says whose it is. */
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

interface ItemChange {
  readonly verb: string;
  readonly name: string;
  readonly alarm?: string;
  readonly movesTokens?: boolean;
}

interface AppRows {
  readonly db: Connection;
  readonly appId: string;
}

function quoted(text: string): string {
  return text.startsWith('#') ? text : `“${clip(text, VALUE_MAX_CHARS)}”`;
}

function shown(value: unknown): string {
  if (value === undefined || value === null || value === '') return 'none';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map((item) => quoted(String(item))).join(', ');
  return typeof value === 'string' ? quoted(value.replaceAll(/\s+/g, ' ').trim()) : String(value);
}

function differingParts(old: string, young: string): [string, string] {
  let same = 0;
  while (same < Math.min(old.length, young.length) && old[same] === young[same]) same += 1;
  const from = same - SAME_SHOWN_CHARS;
  if (from <= 0 || Math.max(old.length, young.length) <= VALUE_MAX_CHARS) return [old, young];
  return [`…${old.slice(from)}`, `…${young.slice(from)}`];
}

/** `“Brief.” → “Brief and friendly.”`; for lists what was added and what was removed. */
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

function isShown({ db, appId }: AppRows, draft: AppearanceDraft | null, logo: string): boolean {
  const id = draft?.theme.logoAssetId;
  const asset = id === undefined ? undefined : readAsset(db, appId, id);
  return asset !== undefined && createHash('sha256').update(asset.content).digest('hex') === logo;
}

function changesOfLook(rows: AppRows, write: Extract<SetupWrite, { kind: 'appearance' | 'logo' }>, logoHash: string | null): Changes {
  const draft = readDraft(rows.db, rows.appId)?.appearance ?? null;
  const content = write.kind === 'logo' ? write.content : write.logo;
  const parts = write.kind === 'logo' ? [] : lookDifferences(draft, replaceAppearance(draft, write.body));
  const hasLook = parts.length > 0;
  const hasLogo = content !== undefined && (logoHash === null || !isShown(rows, draft, logoHash));
  if (hasLogo) parts.push(`a new logo of ${Math.ceil(Buffer.byteLength(content, 'base64') / 1024)} KB`);
  const summary = told(parts);
  if (hasLook && write.kind === 'appearance') {
    const { logo: _, ...body } = write;
    return { write: hasLogo ? write : body, summary };
  }
  return { write: hasLogo ? { kind: 'logo', content } : null, summary };
}

function changesOfPersona({ db, appId }: AppRows, { patch }: Extract<SetupWrite, { kind: 'experience' }>): Changes {
  const draft = readDraft(db, appId)?.experience;
  const before: Readonly<Record<string, unknown>> = { ...draft };
  const choice = patch.model === undefined ? [] : differences(madeChoice(draft?.model), madeChoice(patch.model), 'model ');
  const changed = Object.entries(patch).filter(([field, value]) =>
    field === 'model' ? choice.length > 0 : field !== 'reason' && JSON.stringify(before[field]) !== JSON.stringify(value),
  );
  if (changed.length === 0) return { write: null, summary: '' };
  const kept = patch.reason === undefined ? changed : [...changed, ['reason', patch.reason]];
  const { model: _, ...after } = Object.fromEntries(changed) as typeof patch;
  const old = Object.fromEntries(Object.keys(after).map((field) => [field, before[field]]));
  const summary = told([...differences(old, after), ...choice]);
  return { write: { kind: 'experience', patch: Object.fromEntries(kept) as typeof patch }, summary };
}

/** Undefined: sending it changes nothing. A link that is sent again is read again. */
function changeOfSource({ db, appId }: AppRows, input: SourceInput): ItemChange | undefined {
  const name = input.externalKey;
  const source = readSourceByKey(db, appId, name);
  if (source === undefined) return { verb: 'added', name };
  if (source.archivedAtMs !== null || source.contentHash !== contentHashOf(input)) return { verb: 'updated', name };
  return input.kind === 'url' || source.state === 'failed' ? { verb: 'read again', name } : undefined;
}

function changeOfAction({ db, appId }: AppRows, proposed: HttpAction): ItemChange | undefined {
  const action = inService(readActionByKey(db, appId, proposed.external_key));
  const { reason: _, ...definition } = proposed;
  const { name, risk, method } = definition;
  const host = hostOf(definition);
  const from = tokensMovedFrom(db, appId, proposed, host);
  const moved = from === undefined ? {} : { alarm: `${name} sends people's tokens to ${host} instead of ${from}`, movesTokens: true };
  if (action === undefined) return { verb: 'added', name: `${name} (${risk}, ${method} ${host})`, ...moved };
  const fields = differing({ ...action.definition }, { ...definition });
  if (fields.length === 0) return undefined;
  const alarm = host === action.host ? moved : { alarm: `${name} calls ${host} instead of ${action.host}`, ...moved };
  return { verb: 'updated', name: `${name} (${told(fields)})`, ...alarm };
}

function inService<Row extends { readonly archivedAtMs: number | null }>(row: Row | undefined): Row | undefined {
  return row?.archivedAtMs === null ? row : undefined;
}

function changeOf(rows: AppRows, { name, input }: RehearsedWrite): ItemChange | undefined {
  const { db, appId } = rows;
  if (name === 'addSource') return changeOfSource(rows, input);
  if (name === 'upsertAction') return changeOfAction(rows, input.action);
  if (name === 'declareScreens') return undefined;
  const { externalKey } = input;
  const archived =
    name === 'archiveAction'
      ? inService(readActionByKey(db, appId, externalKey))?.name
      : inService(readSourceByKey(db, appId, externalKey))?.externalKey;
  return archived === undefined ? undefined : { verb: 'archived', name: archived };
}

/** `refund_order sends people's tokens to a.example instead of b.example. ` Alarms about tokens come first; '' when there is none. */
function alarms(changes: readonly ItemChange[]): string {
  const all = changes
    .filter(({ alarm }) => alarm !== undefined)
    .toSorted((a, b) => Number(b.movesTokens ?? false) - Number(a.movesTokens ?? false));
  const more = all.length - MOVES_TOLD_MAX;
  const parts = all.slice(0, MOVES_TOLD_MAX).map(({ alarm }) => `${alarm}. `);
  return parts.join('') + (more > 0 ? `${counted(more, 'more action')} ${more === 1 ? 'moves' : 'move'} to another host. ` : '');
}

function changesOfScreens(
  { db, appId }: AppRows,
  { screens = [], archive = [] }: ScreensBody,
): { body: ScreensBody; changes: ItemChange[] } {
  const changes: ItemChange[] = [];
  const declared = new Set(screens.map(({ name }) => name));
  const kept = screens.filter((screen) => {
    const before = inService(readScreen(db, appId, screen.name));
    const fields = differing({ ...before?.definition }, { ...screen });
    if (before === undefined) changes.push({ verb: 'added', name: screen.name });
    else if (fields.length > 0) changes.push({ verb: 'updated', name: `${screen.name} (${told(fields)})` });
    return before === undefined || fields.length > 0;
  });
  const gone = archive.filter(({ name }) => {
    // A screen that is both archived and declared ends up declared.
    if (declared.has(name) || inService(readScreen(db, appId, name)) === undefined) return false;
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

/** An item whose key the batch holds more than once counts as a change. `writes` are those of `items`, in their order. */
async function changesOfItems(
  rows: AppRows,
  items: readonly { readonly external_key: string }[],
  writes: readonly RehearsedWrite[],
): Promise<(ItemChange | undefined)[]> {
  const keys = items.map(({ external_key }) => external_key);
  const changes: (ItemChange | undefined)[] = [];
  for (const [at, write] of writes.entries()) {
    // Comparing fifty of the longest texts takes long: other requests come in between.
    await breathe();
    const name = keys[at] ?? '';
    const isRepeated = keys.indexOf(name) !== keys.lastIndexOf(name);
    changes.push(changeOf(rows, write) ?? (isRepeated ? { verb: 'updated', name } : undefined));
  }
  return changes;
}

async function changed(rows: AppRows, { write, writes }: CheckedWrite, logoHash: string | null): Promise<Changes> {
  switch (write.kind) {
    case 'appearance':
    case 'logo':
      return changesOfLook(rows, write, logoHash);
    case 'experience':
      return changesOfPersona(rows, write);
    case 'knowledge':
    case 'actions': {
      const all = await changesOfItems(rows, write.items, writes);
      const changes = all.filter((change) => change !== undefined);
      const kept = changes.length === 0 ? null : keepItems(write, (at) => all[at] !== undefined);
      return { write: kept, summary: tallied(changes, write.kind === 'knowledge' ? 'source' : 'action'), alarms: alarms(changes) };
    }
    case 'screens': {
      const { body, changes } = changesOfScreens(rows, write.body);
      return { write: changes.length === 0 ? null : { ...write, body }, summary: tallied(changes, 'screen') };
    }
  }
}

/** `logoHash`: hash of its logo as it would be stored, hex SHA-256; null where it has none. */
export async function changesOf(rows: AppRows, checked: CheckedWrite, logoHash: string | null): Promise<Changes> {
  const { write, summary, alarms: first = '' } = await changed(rows, checked, logoHash);
  return { write, summary: write === null ? '' : `${first}${clip(summary, SUMMARY_MAX_CHARS - 1)}.` };
}
