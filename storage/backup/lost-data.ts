/**
 * Keeps a data directory that lost its control file or its master key from being taken for a new one, and one that was sealed with another
 * key from being served. Creating these files anew would silently hide every organisation, or make everything sealed unreadable.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { isId } from '../../protocol/ids.ts';
import { readIdentitySecrets } from '../apps/identity-secrets.ts';
import type { DataLayout } from '../data-layout.ts';
import { transactions as installation, readInstallation } from '../organisations/installation.ts';
import type { Vault } from '../secrets/vault.ts';
import { columns, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { openReader, openWriter } from '../sqlite/database.ts';
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

/** Whether a secret in here opens with the key, or there is none to try. */
function opensSecrets(layout: DataLayout, control: Connection, vault: Vault): boolean {
  for (const { id, organisationId } of someApp.all(control, `FROM app_directory ORDER BY created_at_ms LIMIT ${APPS_TRIED}`)) {
    let db: Connection;
    try {
      db = openReader(layout.organisation(organisationId));
    } catch {
      // It is away or damaged, which is reported where it is used.
      continue;
    }
    try {
      const sealed = db.statement('SELECT 1 FROM apps WHERE id = :id').get({ id });
      if (sealed === undefined) continue;
      readIdentitySecrets(db, vault, id, 0);
      return true;
    } catch {
      return false;
    } finally {
      db.close();
    }
  }
  return true;
}

/**
 * Notes the key of a directory, at the first start that knows it.
 * @throws Error when the directory was sealed with another one: nothing of it could be opened.
 */
export function requireItsKey(layout: DataLayout, control: Connection, vault: Vault, masterKey: string | undefined): void {
  const fingerprint = masterKeyFingerprint(vault);
  const noted = readInstallation(control, KEY_NOTE);
  if (noted === fingerprint) return;
  if (noted !== undefined || !opensSecrets(layout, control, vault)) {
    const which = masterKey === undefined ? layout.masterKey : 'MASTER_KEY';
    throw new Error(`${which} is not the key that ${layout.dir} was sealed with. Set the key that it had, or give another DATA_DIR.`);
  }
  try {
    const db = openWriter(layout.control, { mustExist: true });
    try {
      installation.settleInstallation(db, { name: KEY_NOTE, value: fingerprint });
    } finally {
      db.close();
    }
  } catch (error) {
    // The next start notes it.
    if (!isRefusedByDisk(error)) throw error;
  }
}
