/**
 * Which organisations' files were made, and which of them can be used now. The control file notes each one that was made: what is
 * noted is never made anew.
 *
 * The order: the file is made and empty of rows; its folder is synced; the control file notes it; only then the first row is written.
 * A crash before the note leaves a file that nobody was told of anything in, and it is taken as it is. A crash after it leaves a file
 * that is noted. Nothing in between lets a note stand for a file that was never there.
 */
import { dirname } from 'node:path';
import type { DataLayout } from '../data-layout.ts';
import type { Conditions } from '../health/conditions.ts';
import type { Connection } from '../sqlite/connection.ts';
import { syncPath } from '../sqlite/database-copy.ts';
import { isRefusedByDisk, StorageError, storageErrorCodeOf } from '../sqlite/storage-error.ts';
import { FileProblemError, markOfFile, openOrganisationFile } from './organisation-file.ts';

/** A file that cannot be used is looked at again by the first request after this long: requests for it must cost nothing. */
const LOOK_AGAIN_MS = 1_000;
/** A look at a folder takes 2 µs. */
const LOOKED_AT_ONCE = 500;
/** Opening a file takes a millisecond; one that is there again is found by the next request for it, too. */
const OPENED_AT_ONCE = 10;
/** What the log says to do; the section tells more. */
const WHAT_TO_DO = 'Nothing of the organisation is changed or deleted meanwhile. See "A file is missing or damaged" in docs/backups.md.';

export interface OrganisationFilesOptions {
  readonly layout: DataLayout;
  /** Read-only, the control file. */
  readonly control: Connection;
  readonly conditions: Conditions;
  /** Writes the note. */
  note(organisationId: string): Promise<unknown>;
  /** The file at this path is not the one that was open under it: connections to it are of no use any more. */
  forget(organisationId: string): void;
}

interface Refused {
  readonly error: StorageError;
  readonly atMs: number;
}

export function isFileNoted(control: Connection, organisationId: string): boolean {
  const found = control.statement('SELECT 1 AS found FROM organisation_files WHERE organisation_id = :organisationId');
  return found.get({ organisationId }) !== undefined;
}

export class OrganisationFiles {
  readonly #options: OrganisationFilesOptions;
  /** Looked through and brought to this program's schema; by id, which file that was. */
  readonly #prepared = new Map<string, string>();
  readonly #noted = new Set<string>();
  readonly #notes = new Map<string, Promise<void>>();
  readonly #refused = new Map<string, Refused>();
  /** Read well when they were prepared, and turned out to be damaged further in; by id, which file that was. */
  readonly #damaged = new Map<string, string | undefined>();
  readonly #turns = new Map<string, number>();

  constructor(options: OrganisationFilesOptions) {
    this.#options = options;
  }

  /**
   * Makes or upgrades the file, once per process: neither the writer nor a reader may meet an older schema.
   * @throws StorageError unavailable for a file that was made and is not there, or is not that file; what the disk refuses with.
   */
  prepare(organisationId: string): void {
    if (this.#prepared.has(organisationId)) return;
    const refused = this.#refused.get(organisationId);
    if (refused !== undefined && performance.now() - refused.atMs < LOOK_AGAIN_MS) throw refused.error;
    const path = this.#options.layout.organisation(organisationId);
    try {
      openOrganisationFile(path, organisationId, this.isNoted(organisationId));
    } catch (error) {
      throw this.refuse(organisationId, error);
    }
    this.#prepared.set(organisationId, markOfFile(path) ?? '');
    this.admit(organisationId);
  }

  /** The file was looked through, if only for reading. One that was seen to be damaged stays so until another one is in its place. */
  admit(organisationId: string): void {
    this.#refused.delete(organisationId);
    const mark = markOfFile(this.#options.layout.organisation(organisationId));
    if (this.#damaged.has(organisationId) && this.#damaged.get(organisationId) === mark) return;
    this.#damaged.delete(organisationId);
    this.#options.conditions.close('organisation_unavailable', organisationId);
  }

  /** Whether the control file says that this file was made. */
  isNoted(organisationId: string): boolean {
    // Who comes while the note is being written waits for it, behind those who wait already: writes keep the order of their calls.
    if (this.#notes.has(organisationId)) return false;
    if (this.#noted.has(organisationId)) return true;
    if (!isFileNoted(this.#options.control, organisationId)) return false;
    this.#noted.add(organisationId);
    return true;
  }

  /** Notes that the file was made; before its first row is written. Those who come together wait for one note. */
  note(organisationId: string): Promise<void> {
    let note = this.#notes.get(organisationId);
    if (note === undefined) {
      note = this.#writeNote(organisationId).finally(() => this.#notes.delete(organisationId));
      this.#notes.set(organisationId, note);
    }
    return note;
  }

  async #writeNote(organisationId: string): Promise<void> {
    syncPath(dirname(this.#options.layout.organisation(organisationId)));
    await this.#options.note(organisationId);
    this.#noted.add(organisationId);
  }

  /** The error to throw for `error`, which opening, reading or writing the organisation's file met; opens the condition. */
  refuse(organisationId: string, error: unknown): unknown {
    const isDamage = storageErrorCodeOf(error) === 'corrupt';
    if (!(error instanceof FileProblemError) && !isDamage) return error;
    const path = this.#options.layout.organisation(organisationId);
    const what = error instanceof FileProblemError ? error.message : `${path} is damaged: ${(error as Error).message}.`;
    const refusal = new StorageError('unavailable', what);
    this.#options.conditions.open('organisation_unavailable', `${what} ${WHAT_TO_DO}`, organisationId);
    // What can be read of a damaged file is read on; one that is not there is not asked for at every request.
    if (isDamage) {
      this.#damaged.set(organisationId, markOfFile(path));
      return refusal;
    }
    this.#refused.set(organisationId, { error: refusal, atMs: performance.now() });
    // It may have been looked through before.
    this.doubt(organisationId);
    return refusal;
  }

  /** A write met something that the file itself may be the reason of: it is looked at before the next one. */
  doubt(organisationId: string): void {
    if (this.#prepared.delete(organisationId)) this.#options.forget(organisationId);
  }

  /**
   * Looks whether files that are in use are still the files they were, and whether those that could not be used can be: some of them at
   * each call. A file that was replaced while it was open would take writes that nobody finds again. Never throws: it is called by a timer.
   */
  lookAround(): void {
    const { layout } = this.#options;
    for (const organisationId of this.#some('prepared', this.#prepared.keys(), LOOKED_AT_ONCE)) {
      if (markOfFile(layout.organisation(organisationId)) !== this.#prepared.get(organisationId)) this.#look(organisationId);
    }
    for (const organisationId of this.#some('refused', this.#refused.keys(), OPENED_AT_ONCE)) this.#look(organisationId);
  }

  /** The next ones in turn; where the last round ended is remembered under `name`. */
  #some(name: string, ids: Iterable<string>, max: number): string[] {
    const all = [...ids];
    const from = this.#turns.get(name) ?? 0;
    const some = all.slice(from, from + max);
    this.#turns.set(name, from + max >= all.length ? 0 : from + max);
    return some;
  }

  /** What one file meets must not keep the others from being looked at. */
  #look(organisationId: string): void {
    try {
      this.doubt(organisationId);
      this.prepare(organisationId);
    } catch (error) {
      const code = storageErrorCodeOf(error);
      // A disk that refuses has a condition of its own; the next request for the file looks at it, too.
      if (isRefusedByDisk(error) || code === 'busy' || code === 'unavailable') return;
      const reason = error instanceof Error ? error.message : String(error);
      this.refuse(
        organisationId,
        new FileProblemError('unreadable', this.#options.layout.organisation(organisationId), `cannot be used: ${reason}.`),
      );
    }
  }
}
