/**
 * Copies the databases of a data directory in use so that they fit together, without keeping anybody from writing.
 *
 * Each copy is one moment of its file, and the moments differ. Only the list of apps spans two files: the directory in `control.sqlite`
 * is written before an app's row and removed after it. So organisations are copied first and `control.sqlite` last. An organisation
 * whose apps differ from the directory, because an app was created or deleted meanwhile, is copied again, and then `control.sqlite`
 * again, until they agree. Other directory entries without a row (sessions, pairings, proposals) are read as "does not exist".
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename } from 'node:path';
import { isId } from '../../protocol/ids.ts';
import type { DataLayout } from '../data-layout.ts';
import { isFileNoted } from '../organisations/organisation-files.ts';
import { organisationIds } from '../organisations/organisations.ts';
import { columns, readIds, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { reading } from '../sqlite/database.ts';
import { copyDatabase } from '../sqlite/database-copy.ts';

/** Rounds after the first are short. Only a program creates and deletes apps fast enough to need more. */
const ROUNDS_MAX = 6;

/** Advice for a file that is missing or is another organisation's. */
const WHAT_TO_DO = 'No backup was made: see "A file is missing or damaged" in docs/backups.md.';

export interface CopiedDatabases {
  readonly organisations: readonly string[];
  /** Organisations whose copy still has apps that the directory does not name. */
  readonly unlisted: readonly string[];
}

/** The apps in which an organisation's file and the directory differ. */
interface Difference {
  /** Apps without an entry: unreachable. */
  readonly unlisted: readonly string[];
  /** Entries whose app does not exist. */
  readonly dangling: readonly string[];
}

function organisationsIn(layout: DataLayout): string[] {
  return readdirSync(layout.organisations)
    .map((name) => basename(name, '.sqlite'))
    .filter((id) => isId('org', id));
}

const identity = columns({ organisationId: text });
const listedApp = columns({ appId: text });

/**
 * The apps of a copy; undefined when the file has no schema or names no owner: its organisation was being created, or the file was
 * emptied. The service refuses such a file once the directory notes that it was made.
 * @throws Error when the file is of another organisation, or of another program.
 */
function appsOf(path: string, source: string, id: string): Set<string> | undefined {
  return reading(path, (db) => {
    if (db.statement('PRAGMA user_version').get()?.user_version === 0) return undefined;
    const owner = identity.get(db, 'FROM file_identity WHERE id = 1')?.organisationId;
    if (owner === undefined) return undefined;
    if (owner !== id) throw new Error(`${source} is the file of ${owner}, not of ${id}. ${WHAT_TO_DO}`);
    return new Set(readIds(db, 'FROM apps'));
  });
}

class DatabaseCopies {
  readonly #from: DataLayout;
  readonly #to: DataLayout;
  readonly #copy: typeof copyDatabase;
  readonly #apps = new Map<string, Set<string>>();
  /** How each organisation's copy differed from the directory in the last round. */
  readonly #differences = new Map<string, Difference>();

  constructor(from: DataLayout, to: DataLayout, copy: typeof copyDatabase) {
    this.#from = from;
    this.#to = to;
    this.#copy = copy;
  }

  /** Organisations in the directory without a copy: created since the files were copied, or missing. */
  #lost: string[] = [];

  get organisations(): string[] {
    return [...this.#apps.keys()];
  }

  #copied(source: string, target: string): boolean {
    rmSync(target, { force: true });
    try {
      this.#copy(source, target);
      return true;
    } catch (error) {
      if (!existsSync(source)) return false;
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`${source} cannot be copied: ${reason}.`, { cause: error });
    }
  }

  copyOrganisation(id: string): void {
    const target = this.#to.organisation(id);
    this.#apps.delete(id);
    // It moved to another cell since its name was read.
    if (!this.#copied(this.#from.organisation(id), target)) return;
    const apps = appsOf(target, this.#from.organisation(id), id);
    if (apps === undefined) rmSync(target);
    else this.#apps.set(id, apps);
  }

  copyControl(): string[] {
    this.#copied(this.#from.control, this.#to.control);
    return reading(this.#to.control, (control) => {
      const listed = [...organisationIds(control)];
      this.#lost = listed.filter((id) => !this.#apps.has(id) && isFileNoted(control, id));
      return [...new Set([...this.#apps.keys(), ...listed])].filter((id) => this.#differsAnew(control, id) || this.#lost.includes(id));
    });
  }

  /** Whether the copy differs from the directory in another way than last time. A difference that stays is in the source itself. */
  #differsAnew(control: Connection, id: string): boolean {
    const apps = this.#apps.get(id) ?? new Set();
    const listed = new Set(listedApp.all(control, 'FROM app_directory WHERE organisation_id = :id', { id }).map(({ appId }) => appId));
    const difference: Difference = {
      unlisted: [...apps].filter((app) => !listed.has(app)),
      dangling: [...listed].filter((app) => !apps.has(app)),
    };
    const known = this.#differences.get(id);
    this.#differences.set(id, difference);
    const differs = difference.unlisted.length + difference.dangling.length > 0;
    return differs && JSON.stringify(difference) !== JSON.stringify(known);
  }

  /** @throws Error naming the missing file of an organisation that lives here. */
  requireAll(): void {
    const [id, ...more] = this.#lost;
    if (id === undefined) return;
    const others = more.length === 0 ? '' : ` So are those of ${more.length} more organisations.`;
    throw new Error(`${this.#from.organisation(id)} is missing or empty.${others} ${WHAT_TO_DO}`);
  }

  unlisted(): string[] {
    return [...this.#differences].filter(([, { unlisted }]) => unlisted.length > 0).map(([id]) => id);
  }
}

/**
 * Copies every database below `from` into the same places below `to`, whose folders are there. Blocks the thread. `copy` copies one.
 * @throws Error naming the file that is damaged, missing, empty or another's, or that the disk has no room for.
 */
export function copyDatabases(from: DataLayout, to: DataLayout, copy = copyDatabase): CopiedDatabases {
  const copies = new DatabaseCopies(from, to, copy);
  let toCopy = organisationsIn(from);
  for (let round = 1; round <= ROUNDS_MAX; round += 1) {
    for (const id of toCopy) copies.copyOrganisation(id);
    toCopy = copies.copyControl();
    if (toCopy.length === 0) break;
  }
  copies.requireAll();
  return { organisations: copies.organisations, unlisted: copies.unlisted() };
}
