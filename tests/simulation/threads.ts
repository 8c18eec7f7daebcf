/** The writer's thread, run by the world: its messages take time, its file may be locked, and each write behind the fence is watched. */
import { EventEmitter } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { Withdrawal } from '../../storage/sqlite/group.ts';
import type { FromThread, WriteRequest } from '../../storage/sqlite/writer-messages.ts';
import type { Registry, WriterThread } from '../../storage/sqlite/writer-thread.ts';
import { faults, happens, Wire } from './network.ts';
import { world } from './world.ts';

/** As `WRITES` has them. */
const nameOf = ({ name, input }: WriteRequest) =>
  name === 'openTurn' && (input as { kind: string }).kind === 'continuation' ? 'continueTurn' : name;

/** A thread that is a part of its process: its messages take time, and it dies with the process. */
class SimulatedThread extends EventEmitter {
  static registry: Registry;
  static body: typeof WriterThread;
  static Withdrawal: typeof Withdrawal;
  readonly #owner = world.current;
  readonly #there = new Wire();
  readonly #back = new Wire();
  readonly #waiting: unknown[] = [];
  /** Names of writes that are under way. */
  readonly #names = new Map<number, string>();
  readonly #thread: WriterThread;

  constructor(_url: URL, { workerData, name }: { workerData: never; name: string }) {
    super();
    if (name !== 'writer') throw new Error(`no thread "${name}" is simulated`);
    const port = {
      postMessage: (message: unknown) => {
        const copy = structuredClone(message);
        for (const { id } of (copy as FromThread).settlements ?? []) fencing.moment(this.#names.get(id) ?? '', 'made');
        this.#back.send(faults.threadMs, this.#owner, () => this.emit('message', copy));
      },
      close: () => this.#back.send(faults.threadMs, this.#owner, () => this.emit('exit', 0)),
      waiting: this.#waiting,
    };
    this.#thread = new SimulatedThread.body(port as never, SimulatedThread.registry, workerData);
  }
  postMessage(message: unknown): void {
    this.#waiting.push(structuredClone(message));
    for (const write of (message as { writes?: readonly WriteRequest[] }).writes ?? []) {
      const name = nameOf(write);
      this.#names.set(write.id, name);
      fencing.moment(name, 'asked');
    }
    this.#there.send(faults.threadMs, this.#owner, () => {
      const first = this.#waiting.shift();
      // Those that came meanwhile were taken with an earlier one.
      if (first !== undefined) this.#thread.receive(first as never);
    });
  }
  async terminate(): Promise<number> {
    this.emit('exit', 1);
    return 1;
  }
}

export type Moment = 'asked' | 'made';
/** Told of each write that was made with an epoch that is over, and of each as it is asked for and once it is committed; counts transactions. */
export const fencing = { broke: (_what: string): void => {}, moment: (_name: string, _when: Moment): void => {}, begun: 0 };

interface Fenced {
  readonly conversationId: string;
  readonly fence: { readonly expectedEpoch: number | null };
}

/** A write behind the fence, compared with the row as it was before: another one than what the program compares. */
function watched(name: string, write: (db: Connection, input: never) => unknown) {
  return (db: Connection, input: unknown) => {
    const { conversationId, fence } = input as Fenced;
    const row = db.statement('SELECT epoch, owner FROM conversations WHERE id = :conversationId').get({ conversationId });
    const done = write(db, input as never);
    const isMade = done === true || (done as { outcome?: string }).outcome === 'opened';
    // Its rows are taken back, and it counts as made.
    if (process.env.PLANTED !== undefined && name === 'commitTurn' && isMade) throw new SimulatedThread.Withdrawal(done);
    if (isMade && (row?.epoch ?? null) !== fence.expectedEpoch)
      fencing.broke(`the fence: ${name} at epoch ${fence.expectedEpoch} of ${conversationId}, which is ${row?.owner}'s at ${row?.epoch}`);
    return done;
  };
}

/** A connection for writing that finds its file locked now and then. */
function sometimesBusy(connection: Connection): Connection {
  const begin = connection.statement('BEGIN IMMEDIATE');
  const { run } = begin;
  begin.run = (...given) => {
    if (happens(faults.busy)) throw Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
    fencing.begun += 1;
    return run.apply(begin, given);
  };
  return connection;
}

/** Before any node is made; the program is loaded by then. */
export async function prepareThreads(): Promise<void> {
  const { Readers } = await import('../../actors/readers.ts');
  // One list for all readers of a process would be one for all processes here, and would wait for the one that began it.
  const waking = new WeakSet<object>();
  Readers.prototype.wake = function (): void {
    if (waking.has(this)) return;
    waking.add(this);
    setImmediate(() => {
      waking.delete(this);
      this.flush();
    });
  };
  const { open, transactions, ...registry } = await import('../../storage/transactions.ts');
  const fenced = (['openTurn', 'commitTurn', 'loseExecutions'] as const).map((name) => [name, watched(name, transactions[name])]);
  SimulatedThread.registry = {
    ...registry,
    open: (path) => sometimesBusy(open(path)),
    transactions: { ...transactions, ...Object.fromEntries(fenced) } as Registry['transactions'],
  };
  SimulatedThread.Withdrawal = (await import('../../storage/sqlite/group.ts')).Withdrawal;
  SimulatedThread.body = (await import('../../storage/sqlite/writer-thread.ts')).WriterThread;
}

const receiveOne = (port: { waiting: unknown[] }) => (port.waiting.length === 0 ? undefined : { message: port.waiting.shift() });
Object.assign(threads, { Worker: SimulatedThread, receiveMessageOnPort: receiveOne });
syncBuiltinESMExports();
