/**
 * Preloaded into a server (`--import`), whose SQL statements it counts in all threads: runs of prepared statements and calls of `exec`.
 * Tells the counts to whoever asks the port STATEMENT_COUNTS_PORT of the loopback address. Owns nothing else; time taken of a server that
 * has it says nothing.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads';
import type BetterSqlite3 from 'better-sqlite3';
import { COUNTED, type Counted, type StatementCounts } from './statement-counts.ts';

const KEY = 'statement-counts';
const CONTROL = /^\s*(?:BEGIN|COMMIT|END|ROLLBACK|SAVEPOINT|RELEASE)\b/i;
const COMMIT = /^\s*(?:COMMIT|END)\b/i;

type Statement = BetterSqlite3.Statement;
type Run = (this: Statement, ...parameters: unknown[]) => unknown;

/** One number for each of COUNTED, shared by all threads. */
function sharedCounts(): BigInt64Array | undefined {
  const known = getEnvironmentData(KEY);
  return known instanceof SharedArrayBuffer ? new BigInt64Array(known) : undefined;
}

/** Replaces what this thread's `better-sqlite3` runs statements by. */
function watch(counts: BigInt64Array): void {
  const add = (what: Counted): void => {
    Atomics.add(counts, COUNTED.indexOf(what), 1n);
  };
  // The server's own, wherever its build keeps its packages.
  const Database = createRequire(process.argv[1] ?? import.meta.url)('better-sqlite3') as typeof BetterSqlite3;
  const count = (sql: string, commitsAlone: boolean): void => {
    add('statements');
    if (isMainThread) add('onLoop');
    const isControl = CONTROL.test(sql);
    if (isControl) add('control');
    if (isControl ? COMMIT.test(sql) : commitsAlone) add('commits');
  };
  const methods = Object.getPrototypeOf(new Database(':memory:').prepare('SELECT 1')) as Record<string, Run>;
  for (const name of ['run', 'get', 'all', 'iterate']) {
    const original = methods[name];
    if (original === undefined) throw new Error(`statements of better-sqlite3 have no ${name}: they cannot be counted`);
    methods[name] = function counted(this: Statement, ...parameters) {
      count(this.source, !this.readonly && !this.database.inTransaction);
      return original.apply(this, parameters);
    };
  }
  const { exec } = Database.prototype;
  Database.prototype.exec = function counted(sql) {
    count(sql, false);
    return exec.call(this, sql);
  };
}

/** Answers whoever asks, from before the server's first line; ends with the server. */
async function tell(counts: BigInt64Array, port: number): Promise<void> {
  const server = createServer((_request, response) => {
    const told = Object.fromEntries(COUNTED.map((what, at) => [what, Number(Atomics.load(counts, at))]));
    response.end(JSON.stringify(told satisfies Record<string, number> as StatementCounts));
  });
  server.listen(port, '127.0.0.1').unref();
  await once(server, 'listening');
}

const port = process.env.STATEMENT_COUNTS_PORT;
// Whatever the server starts as a process of its own is not to listen as well.
delete process.env.STATEMENT_COUNTS_PORT;
if (isMainThread && port !== undefined) {
  setEnvironmentData(KEY, new SharedArrayBuffer(COUNTED.length * BigInt64Array.BYTES_PER_ELEMENT));
  const counts = sharedCounts();
  if (counts !== undefined) await tell(counts, Number(port));
}
const counts = sharedCounts();
if (counts !== undefined) watch(counts);
