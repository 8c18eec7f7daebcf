/** Screens declared for an app (SCREEN-1, SCREEN-2): plans until a build's manifest names them, which is read there and never stored here. */
import canonicalize from 'canonicalize';
import { Refusal } from '../../protocol/errors.ts';
import type { ScreenArchiveEntry, ScreenDeclaration } from '../../protocol/setup/screens.ts';
import { columns, countRows, insert, integer, json, orNull, type RowOf, readValues, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { requireAppRow } from './apps.ts';
import { latestManifest, latestRoutes } from './manifests.ts';

/** Screens in service at the same time. A build registers at most 50; an app has a few builds. */
export const SCREENS_PER_APP_MAX = 500;
/** Beyond this the oldest archived screens are deleted, so that archiving always makes room. */
export const ARCHIVED_SCREENS_KEPT = 500;
/** Builds in use are among the latest manifests. An app may have hundreds; the rest are not read. */
const MANIFESTS_LOOKED_AT = 20;

const screenRow = columns({
  name: text,
  definition: json<ScreenDeclaration>(),
  origin: text,
  reason: orNull(text),
  archivedAtMs: orNull(integer),
  createdAtMs: integer,
  updatedAtMs: integer,
});

export type ScreenRecord = RowOf<typeof screenRow>;

export function listScreens(db: Connection, appId: string, after: string, limit: number): ScreenRecord[] {
  const from = 'FROM screens WHERE app_id = :appId AND name > :after ORDER BY name LIMIT :limit';
  return screenRow.all(db, from, { appId, after, limit });
}

export function readScreen(db: Connection, appId: string, name: string): ScreenRecord | undefined {
  return screenRow.get(db, 'FROM screens WHERE app_id = :appId AND name = :name', { appId, name });
}

function declaredNames(db: Connection, appId: string): string[] {
  return readValues(db, text, 'SELECT name FROM screens WHERE app_id = :appId AND archived_at_ms IS NULL', { appId });
}

export function countScreens(db: Connection, appId: string): number {
  return countRows(db, 'FROM screens WHERE app_id = :appId AND archived_at_ms IS NULL', { appId });
}

/** How many declared screens the latest manifest does not register; without one, all of them (GET /status). */
export function screensMissing(db: Connection, appId: string): number {
  const registered = new Set(latestManifest(db, appId)?.document.routes.map((route) => route.name));
  return declaredNames(db, appId).filter((name) => !registered.has(name)).length;
}

export function registeredScreens(db: Connection, appId: string): ReadonlySet<string> {
  return latestRoutes(db, appId, MANIFESTS_LOOKED_AT);
}

export function countPlanned(db: Connection, appId: string, registered = registeredScreens(db, appId)): number {
  return declaredNames(db, appId).filter((name) => !registered.has(name)).length;
}

interface DeclareScreens {
  readonly appId: string;
  readonly screens: readonly ScreenDeclaration[];
  readonly archive: readonly ScreenArchiveEntry[];
  readonly origin: string;
  readonly nowMs: number;
}

interface DeclaredScreens {
  readonly added: readonly string[];
  readonly updated: readonly string[];
  readonly unchanged: readonly string[];
  readonly archived: readonly string[];
  readonly unknown: readonly string[];
}

function archiveScreen(db: Connection, input: DeclareScreens, { name, reason }: ScreenArchiveEntry): 'archived' | 'unknown' {
  const screen = readScreen(db, input.appId, name);
  if (screen === undefined) return 'unknown';
  if (screen.archivedAtMs === null) {
    const update =
      'UPDATE screens SET archived_at_ms = :nowMs, reason = :reason, updated_at_ms = :nowMs WHERE app_id = :appId AND name = :name';
    db.statement(update).run({ appId: input.appId, name, reason: reason ?? null, nowMs: input.nowMs });
  } else if (reason !== undefined && reason !== screen.reason) {
    db.statement('UPDATE screens SET reason = :reason WHERE app_id = :appId AND name = :name').run({ appId: input.appId, name, reason });
  }
  return 'archived';
}

/** The same declaration is `unchanged` and writes nothing; an archived screen declared again comes back. */
function declareScreen(db: Connection, input: DeclareScreens, screen: ScreenDeclaration): 'added' | 'updated' | 'unchanged' {
  const { appId, origin, nowMs } = input;
  // Canonical, so that the order of fields makes no difference.
  const document = canonicalize(screen) ?? '{}';
  const before = readScreen(db, appId, screen.name);
  if (before !== undefined && before.archivedAtMs === null && canonicalize(before.definition) === document) return 'unchanged';
  const row = { appId, name: screen.name, definition: document, origin, createdAtMs: nowMs, updatedAtMs: nowMs };
  const again = `ON CONFLICT (app_id, name) DO UPDATE SET definition = excluded.definition, origin = excluded.origin, reason = NULL,
    archived_at_ms = NULL, updated_at_ms = excluded.updated_at_ms`;
  insert(db, 'screens', row, again);
  return before === undefined ? 'added' : 'updated';
}

function forgetOldest(db: Connection, appId: string): void {
  const remove = `DELETE FROM screens WHERE app_id = :appId AND name IN (SELECT name FROM screens
      WHERE app_id = :appId AND archived_at_ms IS NOT NULL ORDER BY archived_at_ms DESC, name LIMIT -1 OFFSET :kept)`;
  db.statement(remove).run({ appId, kept: ARCHIVED_SCREENS_KEPT });
}

/** All or none. What is both archived and declared ends declared. @throws Refusal not_found (the app); conflict when there are too many. */
function declareScreens(db: Connection, input: DeclareScreens): DeclaredScreens {
  const { appId } = input;
  requireAppRow(db, appId);
  const outcome: Record<keyof DeclaredScreens, string[]> = { added: [], updated: [], unchanged: [], archived: [], unknown: [] };
  const archive = new Map(input.archive.map((entry) => [entry.name, entry]));
  for (const entry of archive.values()) outcome[archiveScreen(db, input, entry)].push(entry.name);
  for (const screen of input.screens) outcome[declareScreen(db, input, screen)].push(screen.name);
  if (countScreens(db, appId) > SCREENS_PER_APP_MAX) {
    throw new Refusal('conflict', `An app has at most ${SCREENS_PER_APP_MAX} declared screens: archive some first.`);
  }
  forgetOldest(db, appId);
  return outcome;
}

export const transactions = { declareScreens };
