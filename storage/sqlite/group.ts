/**
 * A group of writes in one SQLite transaction. Each write's rows are all or nothing, and one that throws takes back its own only.
 *
 * A group is tried without savepoints first: under one, SQLite copies every page that a write changes, into a temporary file once they are
 * many, and hardly a write throws. When one does, the group is rolled back and made again, each write under a savepoint.
 */
import type { Connection } from './connection.ts';
import { rollBack } from './database.ts';
import { SEALED_MESSAGE, StorageError, storageErrorCodeOf } from './storage-error.ts';
import type { Sealing } from './writer.ts';
import { failureOf, type Settlement, type WriteRequest } from './writer-messages.ts';

export type RunnableTransactions = Readonly<Record<string, (db: Connection, input: unknown) => unknown>>;

/** Thrown by a transaction: its rows are rolled back, and the write resolves with `output`. */
export class Withdrawal<Output> extends Error {
  readonly output: Output;

  constructor(output: Output) {
    super('the write was withdrawn');
    this.output = output;
  }
}

/** An open file, and what its writes are made with. */
export interface WritableFile {
  readonly connection: Connection;
  readonly transactions: RunnableTransactions;
  /** Asked before each group; undefined: this kind of file has no seal. */
  readonly sealing: Sealing | undefined;
}

type RunWrite = (write: WriteRequest) => Settlement;

class NeedsSavepoints extends Error {}

/** Commits the group. @throws when the transaction as a whole could not be made or committed; then nothing of it stays. */
export function commitGroup(file: WritableFile, group: readonly WriteRequest[]): Settlement[] {
  try {
    return inTransaction(file.connection, () => settleAll(file, group, (write) => runBare(file, write)));
  } catch (error) {
    if (!(error instanceof NeedsSavepoints)) throw error;
    return inTransaction(file.connection, () => settleAll(file, group, (write) => runInSavepoint(file, write)));
  }
}

function inTransaction<Value>(connection: Connection, work: () => Value): Value {
  connection.statement('BEGIN IMMEDIATE').run();
  try {
    const value = work();
    connection.statement('COMMIT').run();
    return value;
  } catch (error) {
    rollBack(connection);
    throw error;
  }
}

/** Refuses writes that the seal forbids. The seal is read inside the transaction, so that no process can set it in between. */
function settleAll({ connection, sealing }: WritableFile, group: readonly WriteRequest[], run: RunWrite): Settlement[] {
  if (sealing === undefined) return group.map(run);
  let refuses = sealing.refusals(connection);
  return group.map((write) => {
    if (refuses?.(write.name) === true) {
      const sealed = new StorageError('sealed', `${SEALED_MESSAGE}; ${write.name} was not tried`);
      return { id: write.id, ok: false, failure: failureOf(sealed) };
    }
    const settlement = run(write);
    // The rest of the group comes after it.
    if (sealing.isChangedBy(write.name)) refuses = sealing.refusals(connection);
    return settlement;
  });
}

function runBare(file: WritableFile, write: WriteRequest): Settlement {
  try {
    return { id: write.id, ok: true, value: call(file, write) };
  } catch {
    throw new NeedsSavepoints();
  }
}

function runInSavepoint(file: WritableFile, write: WriteRequest): Settlement {
  const { connection } = file;
  connection.statement('SAVEPOINT write').run();
  let value: unknown;
  try {
    value = call(file, write);
  } catch (error) {
    // A connection opened while the disk was read-only stays read-only, so it is discarded with the group.
    if (storageErrorCodeOf(error) === 'read_only') throw error;
    try {
      connection.statement('ROLLBACK TO write').run();
      connection.statement('RELEASE write').run();
    } catch {
      // SQLite ended the whole transaction (a full disk, an I/O error): the first error is the group's.
      throw error;
    }
    if (error instanceof Withdrawal) return { id: write.id, ok: true, value: error.output };
    return { id: write.id, ok: false, failure: failureOf(error) };
  }
  connection.statement('RELEASE write').run();
  return { id: write.id, ok: true, value };
}

function call({ connection, transactions }: WritableFile, write: WriteRequest): unknown {
  const transaction = Object.hasOwn(transactions, write.name) ? transactions[write.name] : undefined;
  if (transaction === undefined) throw new StorageError('failed', `no transaction is named ${write.name}`);
  const value = transaction(connection, write.input);
  if (value instanceof Promise)
    throw new StorageError('failed', `transaction ${write.name} is asynchronous; its rows would miss the COMMIT`);
  return value;
}
