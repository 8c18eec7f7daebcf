/** Errors of storage: one class, and the mapping from SQLite's codes to its few kinds. */

/**
 * - `overloaded`: too many writes wait; nothing was tried.
 * - `busy`: another process kept the file's write lock; nothing was written.
 * - `sealed`: the organisation is on its way to another cell; nothing was tried.
 * - `fenced`: another host took this cell over, or may have; what was written is not acknowledged.
 * - `disk_full`, `read_only`, `io`: the medium refused. After an `io` error at COMMIT followed by a crash the write may still surface.
 * - `unavailable`: the organisation's file is missing or was replaced; nothing was tried.
 * - `corrupt`: the file is damaged or not a database.
 * - `orphaned`: what the rows belong to (an app, a person, a conversation) was deleted since it was read; nothing was written.
 * - `failed`: the transaction threw (a constraint, a bug); nothing was written.
 * - `closed`: the writer was closed before the call.
 * - `writer_dead`: the writer thread is gone; a pending write may or may not have been committed.
 */
export type StorageErrorCode = keyof typeof RETRYABLE;

const RETRYABLE = {
  overloaded: true,
  busy: true,
  sealed: true,
  fenced: true,
  disk_full: true,
  read_only: true,
  io: true,
  unavailable: true,
  corrupt: false,
  orphaned: false,
  failed: false,
  closed: false,
  writer_dead: false,
};

/** Whether this is one of the kinds; errors from another thread have no class. */
export function isStorageErrorCode(code: unknown): code is StorageErrorCode {
  return typeof code === 'string' && Object.hasOwn(RETRYABLE, code);
}

/** Message of every write that a seal refuses (seal.ts, control-rows.ts). */
export const SEALED_MESSAGE = 'the organisation is being moved to another cell';

/** A write that did not happen or, for `io` and `writer_dead`, whose outcome is unknown. */
export class StorageError extends Error {
  readonly code: StorageErrorCode;
  readonly retryable: boolean;
  /** SQLite's extended result code (`SQLITE_CONSTRAINT_UNIQUE`), when SQLite refused. */
  readonly sqliteCode: string | undefined;

  constructor(code: StorageErrorCode, message: string, sqliteCode?: string) {
    super(message);
    this.name = 'StorageError';
    this.code = code;
    this.retryable = RETRYABLE[code];
    this.sqliteCode = sqliteCode;
  }
}

function hasCode(code: StorageErrorCode): (error: unknown) => boolean {
  return (error) => error instanceof StorageError && error.code === code;
}

export const isSealed = hasCode('sealed');
export const isFenced = hasCode('fenced');
export const isUnavailable = hasCode('unavailable');
export const isOrphaned = hasCode('orphaned');

/** Whether nothing can be stored here for now, for whichever reason. What is only of use later is made at a later start. */
export function isNothingStored(error: unknown): boolean {
  return isRefusedByDisk(error) || isFenced(error);
}

/** The result of `read`, or `otherwise` when the organisation's file is unavailable: for loops over several organisations. */
export function readIfThere<Value>(read: () => Value, otherwise: Value): Value {
  try {
    return read();
  } catch (error) {
    if (isUnavailable(error)) return otherwise;
    throw error;
  }
}

/** Whether the disk refused; the same operation may succeed once it has room or is writable. */
export function isRefusedByDisk(error: unknown): boolean {
  const code = storageErrorCodeOf(error);
  return code === 'disk_full' || code === 'read_only' || code === 'io';
}

const SYSTEM_CODES: Readonly<Record<string, StorageErrorCode>> = {
  ENOSPC: 'disk_full',
  EDQUOT: 'disk_full',
  EROFS: 'read_only',
  EIO: 'io',
  EFBIG: 'io',
};

/** Whether the same may succeed when it is tried again in this process, also of an error that came straight from the driver: a reader's. */
export function isRetryable(error: unknown): boolean {
  return RETRYABLE[storageErrorCodeOf(error)];
}

export function sqliteCodeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' && error.code.startsWith('SQLITE_') ? error.code : undefined;
}

export function storageErrorCodeOf(error: unknown): StorageErrorCode {
  if (error instanceof StorageError) return error.code;
  const code = sqliteCodeOf(error);
  if (code === undefined) return SYSTEM_CODES[(error as NodeJS.ErrnoException | undefined)?.code ?? ''] ?? 'failed';
  // SQLITE_PROTOCOL is what a lost race for the WAL's own locks looks like.
  // Triggers freeze a moving organisation's rows in the control file; all they can do is raise.
  if (code === 'SQLITE_CONSTRAINT_TRIGGER' && (error as Error).message === SEALED_MESSAGE) return 'sealed';
  if (code.startsWith('SQLITE_BUSY') || code === 'SQLITE_PROTOCOL') return 'busy';
  if (code === 'SQLITE_CONSTRAINT_FOREIGNKEY') return 'orphaned';
  if (code === 'SQLITE_FULL') return 'disk_full';
  if (code.startsWith('SQLITE_READONLY')) return 'read_only';
  // Opening a log creates its index; a full disk fails here.
  if (code.startsWith('SQLITE_IOERR') || code.startsWith('SQLITE_CANTOPEN')) return 'io';
  if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB') return 'corrupt';
  return 'failed';
}
