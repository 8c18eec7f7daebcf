/**
 * The shared keys that a person entered for the hosts of HTTP actions (SERVERACTION-10).
 *
 * Invariants: a key belongs to the host (name and port) it was entered for, and never follows an action to another one. The right to
 * rewrite an address must not suffice to send a key there. A key is stored sealed and leaves only through
 * readSharedKey. Putting one in place switches the actions of its host on (see http-actions.ts).
 */
import { Refusal } from '../../protocol/errors.ts';
import type { Vault } from '../secrets/vault.ts';
import { blob, columns, flag, insert, readValue, readValues, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { readAction, touchActions } from './http-actions.ts';

const actionHost = columns({ host: text.from('a.host'), hasKey: flag.from('k.host IS NOT NULL') });

export function readSharedKey(db: Connection, appId: string, host: string): Buffer | undefined {
  return readValue(db, blob, 'SELECT sealed FROM shared_keys WHERE app_id = :appId AND host = :host', { appId, host });
}

/** The purpose a key is sealed for: a row copied to another app or host does not open there. */
function purposeOf(appId: string, host: string): string {
  return `shared-key:${appId}:${host}`;
}

/** Seals a key for this host; sealing needs the master key, which the writer thread does not have. */
export function sealSharedKey(vault: Vault, appId: string, host: string, value: string): Buffer {
  return vault.seal(purposeOf(appId, host), Buffer.from(value, 'utf8'));
}

export function openSharedKey(vault: Vault, appId: string, host: string, sealed: Uint8Array): string {
  return vault.open(purposeOf(appId, host), sealed).toString('utf8');
}

function keyedActions(db: Connection, appId: string, host: string): string[] {
  const select = `SELECT name FROM http_actions WHERE app_id = :appId AND host = :host AND archived_at_ms IS NULL
      AND json_extract(definition, '$.needs_key') IS NOT NULL ORDER BY name`;
  return readValues(db, text, select, { appId, host });
}

interface SharedKeyChange {
  readonly hosts: readonly string[];
  readonly actions: readonly string[];
}

/** Replaces an earlier key. @throws Refusal not_found; conflict when the action declares no key, or calls another host than the sealed one. */
function setSharedKey(
  db: Connection,
  input: { appId: string; name: string; host: string; sealed: Uint8Array; nowMs: number },
): SharedKeyChange {
  const { appId, name, host, sealed, nowMs } = input;
  const action = readAction(db, appId, name);
  if (action === undefined) throw new Refusal('not_found', `The app has no action ${name} in service.`);
  if (action.definition.needs_key === undefined) throw new Refusal('conflict', `The action ${name} declares no needs_key.`);
  if (action.host !== host) throw new Refusal('conflict', `The action ${name} calls ${action.host} now. Enter the key of that host.`);
  const again = 'ON CONFLICT (app_id, host) DO UPDATE SET sealed = excluded.sealed, updated_at_ms = excluded.updated_at_ms';
  insert(db, 'shared_keys', { appId, host, sealed, updatedAtMs: nowMs }, again);
  touchActions(db, appId);
  return { hosts: [host], actions: keyedActions(db, appId, host) };
}

/** Hosts whose key removing the key of `name` takes: its own (in service, or else archived), and any that no action calls. */
function keysToRemove(db: Connection, appId: string, name: string): string[] {
  const rows = `FROM http_actions a LEFT JOIN shared_keys k ON k.app_id = a.app_id AND k.host = a.host
    WHERE a.app_id = :appId AND a.name = :name ORDER BY a.archived_at_ms IS NOT NULL, a.archived_at_ms DESC`;
  const actions = actionHost.all(db, rows, { appId, name });
  if (actions.length === 0) return [];
  const own = actions.find(({ hasKey }) => hasKey);
  // An action whose address changed leaves its key behind, and no action's name leads to that key any more.
  const from = 'FROM shared_keys WHERE app_id = :appId AND host NOT IN (SELECT host FROM http_actions WHERE app_id = :appId)';
  return [...(own === undefined ? [] : [own.host]), ...readValues(db, text, `SELECT host ${from}`, { appId })];
}

/** Also removes keys left behind at hosts that no action of the app calls. @throws Refusal not_found without such an action or key. */
function deleteSharedKey(db: Connection, input: { appId: string; name: string }): SharedKeyChange {
  const { appId, name } = input;
  const hosts = keysToRemove(db, appId, name);
  if (hosts.length === 0) throw new Refusal('not_found', `The app has no action ${name} with a key.`);
  for (const host of hosts) db.statement('DELETE FROM shared_keys WHERE app_id = :appId AND host = :host').run({ appId, host });
  touchActions(db, appId);
  return { hosts, actions: hosts.flatMap((host) => keyedActions(db, appId, host)) };
}

export const transactions = { setSharedKey, deleteSharedKey };
