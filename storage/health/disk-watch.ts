/**
 * Whether the disk under the data directory takes writes. Opens the conditions `disk_full`, `read_only` and `disk_failing` when a write was
 * refused, tests whether they are over, and warns before the disk is full.
 */
import { accessSync, constants } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isRefusedByDisk, storageErrorCodeOf } from '../sqlite/storage-error.ts';
import { hasRoomForUpload, leftByUploads } from '../uploads/upload-quotas.ts';
import type { ConditionName, Conditions } from './conditions.ts';
import { createDiskRoom, type DiskRoom, isFull, keptForDatabases } from './disk-room.ts';

export type DiskWatch = ReturnType<typeof createDiskWatch>;

interface DiskWatchOptions {
  readonly dir: string;
  readonly conditions: Conditions;
  onOver(): void;
  onLow(): void;
  /** Lets tests shorten what takes seconds. */
  readonly lookMs?: number;
  /** Lets tests set the free space; absent: the disk's own. */
  readonly room?: () => DiskRoom;
}

/** How often the free space is read, and a disk that refused is tested. */
const LOOK_MS = 1_000;
/** A disk that refused is tested only when nothing was refused for this long; otherwise the condition would flap at every write. */
const QUIET_MS = 3_000;
const MB = 1024 * 1024;
/** How long the condition of one file stays open after its last refusal: the file may be unused for a while. */
const FILE_QUIET_MS = 60_000;
/** This many refused files mean that the whole disk is failing. */
const FILES_MAX = 20;
/** More than one turn's commit writes. */
const PROBE_BYTES = 64 * 1024;

const REFUSING = ['disk_full', 'read_only', 'disk_failing'] as const satisfies readonly ConditionName[];
type Refusing = (typeof REFUSING)[number];

const DETAILS: Readonly<Record<Refusing, string>> = {
  disk_full: 'The disk is full: nothing can be stored until there is room. What is stored is served.',
  read_only: 'The data directory cannot be written to: it is mounted read-only or is not this user’s. What is stored is served.',
  disk_failing: 'The disk refused a write or an fsync: look at the system’s log. What is stored is served, and writes are tried.',
};

function isReadOnly(dir: string): boolean {
  try {
    accessSync(dir, constants.W_OK);
    return false;
  } catch (error) {
    return ['EROFS', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '');
  }
}

/** False when the free space cannot be read: an unknown disk is not known to be full. */
function isKnownFull(room: () => DiskRoom): boolean {
  try {
    return isFull(room());
  } catch {
    return false;
  }
}

function lowDetail(room: DiskRoom): string {
  const [left, kept] = [leftByUploads(room), keptForDatabases(room)].map((bytes) => Math.round(bytes / MB));
  return `The disk has less than ${left} MB left, of which databases keep ${kept}: uploads are refused. Make room.`;
}

async function probe(dir: string): Promise<void> {
  const path = join(dir, `probe.${process.pid}.part`);
  try {
    const file = await open(path, 'w', 0o600);
    try {
      await file.writeFile(Buffer.alloc(PROBE_BYTES));
      await file.sync();
    } finally {
      await file.close();
    }
  } finally {
    await rm(path, { force: true }).catch(() => {});
  }
}

/** Organisations' files that the disk refused: one file may lie on a bad sector of an otherwise good disk. */
class RefusedFiles {
  readonly #conditions: Conditions;
  readonly #atMs = new Map<string, number>();

  constructor(conditions: Conditions) {
    this.#conditions = conditions;
  }

  /** Notes one. `too_many`: so many files were refused that the disk itself is failing. */
  refused(organisationId: string): 'new' | 'known' | 'too_many' {
    const isKnown = this.#atMs.has(organisationId);
    if (!isKnown && this.#atMs.size >= FILES_MAX) return 'too_many';
    this.#atMs.set(organisationId, performance.now());
    const path = join('organisations', organisationId);
    const detail = `The disk refused to read or write the file of one organisation (${path}): look at the system’s log.`;
    this.#conditions.open('disk_failing', detail, organisationId);
    return isKnown ? 'known' : 'new';
  }

  forgetQuiet(): void {
    for (const [organisationId, atMs] of this.#atMs) {
      if (performance.now() - atMs < FILE_QUIET_MS) continue;
      this.#atMs.delete(organisationId);
      this.#conditions.close('disk_failing', organisationId);
    }
  }
}

export function createDiskWatch(options: DiskWatchOptions) {
  const { dir, conditions, onOver, onLow, lookMs = LOOK_MS, room = createDiskRoom(dir) } = options;
  let refusedAtMs = Number.NEGATIVE_INFINITY;
  let probing = false;
  let closed = false;

  const holds = (name: Refusing) => {
    refusedAtMs = performance.now();
    conditions.open(name, DETAILS[name]);
  };

  const files = new RefusedFiles(conditions);
  const failedFile = (organisationId: string) => {
    const outcome = files.refused(organisationId);
    if (outcome === 'too_many') holds('disk_failing');
    else if (outcome === 'new') probe(dir).catch((error: unknown) => closed || note(error));
  };

  /**
   * To be called when something was refused; errors unrelated to the disk are ignored. `organisationId`: only that file was refused, and
   * whether others are is tested. SQLite's error for a full disk depends on what it was about to do, so the disk itself is asked.
   */
  const note = (error: unknown, organisationId = '') => {
    if (!isRefusedByDisk(error)) return;
    const code = storageErrorCodeOf(error);
    if (code === 'read_only' || isReadOnly(dir)) holds('read_only');
    else if (code === 'disk_full' || isKnownFull(room)) holds('disk_full');
    else if (organisationId === '') holds('disk_failing');
    else failedFile(organisationId);
  };

  const tryIt = async () => {
    if (probing || performance.now() - refusedAtMs < QUIET_MS) return;
    probing = true;
    try {
      await probe(dir);
      if (closed || isFull(room())) return;
      for (const name of REFUSING) conditions.close(name);
      onOver();
    } catch (error) {
      if (!closed) note(error);
    } finally {
      probing = false;
    }
  };

  const look = () => {
    try {
      const now = room();
      if (isFull(now)) holds('disk_full');
      if (hasRoomForUpload(now, 0)) conditions.close('disk_low');
      else conditions.open('disk_low', lowDetail(now));
      files.forgetQuiet();
      if (REFUSING.some((name) => conditions.holds(name))) void tryIt();
    } catch (error) {
      note(error);
    }
  };
  look();
  const timer = setInterval(() => {
    look();
    if (conditions.holds('disk_low')) onLow();
  }, lookMs).unref();
  return {
    note,
    close() {
      closed = true;
      clearInterval(timer);
    },
  };
}
