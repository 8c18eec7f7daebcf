/**
 * HTTP actions of an app (SERVERACTION-1).
 *
 * Invariant: an action that declares `needs_key` is switched on exactly while its host has a shared key (see
 * shared-keys.ts); nothing stores that twice.
 * Invariant: only people may change the host that receives the signed-in person's token (`token_host`). The holder of a setup token
 * must not be able to send people's tokens to a host of their own.
 */
import canonicalize from 'canonicalize';
import { LRUCache } from 'lru-cache';
import { Refusal } from '../../protocol/errors.ts';
import type { ActionDefinition, HttpAction } from '../../protocol/setup/action-rules.ts';
import { columns, countRows, flag, insert, integer, json, orNull, type RowOf, readValue, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { requireAppRow } from './apps.ts';

/** Actions in service at the same time. The model reads all of them on every turn; far fewer is wise. */
export const ACTIONS_PER_APP_MAX = 200;
/** Beyond this the oldest archived actions are deleted, so that archiving always makes room. */
export const ARCHIVED_ACTIONS_KEPT = 200;

const actionRow = columns({
  id: text,
  externalKey: text,
  name: text,
  host: text,
  definition: json<ActionDefinition>(),
  hasKey: flag.from('EXISTS (SELECT 1 FROM shared_keys k WHERE k.app_id = a.app_id AND k.host = a.host)'),
  origin: text,
  reason: orNull(text),
  archivedAtMs: orNull(integer),
  createdAtMs: integer,
  updatedAtMs: integer,
});

export interface HttpActionRecord extends RowOf<typeof actionRow> {
  readonly enabled: boolean;
}

function actionOf(row: RowOf<typeof actionRow>): HttpActionRecord {
  return { ...row, enabled: row.archivedAtMs === null && (row.definition.needs_key === undefined || row.hasKey) };
}

export function listActions(db: Connection, appId: string, after: string, limit: number): HttpActionRecord[] {
  const from = 'FROM http_actions a WHERE app_id = :appId AND id > :after ORDER BY id LIMIT :limit';
  return actionRow.all(db, from, { appId, after, limit }).map(actionOf);
}

/** Definitions are parsed once per change of an app; one is some 1 KB, and an app has a handful. */
const SWITCHED_ON_KEPT = 500;
const switchedOn = new LRUCache<string, SwitchedOn>({ max: SWITCHED_ON_KEPT });

interface SwitchedOn {
  readonly key: string;
  readonly actions: readonly ActionDefinition[];
}

/** The app's actions that the model may be offered: in service and not waiting for a key. Undefined when there are none. */
export function enabledActions(db: Connection, app: { readonly id: string; readonly revision: number }): SwitchedOn | undefined {
  const key = `${app.id}@${app.revision}`;
  let known = switchedOn.get(key);
  if (known === undefined) {
    const from = 'FROM http_actions a WHERE app_id = :appId AND archived_at_ms IS NULL ORDER BY name';
    const inService = actionRow.all(db, from, { appId: app.id }).map(actionOf);
    const enabled = inService.filter((action) => action.enabled);
    known = { key, actions: enabled.map(({ definition }) => definition) };
    switchedOn.set(key, known);
  }
  return known.actions.length === 0 ? undefined : known;
}

/** To be called when the offered actions change: cached copies are keyed by the app's revision. */
export function touchActions(db: Connection, appId: string): void {
  db.statement('UPDATE apps SET revision = revision + 1 WHERE id = :appId').run({ appId });
}

export function readAction(db: Connection, appId: string, name: string): HttpActionRecord | undefined {
  const row = actionRow.get(db, 'FROM http_actions a WHERE app_id = :appId AND name = :name AND archived_at_ms IS NULL', { appId, name });
  return row && actionOf(row);
}

export function readActionByKey(db: Connection, appId: string, externalKey: string): HttpActionRecord | undefined {
  const row = actionRow.get(db, 'FROM http_actions a WHERE app_id = :appId AND external_key = :externalKey', { appId, externalKey });
  return row === undefined ? undefined : actionOf(row);
}

/** Actions in service: those that are switched on, and those that wait for a key (facts.httpActions). */
export function countActions(db: Connection, appId: string): { readonly enabled: number; readonly needsKey: number } {
  // Uses only the two indexes: this runs at every write, and the definitions may have some megabytes.
  const inService = countRows(db, 'FROM http_actions WHERE app_id = :appId AND archived_at_ms IS NULL', { appId });
  const from = `FROM http_actions a WHERE a.app_id = :appId AND a.archived_at_ms IS NULL AND json_extract(a.definition, '$.needs_key') IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM shared_keys k WHERE k.app_id = a.app_id AND k.host = a.host)`;
  const needsKey = countRows(db, from, { appId });
  return { enabled: inService - needsKey, needsKey };
}

/** The host of an action's address, with the port when it is not its scheme's own. @throws TypeError when it is not an address. */
export function hostOf(action: Pick<HttpAction, 'url_template'>): string {
  return new URL(action.url_template).host;
}

function refuseTakenName(db: Connection, appId: string, { name, external_key }: HttpAction): void {
  const holder = readAction(db, appId, name);
  if (holder !== undefined && holder.externalKey !== external_key) {
    throw new Refusal('conflict', `name ${name} belongs to the action with external_key ${holder.externalKey}: names must be unique`);
  }
}

/** The host that gets people's tokens from this action (or its key, archived too) when they would now go to `host`; undefined: they stay. */
export function tokensMovedFrom(db: Connection, appId: string, action: HttpAction, host: string): string | undefined {
  if (action.auth !== 'user') return undefined;
  const select = `SELECT token_host FROM http_actions WHERE app_id = :appId AND (external_key = :externalKey OR name = :name) AND token_host <> :host
      AND NOT EXISTS (SELECT 1 FROM http_actions WHERE app_id = :appId AND external_key = :externalKey AND name = :name AND token_host = :host
        AND json_extract(definition, '$.auth') = 'user')`;
  return readValue(db, text, select, { appId, externalKey: action.external_key, name: action.name, host });
}

/** @throws Refusal conflict when the action would send people's tokens to a host that no person agreed to. */
function refuseMovedToken(db: Connection, { appId, action, origin }: UpsertAction, host: string): void {
  // A person entered this in the console, or approved it as a proposal.
  if (origin === 'console' || origin === 'proposal') return;
  const before = tokensMovedFrom(db, appId, action, host);
  if (before === undefined) return;
  throw new Refusal(
    'conflict',
    `url_template would send the signed-in person's token, which goes to ${before}, to ${host}: a person has to make this change in the console; list it in human_todos`,
  );
}

function refuseWithoutRoom(db: Connection, appId: string): void {
  if (countRows(db, 'FROM http_actions WHERE app_id = :appId AND archived_at_ms IS NULL', { appId }) >= ACTIONS_PER_APP_MAX) {
    throw new Refusal('conflict', `An app has at most ${ACTIONS_PER_APP_MAX} HTTP actions: archive one first.`);
  }
}

export interface UpsertAction {
  readonly actionId: string;
  readonly appId: string;
  readonly action: HttpAction;
  readonly origin: string;
  readonly nowMs: number;
}

interface UpsertedAction {
  readonly op: 'created' | 'updated' | 'unchanged';
  readonly id: string;
  /** Whether it waits for a key: it is switched off until then. */
  readonly needsKey: boolean;
}

function noteReason(db: Connection, action: HttpActionRecord, reason: string | undefined): void {
  if (reason === undefined || reason === action.reason) return;
  db.statement('UPDATE http_actions SET reason = :reason WHERE id = :id').run({ id: action.id, reason });
}

/**
 * Adds or updates the action of this key. An equal definition is `unchanged`, except for its reason. An archived action that is
 * sent again is back in service.
 * @throws Refusal conflict when another action has the name, or the app as many actions as it may; not_found (the app).
 */
function upsertAction(db: Connection, input: UpsertAction): UpsertedAction {
  const { appId, action, origin, nowMs } = input;
  const { reason, ...definition } = action;
  // Canonical, so that the order of fields makes no difference.
  const document = canonicalize(definition) ?? '{}';
  const before = readActionByKey(db, appId, action.external_key);
  const host = hostOf(action);
  const id = before?.id ?? input.actionId;
  const result = (op: UpsertedAction['op']): UpsertedAction => ({
    op,
    id,
    // It is in service, so only a missing key can keep it switched off.
    needsKey: readActionByKey(db, appId, action.external_key)?.enabled === false,
  });
  if (before !== undefined && before.archivedAtMs === null && canonicalize(before.definition) === document) {
    noteReason(db, before, reason);
    return result('unchanged');
  }
  refuseTakenName(db, appId, action);
  refuseMovedToken(db, input, host);
  if (before === undefined || before.archivedAtMs !== null) refuseWithoutRoom(db, appId);
  const tokenHost = action.auth === 'user' ? host : null;
  const row = { id, name: action.name, host, tokenHost, definition: document, origin, reason: reason ?? null, updatedAtMs: nowMs };
  if (before === undefined) {
    requireAppRow(db, appId);
    insert(db, 'http_actions', { ...row, appId, externalKey: action.external_key, createdAtMs: nowMs });
    touchActions(db, appId);
    return result('created');
  }
  const update = `UPDATE http_actions SET name = :name, host = :host, token_host = coalesce(:tokenHost, token_host),
      definition = :definition, origin = :origin, reason = :reason, archived_at_ms = NULL, updated_at_ms = :updatedAtMs
    WHERE id = :id`;
  db.statement(update).run(row);
  touchActions(db, appId);
  return result('updated');
}

export interface ArchivedAction {
  readonly appId: string;
  readonly externalKey: string;
  readonly reason: string | undefined;
  readonly nowMs: number;
}

/** The key of its host stays, and its reason unless another is given. Idempotent. @throws Refusal not_found. */
function archiveAction(db: Connection, { appId, externalKey, reason, nowMs }: ArchivedAction): { id: string; name: string } {
  const action = readActionByKey(db, appId, externalKey);
  if (action === undefined) throw new Refusal('not_found', 'external_key names no action of this app');
  if (action.archivedAtMs !== null) noteReason(db, action, reason);
  else {
    const update =
      'UPDATE http_actions SET archived_at_ms = :nowMs, reason = coalesce(:reason, reason), updated_at_ms = :nowMs WHERE id = :id';
    db.statement(update).run({ id: action.id, reason: reason ?? null, nowMs });
    const remove = `DELETE FROM http_actions WHERE id IN (SELECT id FROM http_actions WHERE app_id = :appId AND archived_at_ms IS NOT NULL
        ORDER BY archived_at_ms DESC, id DESC LIMIT -1 OFFSET :kept)`;
    db.statement(remove).run({ appId, kept: ARCHIVED_ACTIONS_KEPT });
    touchActions(db, appId);
  }
  return { id: action.id, name: action.name };
}

export const transactions = { upsertAction, archiveAction };
