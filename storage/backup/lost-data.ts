/**
 * Keeps a data directory that lost its control file or its master key from being taken for a new one, and one that was sealed with another
 * key from being served. Creating these files anew would silently hide every organisation, or make everything sealed unreadable.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { isId } from '../../protocol/ids.ts';
import { openIdentitySecret } from '../apps/identity-secrets.ts';
import type { DataLayout } from '../data-layout.ts';
import { transactions as installation, readInstallation } from '../organisations/installation.ts';
import { requireFile } from '../organisations/organisation-file.ts';
import type { Vault } from '../secrets/vault.ts';
import { blob, columns, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { reading } from '../sqlite/database.ts';
import { writing } from '../sqlite/log-emptying.ts';
import { isRefusedByDisk } from '../sqlite/storage-error.ts';
import { masterKeyFingerprint } from './backup-manifest.ts';

function organisationsIn({ organisations }: DataLayout): number {
  return readdirSync(organisations).filter((name) => name.endsWith('.sqlite') && isId('org', basename(name, '.sqlite'))).length;
}

/** @throws Error with what is missing and what to do. */
export function refuseLostData(layout: DataLayout, masterKey: string | undefined): void {
  const there = organisationsIn(layout);
  if (there === 0) return;
  const whatToDo = 'Put it back (docs/backups.md, "A file is missing or damaged"), or give another DATA_DIR.';
  if ((statSync(layout.control, { throwIfNoEntry: false })?.size ?? 0) === 0) {
    throw new Error(`${layout.control} is missing or empty, and there are files of ${there} organisations beside it. ${whatToDo}`);
  }
  if (masterKey === undefined && !existsSync(layout.masterKey)) {
    throw new Error(`${layout.masterKey} is missing, and MASTER_KEY is not set: what is stored here was sealed with a key. ${whatToDo}`);
  }
}

/** The fingerprint of the key that a directory is sealed with. */
const KEY_NOTE = 'master_key';
/** Apps that are tried for a sealed secret, in a directory of a release that noted no key: the file of each but one would have to be away. */
const APPS_TRIED = 10;
const someApp = columns({ id: text.from('app_id'), organisationId: text.from('organisation_id') });

const sealedSecret = columns({ sealed: blob.from('identity_secret') });

function readSealed(path: string, id: string): Buffer | undefined {
  requireFile(path);
  return reading(path, (db) => sealedSecret.get(db, 'FROM apps WHERE id = :id', { id })?.sealed);
}

/** Whether a secret in here opens with the key, or there is none; undefined: none can be read. */
function opensSecrets(layout: DataLayout, control: Connection, vault: Vault): boolean | undefined {
  const apps = someApp.all(control, `FROM app_directory ORDER BY created_at_ms LIMIT ${APPS_TRIED}`);
  for (const { id, organisationId } of apps) {
    let sealed: Buffer | undefined;
    try {
      sealed = readSealed(layout.organisation(organisationId), id);
    } catch {
      // It is away, damaged, locked or of an older schema, which is reported where it is used.
    }
    if (sealed === undefined) continue;
    try {
      openIdentitySecret(vault, id, sealed);
      return true;
    } catch {
      return false;
    }
  }
  return apps.length === 0 || undefined;
}

/**
 * Notes the key of a directory, at the first start that knows it.
 * @throws Error when the directory was sealed with another one: nothing of it could be opened.
 */
export function requireItsKey(layout: DataLayout, control: Connection, vault: Vault, masterKey: string | undefined): void {
  const fingerprint = masterKeyFingerprint(vault);
  const noted = readInstallation(control, KEY_NOTE);
  if (noted === fingerprint) return;
  const opens = noted === undefined ? opensSecrets(layout, control, vault) : false;
  if (opens === false) {
    const which = masterKey === undefined ? layout.masterKey : 'MASTER_KEY';
    throw new Error(`${which} is not the key that ${layout.dir} was sealed with. Set the key that it had, or give another DATA_DIR.`);
  }
  // A key that was not tried is not noted: it would keep the right one out.
  if (opens === undefined) return;
  try {
    writing(layout.control, (db) => installation.settleInstallation(db, { name: KEY_NOTE, value: fingerprint }), { mustExist: true });
  } catch (error) {
    // The next start notes it.
    if (!isRefusedByDisk(error)) throw error;
  }
}
