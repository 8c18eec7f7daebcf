/**
 * What of a write is looked at before a person decides about it: whether applying it would take it, and what it would
 * replace (PROPOSAL-3). Reads only.
 */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { type ContrastWarning, contrastWarnings } from '../../protocol/appearance/contrast.ts';
import { Refusal } from '../../protocol/errors.ts';
import { type HttpActionShape, judgeHttpAction, type Surroundings } from '../../protocol/setup/actions.ts';
import { replaceAppearance } from '../../protocol/setup/appearance.ts';
import { judgeKnowledgeItem, type KnowledgeItemShape } from '../../protocol/setup/knowledge.ts';
import type { ScreensBody } from '../../protocol/setup/screens.ts';
import type { SetupWrite } from '../../protocol/setup/writes.ts';
import { requireAppearanceDraft } from '../../storage/apps/assets.ts';
import { readDraft } from '../../storage/apps/drafts.ts';
import { ACTIONS_PER_APP_MAX, countActions, readAction, readActionByKey } from '../../storage/apps/http-actions.ts';
import { countScreens, readScreen, SCREENS_PER_APP_MAX } from '../../storage/apps/screens.ts';
import { countSources, NO_ROOM_FOR_SOURCES, readSourceByKey, SOURCES_PER_APP_MAX } from '../../storage/knowledge/knowledge.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { IntakeTarget } from './target.ts';
import { requireKnownLogo, type WriteServices } from './writes.ts';

interface RefusedItem {
  readonly external_key: string;
  readonly ok: false;
  readonly error: string;
}

type ItemResult = { readonly external_key: string; readonly ok: true; readonly op: 'proposed' | 'unchanged' } | RefusedItem;

/** A write as far as it may be proposed. */
export interface CheckedWrite {
  readonly write: SetupWrite;
  /** Of each item of a batch, in its order. */
  readonly results?: readonly ItemResult[];
  /** Of an appearance. */
  readonly warnings?: readonly ContrastWarning[];
}

/** What a session proposed before that a newer write of its own is judged with. */
export interface Rivals {
  /** Keys of items that wait: they may be archived, which takes them back. */
  readonly keys: ReadonlySet<string>;
  /** Whether an appearance is among them: a logo has something to be set in. */
  readonly hasAppearance: boolean;
}

const NO_RIVALS: Rivals = { keys: new Set(), hasAppearance: false };

interface Judged<Item> {
  readonly accepted: readonly Item[];
  readonly results: readonly ItemResult[];
}

/** `errorOf` says what is wrong with an item, and remembers of those that it lets pass what later ones have to know. */
function judged<Item extends { external_key: string }>(items: readonly Item[], errorOf: (item: Item) => string | undefined): Judged<Item> {
  const accepted: Item[] = [];
  const results = items.map((item): ItemResult => {
    const { external_key } = item;
    const error = errorOf(item);
    if (error !== undefined) return { external_key, ok: false, error };
    accepted.push(item);
    return { external_key, ok: true, op: 'proposed' };
  });
  return { accepted, results };
}

function judgedKnowledge(
  db: Connection,
  appId: string,
  items: readonly KnowledgeItemShape[],
  rivals: ReadonlySet<string>,
): Judged<KnowledgeItemShape> {
  const added = new Set<string>();
  const stored = countSources(db, appId);
  return judged(items, (item) => {
    const verdict = judgeKnowledgeItem(item);
    if (verdict.form === 'refused') return verdict.error;
    const { external_key: key } = item;
    if (added.has(key) || readSourceByKey(db, appId, key) !== undefined) return undefined;
    if (verdict.form === 'archive') return rivals.has(key) ? undefined : 'external_key names no source of this app';
    if (stored + added.size >= SOURCES_PER_APP_MAX) return NO_ROOM_FOR_SOURCES;
    added.add(key);
    return undefined;
  });
}

function judgedActions(
  db: Connection,
  appId: string,
  items: readonly HttpActionShape[],
  surroundings: Surroundings,
  rivals: ReadonlySet<string>,
): Judged<HttpActionShape> {
  /** Names of the actions that the items so far wrote, by external key; null for an archived one. */
  const written = new Map<string, string | null>();
  const { enabled, needsKey } = countActions(db, appId);
  let inService = enabled + needsKey;
  const isInService = (key: string): boolean => {
    if (written.has(key)) return written.get(key) !== null;
    return readActionByKey(db, appId, key)?.archivedAtMs === null;
  };
  const holderOf = (name: string): string | undefined => {
    for (const [key, taken] of written) if (taken === name) return key;
    const holder = readAction(db, appId, name)?.externalKey;
    return holder === undefined || written.has(holder) ? undefined : holder;
  };
  return judged(items, (item) => {
    const verdict = judgeHttpAction(item, surroundings);
    if (verdict.form === 'refused') return verdict.error;
    const { external_key: key } = item;
    const wasInService = isInService(key);
    if (verdict.form === 'archive') {
      const isKnown = written.has(key) || rivals.has(key) || readActionByKey(db, appId, key) !== undefined;
      if (!isKnown) return 'external_key names no action of this app';
      written.set(key, null);
      if (wasInService) inService -= 1;
      return undefined;
    }
    const { name } = verdict.item;
    const holder = holderOf(name);
    if (holder !== undefined && holder !== key) {
      return `name ${name} belongs to the action with external_key ${holder}: names must be unique`;
    }
    if (!wasInService && inService >= ACTIONS_PER_APP_MAX)
      return `An app has at most ${ACTIONS_PER_APP_MAX} HTTP actions: archive one first.`;
    written.set(key, name);
    if (!wasInService) inService += 1;
    return undefined;
  });
}

/** Items that applying the write would refuse by now. A write without items is applied as a whole or not at all. */
export function refusedItems({ surroundings }: WriteServices, db: Connection, appId: string, write: SetupWrite): readonly RefusedItem[] {
  const resultsOf = (): readonly ItemResult[] => {
    if (write.kind === 'knowledge') return judgedKnowledge(db, appId, write.items, NO_RIVALS.keys).results;
    return write.kind === 'actions' ? judgedActions(db, appId, write.items, surroundings, NO_RIVALS.keys).results : [];
  };
  return resultsOf().filter((result) => !result.ok);
}

/** @throws Refusal conflict when the app would have more screens than it may. */
function refuseTooManyScreens(db: Connection, appId: string, { screens = [], archive = [] }: ScreensBody): void {
  const declared = new Set(screens.map(({ name }) => name));
  const archived = new Set(archive.map(({ name }) => name).filter((name) => !declared.has(name)));
  const inService = (name: string) => readScreen(db, appId, name)?.archivedAtMs === null;
  const added = [...declared].filter((name) => !inService(name)).length;
  const gone = [...archived].filter(inService).length;
  if (countScreens(db, appId) + added - gone > SCREENS_PER_APP_MAX) {
    throw new Refusal('conflict', `An app has at most ${SCREENS_PER_APP_MAX} declared screens: archive some first.`);
  }
}

/**
 * Checks the write as applying it would, and changes nothing; items of a batch that would not be saved are left out. An image is
 * examined before.
 * @throws Refusal as applying it would.
 */
export function checkWrite(
  services: WriteServices,
  { organisationId, appId }: IntakeTarget,
  write: SetupWrite,
  rivals: Rivals,
): CheckedWrite {
  const db = services.storage.organisation(organisationId);
  switch (write.kind) {
    case 'appearance': {
      requireKnownLogo(db, appId, write.body);
      return { write, warnings: contrastWarnings(replaceAppearance(readDraft(db, appId)?.appearance ?? null, write.body)) };
    }
    case 'logo':
      if (!rivals.hasAppearance) requireAppearanceDraft(db, appId);
      return { write };
    case 'experience':
      return { write };
    case 'knowledge': {
      const { accepted, results } = judgedKnowledge(db, appId, write.items, rivals.keys);
      return { write: { ...write, items: accepted }, results };
    }
    case 'actions': {
      const { accepted, results } = judgedActions(db, appId, write.items, services.surroundings, rivals.keys);
      return { write: { ...write, items: accepted }, results };
    }
    case 'screens':
      refuseTooManyScreens(db, appId, write.body);
      return { write };
  }
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
