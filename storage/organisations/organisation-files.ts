/**
 * Which organisations' files were created, and which of them are usable now. The control file notes each created file, and a noted file is
 * never created again.
 *
 * The order: the file is created without rows; its folder is synced; the control file notes it; only then the first row is written. A
 * crash before the note leaves a file in which nothing was acknowledged, and it is used as it is. A crash after the note leaves a noted
 * file. So no note ever stands for a file that never existed.
 */
import { dirname } from 'node:path';
import type { DataLayout } from '../data-layout.ts';
import type { Conditions } from '../health/conditions.ts';
import { columns, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { syncPath } from '../sqlite/database-copy.ts';
import { logBytes } from '../sqlite/log-emptying.ts';
import { isRefusedByDisk, StorageError, storageErrorCodeOf } from '../sqlite/storage-error.ts';
import { FileProblemError, markOfFile, openOrganisationFile, requireFile } from './organisation-file.ts';
import { livesHere } from './organisations.ts';

/** An unusable file is checked again by the first request after this long, so that requests for it stay cheap. */
const LOOK_AGAIN_MS = 1_000;
/** Files checked per call, of those in use and of those not used yet; each check takes 2 µs. */
const LOOKED_AT_ONCE = 500;
/** Files opened per call; each takes a millisecond. The next request for a file that is back finds it, too. */
const OPENED_AT_ONCE = 10;
/** Advice for the log; the section says more. */
const WHAT_TO_DO = 'Nothing of the organisation is changed or deleted meanwhile. See "A file is missing or damaged" in docs/backups.md.';

interface OrganisationFilesOptions {
  readonly layout: DataLayout;
  readonly control: Connection;
  readonly conditions: Conditions;
  note(organisationId: string): Promise<unknown>;
  /** The file at this path was replaced: connections to it must be closed. */
  forget(organisationId: string): void;
  /** Its log was found beside the file: what a process that ended wrote last may not be on disk. */
  doubtLog(organisationId: string): void;
  /** Writes the note that another file, or one that was away, is in its place: what is in it has to be looked through. */
  noteReturn(organisationId: string): Promise<unknown>;
}

interface Refused {
  readonly error: StorageError;
  readonly atMs: number;
}

const noted = columns({ organisationId: text });

function notedAfter(control: Connection, after: string, limit: number): string[] {
  const from = `FROM organisation_files AS f WHERE organisation_id > :after AND ${livesHere('f.organisation_id')}
    ORDER BY organisation_id LIMIT :limit`;
  return noted.all(control, from, { after, limit }).map(({ organisationId }) => organisationId);
}

export function isFileNoted(control: Connection, organisationId: string): boolean {
  const found = control.statement('SELECT 1 AS found FROM organisation_files WHERE organisation_id = :organisationId');
  return found.get({ organisationId }) !== undefined;
}

export class OrganisationFiles {
  readonly #options: OrganisationFilesOptions;
  readonly #prepared = new Map<string, string>();
  readonly #noted = new Set<string>();
  readonly #notes = new Map<string, Promise<void>>();
  readonly #refused = new Map<string, Refused>();
  /** Files found to be damaged after they were prepared: the identity of each, by organisation. */
  readonly #damaged = new Map<string, string | undefined>();
  readonly #turns = new Map<string, number>();
  readonly #returned = new Set<string>();
  /** Whether files are there was looked up to this organisation; null: of all. */
  #soughtUpTo: string | null = '';

  constructor(options: OrganisationFilesOptions) {
    this.#options = options;
  }

  /** Once per process: neither writer nor reader may see an older schema. @throws StorageError unavailable; what the disk refuses with. */
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
    if (logBytes(path) > 0) this.#options.doubtLog(organisationId);
    this.#prepared.set(organisationId, markOfFile(path) ?? '');
    if (refused !== undefined) this.#noteReturn(organisationId);
    this.admit(organisationId);
  }

  /** What the control file knows of an organisation need not be true of the file that was put in its place. */
  #noteReturn(organisationId: string): void {
    this.#returned.add(organisationId);
    this.#options.noteReturn(organisationId).then(
      () => this.#returned.delete(organisationId),
      // Tried again when it is looked around.
      () => {},
    );
  }

  /** Marks the file as checked, if only for reading. A damaged file stays marked as such until it is replaced. */
  admit(organisationId: string): void {
    this.#refused.delete(organisationId);
    const mark = markOfFile(this.#options.layout.organisation(organisationId));
    if (this.#damaged.has(organisationId) && this.#damaged.get(organisationId) === mark) return;
    this.#damaged.delete(organisationId);
    this.#options.conditions.close('organisation_unavailable', organisationId);
  }

  isNoted(organisationId: string): boolean {
    // While the note is being written, later callers wait behind earlier ones: writes keep the order of their calls.
    if (this.#notes.has(organisationId)) return false;
    if (this.#noted.has(organisationId)) return true;
    if (!isFileNoted(this.#options.control, organisationId)) return false;
    this.#noted.add(organisationId);
    return true;
  }

  /** Whether the file was never created. One without a note may be there: an arriving organisation's, or what a crash left. */
  isUnmade(organisationId: string): boolean {
    if (this.#prepared.has(organisationId) || this.isNoted(organisationId)) return false;
    return markOfFile(this.#options.layout.organisation(organisationId)) === undefined;
  }

  /** Notes that the file was created, before its first row is written. Concurrent callers wait for one note. */
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

  /** Turns an error of opening, reading or writing the organisation's file into the one to throw, and opens the condition. */
  refuse(organisationId: string, error: unknown): unknown {
    const isDamage = storageErrorCodeOf(error) === 'corrupt';
    if (!(error instanceof FileProblemError) && !isDamage) return error;
    const path = this.#options.layout.organisation(organisationId);
    const what = error instanceof FileProblemError ? error.message : `${path} is damaged: ${(error as Error).message}.`;
    const refusal = new StorageError('unavailable', what);
    this.#options.conditions.open('organisation_unavailable', `${what} ${WHAT_TO_DO}`, organisationId);
    // A damaged file is still read where possible; a missing one is not looked for at every request.
    if (isDamage) {
      this.#damaged.set(organisationId, markOfFile(path));
      return refusal;
    }
    this.#refused.set(organisationId, { error: refusal, atMs: performance.now() });
    // It may have been marked as checked before.
    this.doubt(organisationId);
    return refusal;
  }

  /** To be called when a write failed perhaps because of the file: the file is checked before the next write. */
  doubt(organisationId: string): void {
    if (this.#prepared.delete(organisationId)) this.#options.forget(organisationId);
  }

  /**
   * Checks some files at each call: whether those in use were replaced, and whether unusable ones are usable again. Writes to an open file
   * that was replaced would be lost. Those not used yet are not opened: whether they are there is looked up once. Never throws: a timer calls it.
   */
  lookAround(): void {
    const { layout } = this.#options;
    this.#seek();
    for (const organisationId of this.#returned) this.#noteReturn(organisationId);
    for (const organisationId of this.#some('prepared', this.#prepared.keys(), LOOKED_AT_ONCE)) {
      if (markOfFile(layout.organisation(organisationId)) !== this.#prepared.get(organisationId)) this.#look(organisationId);
    }
    for (const organisationId of this.#some('refused', this.#refused.keys(), OPENED_AT_ONCE)) this.#look(organisationId);
  }

  /** Operators learn soon after a start which files are away, also of organisations that are not in use. */
  #seek(): void {
    if (this.#soughtUpTo === null) return;
    const { control, layout } = this.#options;
    let ids: string[];
    try {
      ids = notedAfter(control, this.#soughtUpTo, LOOKED_AT_ONCE);
    } catch {
      // The disk refuses; the next call reads again.
      return;
    }
    for (const organisationId of ids) {
      if (this.#prepared.has(organisationId) || this.#refused.has(organisationId)) continue;
      try {
        requireFile(layout.organisation(organisationId));
      } catch (error) {
        this.refuse(organisationId, error);
      }
    }
    this.#soughtUpTo = ids.at(-1) ?? null;
  }

  /** The next `max` ids in rotation; the position is kept under `name`. */
  #some(name: string, ids: Iterable<string>, max: number): string[] {
    const all = [...ids];
    const from = this.#turns.get(name) ?? 0;
    const some = all.slice(from, from + max);
    this.#turns.set(name, from + max >= all.length ? 0 : from + max);
    return some;
  }

  /** Checks one file; a failure must not keep the others from being checked. */
  #look(organisationId: string): void {
    try {
      const isAway = this.#refused.has(organisationId);
      this.doubt(organisationId);
      this.prepare(organisationId);
      if (!isAway) this.#noteReturn(organisationId);
    } catch (error) {
      const code = storageErrorCodeOf(error);
      // A disk that refuses has its own condition, and the next request checks the file again.
      if (isRefusedByDisk(error) || code === 'busy' || code === 'unavailable') return;
      const reason = error instanceof Error ? error.message : String(error);
      this.refuse(organisationId, new FileProblemError(this.#options.layout.organisation(organisationId), `cannot be used: ${reason}.`));
    }
  }
}
