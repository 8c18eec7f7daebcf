/** The messages between the writer and its thread, and the serialisation of errors. */

import { type PlainRefusal, plainRefusal, Refusal, refusalFrom } from '../../protocol/errors.ts';
import { StorageError, type StorageErrorCode, sqliteCodeOf, storageErrorCodeOf } from './storage-error.ts';

export interface ThreadSettings {
  readonly registryUrl: string;
  /** The files are replicated by another program, which makes their checkpoints. */
  readonly replicated: boolean;
  /** The buffer of a WriteLease; undefined: this process may always write. */
  readonly lease: SharedArrayBuffer | undefined;
}

export interface WriteRequest {
  readonly id: number;
  readonly path: string;
  readonly name: string;
  readonly input: unknown;
}

export type ToThread =
  | { readonly kind: 'writes'; readonly writes: readonly WriteRequest[] }
  /** The file at this path was replaced or is gone: close its connection. */
  | { readonly kind: 'forget'; readonly path: string }
  /** What another process wrote last into the log of the file at this path may not be on disk. */
  | { readonly kind: 'doubt_log'; readonly path: string }
  /** The disk has little room: empty the logs of the open files. */
  | { readonly kind: 'make_room' }
  | { readonly kind: 'close' };

export type Settlement =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly failure: Failure };

/** The results of one group, sent after its COMMIT returned or failed. */
export interface FromThread {
  readonly settlements: readonly Settlement[];
  readonly committed: boolean;
  /** Tries that found the file locked before this outcome. */
  readonly busyRetries: number;
}

/** An error as plain data: classes do not survive the crossing. */
export type Failure =
  | { readonly kind: 'refusal'; readonly refusal: PlainRefusal; readonly stack: string | undefined }
  | {
      readonly kind: 'storage';
      readonly code: StorageErrorCode;
      readonly message: string;
      readonly stack: string | undefined;
      readonly sqliteCode: string | undefined;
    };

/** Serialises an error. A Refusal stays one; everything else becomes a StorageError. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Refusal) return { kind: 'refusal', refusal: plainRefusal(error), stack: error.stack };
  const message = error instanceof Error ? error.message : String(error);
  const stack = error instanceof Error ? error.stack : undefined;
  return { kind: 'storage', code: storageErrorCodeOf(error), message, stack, sqliteCode: sqliteCodeOf(error) };
}

export function errorOf(failure: Failure): Refusal | StorageError {
  const error =
    failure.kind === 'refusal' ? refusalFrom(failure.refusal) : new StorageError(failure.code, failure.message, failure.sqliteCode);
  if (failure.stack !== undefined) error.stack = failure.stack;
  return error;
}
