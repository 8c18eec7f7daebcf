/** What goes wrong in storage: one error class, and the reading of SQLite's own codes into its few kinds. */

/**
 * - `overloaded`: too many writes wait; nothing was tried.
 * - `busy`: another process kept the file's write lock; nothing was written.
 * - `sealed`: the organisation is on its way to another cell; nothing was tried.
 * - `disk_full`, `read_only`, `io`: the medium refused. After an `io` error at COMMIT followed by a crash the write may still surface.
 * - `unavailable`: the organisation's file is not there, or is not what it was; nothing was tried.
 * - `corrupt`: the file is damaged or not a database.
 * - `orphaned`: what the rows belong to (an app, a person, a conversation) was deleted since it was read; nothing was written.
 * - `failed`: the transaction threw (a constraint, a bug); nothing was written.
 * - `closed`: the writer was closed before the call.
 * - `writer_dead`: the writer thread is gone; a write that was on its way may or may not have been committed.
 */
export type StorageErrorCode =
  | 'overloaded'
  | 'busy'
  | 'sealed'
  | 'disk_full'
  | 'read_only'
  | 'io'
  | 'unavailable'
  | 'corrupt'
  | 'orphaned'
  | 'failed'
  | 'closed'
  | 'writer_dead';

const RETRYABLE: Readonly<Record<StorageErrorCode, boolean>> = {
  overloaded: true,
  busy: true,
  sealed: true,
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

/** Whether this is one of the kinds: an error that came from another thread has no class. */
export function isStorageErrorCode(code: unknown): code is StorageErrorCode {
  return typeof code === 'string' && Object.hasOwn(RETRYABLE, code);
}

/** What is said of every write that a seal refuses (seal.ts, control-rows.ts). */
export const SEALED_MESSAGE = 'the organisation is being moved to another cell';

/** A write that did not happen (or, for `io` and `writer_dead`, one that nobody may rely on). */
export class StorageError extends Error {
  readonly code: StorageErrorCode;
  /** Whether the same write may succeed when tried again in this process. */
  readonly retryable: boolean;
  /** SQLite's extended result code (`SQLITE_CONSTRAINT_UNIQUE`), where SQLite was the one that refused. */
  readonly sqliteCode: string | undefined;

  constructor(code: StorageErrorCode, message: string, sqliteCode?: string) {
    super(message);
    this.name = 'StorageError';
    this.code = code;
    this.retryable = RETRYABLE[code];
    this.sqliteCode = sqliteCode;
  }
}

/** Whether a write was refused because its organisation is on its way to another cell; it is taken up where it lands, or when it stays. */
export function isSealed(error: unknown): boolean {
  return error instanceof StorageError && error.code === 'sealed';
}

/** Whether the organisation's file is away or damaged; it is taken up when the file is back. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof StorageError && error.code === 'unavailable';
}

/** What `read` answers, or `otherwise` of an organisation whose file is away: for those who look through several. */
export function readIfThere<Value>(read: () => Value, otherwise: Value): Value {
  try {
    return read();
  } catch (error) {
    if (isUnavailable(error)) return otherwise;
    throw error;
  }
}

/** Whether a write came too late: what its rows belong to is deleted. */
export function isOrphaned(error: unknown): boolean {
  return error instanceof StorageError && error.code === 'orphaned';
}

/** Whether the disk refused, whatever was asked of it: the same may succeed once there is room, or it can be written to. */
export function isRefusedByDisk(error: unknown): boolean {
  const code = storageErrorCodeOf(error);
  return code === 'disk_full' || code === 'read_only' || code === 'io';
}

/** What the system says of a file that it does not write, beside SQLite's own codes. */
const SYSTEM_CODES: Readonly<Record<string, StorageErrorCode>> = {
  ENOSPC: 'disk_full',
  EDQUOT: 'disk_full',
  EROFS: 'read_only',
  EIO: 'io',
  EFBIG: 'io',
};

/** SQLite's extended result code carried by `error`, if it came from the driver. */
export function sqliteCodeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' && error.code.startsWith('SQLITE_') ? error.code : undefined;
}

/** Sorts an error thrown by SQLite or by a transaction into a kind of StorageError. */
export function storageErrorCodeOf(error: unknown): StorageErrorCode {
  if (error instanceof StorageError) return error.code;
  const code = sqliteCodeOf(error);
  if (code === undefined) return SYSTEM_CODES[(error as NodeJS.ErrnoException | undefined)?.code ?? ''] ?? 'failed';
  // SQLITE_PROTOCOL is what a lost race for the WAL's own locks looks like.
  // The rows of an organisation in the control file are kept still by triggers, which can only raise.
  if (code === 'SQLITE_CONSTRAINT_TRIGGER' && (error as Error).message === SEALED_MESSAGE) return 'sealed';
  if (code.startsWith('SQLITE_BUSY') || code === 'SQLITE_PROTOCOL') return 'busy';
  if (code === 'SQLITE_CONSTRAINT_FOREIGNKEY') return 'orphaned';
  if (code === 'SQLITE_FULL') return 'disk_full';
  if (code.startsWith('SQLITE_READONLY')) return 'read_only';
  // Room for the index of a log is made when it is opened: a disk without any says so here.
  if (code.startsWith('SQLITE_IOERR') || code.startsWith('SQLITE_CANTOPEN')) return 'io';
  if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB') return 'corrupt';
  return 'failed';
}
