/**
 * Which nodes of the cell are alive (CLUSTER-8): a unix socket for each on the host, and presence in Redis beside it. The sockets
 * decide, and work without Redis. This file owns which nodes are known; node-socket.ts owns what this node tells, neighbour.ts the connection to one
 * other, heartbeat.ts when it counts as silent, presence.ts the keys in Redis.
 *
 * A node's id is never used again, so gone is final: a socket that refuses or is missing has no process behind it. Silent is a guess, right for
 * a process that is paused or stuck. Taking over from it is safe because its writes are fenced by row.
 *
 * Not a store: silence is time passing and no event, readers ask when they need to know, and all that anybody waits for is the loss of a node,
 * which `onLost` tells.
 */
import { chmodSync, type FSWatcher, mkdirSync, readdirSync, rmSync, watch } from 'node:fs';
import type { Logger } from 'pino';
import type { NodeStore } from '../../node.ts';
import type { Liveness } from './heartbeat.ts';
import { HEARTBEAT_TIMES, type HeartbeatTimes, OwnClock } from './heartbeat.ts';
import { Neighbour } from './neighbour.ts';
import { markOf, markOfFile, nodesDir, socketPath, socketPathOfMark } from './node-id.ts';
import { type NodeRecord, recordOf } from './node-record.ts';
import { NodeSocket, type TakeQuestion } from './node-socket.ts';
import { PRESENCE_EVERY_MS, Presence, type PresenceOptions } from './presence.ts';

export { mintNodeId, socketPath } from './node-id.ts';
export type { NodeRecord } from './node-record.ts';

/** The folder is watched; it is also read regularly, in case the kernel drops an event. */
const SCAN_MS = 1_000;
/** A probe is on a request's path. */
const PROBE_MS = 250;
/** No request waits for a start; only a paused node delays it for so long. */
const MEET_MS = 1_000;
/** Marks of nodes that are gone. A forgotten one only has its socket checked again. */
const GONE_MAX = 10_000;

export interface MembersOptions {
  readonly dataDir: string;
  /** This node. */
  readonly node: NodeStore;
  /** Null: only the nodes of this host are known. The caller closes the connection. */
  readonly presence: PresenceOptions | null;
  readonly log: Logger;
  /** Takes over connections to this node's socket that begin with a question. */
  readonly onQuestion?: TakeQuestion;
  /** Monotonic clock in ms. */
  readonly nowMs?: () => number;
  readonly times?: HeartbeatTimes;
}

export class Members {
  readonly self: string;
  readonly #options: MembersOptions;
  readonly #times: HeartbeatTimes;
  readonly #nowMs: () => number;
  readonly #dir: string;
  readonly #mark: string;
  readonly #socket: NodeSocket;
  readonly #presence: Presence | null;
  readonly #clock: OwnClock;
  /** By mark. */
  readonly #neighbours = new Map<string, Neighbour>();
  /** Marks, the oldest first. */
  readonly #gone = new Set<string>();
  readonly #listeners: ((node: string, liveness: 'silent' | 'gone', pid: number) => void)[] = [];
  readonly #timers: NodeJS.Timeout[] = [];
  #watcher: FSWatcher | null = null;
  readonly #subscription: { unsubscribe(): void };

  constructor(options: MembersOptions) {
    const {
      dataDir,
      node,
      presence,
      onQuestion = (socket) => socket.destroy(),
      nowMs = () => performance.now(),
      times = HEARTBEAT_TIMES,
    } = options;
    this.#options = options;
    this.#times = times;
    this.#nowMs = nowMs;
    this.self = node.get().context.id;
    this.#dir = nodesDir(dataDir);
    this.#socket = new NodeSocket(socketPath(dataDir, this.self), () => this.#record, onQuestion);
    this.#mark = markOf(this.self) ?? '';
    this.#presence = presence === null ? null : new Presence(presence);
    this.#clock = new OwnClock(times, nowMs());
    // Counts change with every turn and are told with the next heartbeat.
    this.#subscription = node.select(({ life }) => life).subscribe(() => this.#tell());
  }

  get #record(): NodeRecord {
    return recordOf(this.#options.node);
  }

  /** Tells the neighbours and Redis at once. */
  #tell(): void {
    this.#socket.push();
    void this.#presence?.say(this.#record);
  }

  async open(): Promise<void> {
    // A process that connects is trusted as a node and receives answers to people, so only the service's own user may.
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
    chmodSync(this.#dir, 0o700);
    await this.#socket.listen();
    this.#watch();
    this.#scan();
    void this.#presence?.say(this.#record);
    this.#every(this.#times.pingMs, () => this.#tick());
    this.#every(SCAN_MS, () => this.#show());
    this.#every(PRESENCE_EVERY_MS, () => void this.#presence?.say(this.#record));
    await this.#known([...this.#neighbours.values()], MEET_MS);
  }

  /** Nodes that are alive, this one first. */
  list(): NodeRecord[] {
    const alive = [...this.#neighbours.values()].filter(({ liveness }) => liveness === 'alive');
    return [this.#record, ...alive.map(({ record }) => record).filter((record) => record !== null)];
  }

  /** What is known now. An unknown node is `alive` until a probe shows that it is `gone`. */
  liveness(node: string): Liveness {
    const mark = markOf(node);
    if (mark === this.#mark) return 'alive';
    if (mark === null || this.#gone.has(mark)) return 'gone';
    return this.#neighbours.get(mark)?.liveness ?? 'alive';
  }

  /** Tries the node's socket if the node is unknown. Settles within 300 ms. */
  async probe(node: string): Promise<Liveness> {
    const mark = markOf(node);
    if (mark === null || mark === this.#mark || this.#gone.has(mark)) return this.liveness(node);
    const neighbour = this.#neighbours.get(mark) ?? this.#meet(mark);
    if (neighbour.record === null) await this.#known([neighbour], PROBE_MS);
    return neighbour.record === null && neighbour.liveness === 'alive' ? 'silent' : neighbour.liveness;
  }

  /** Calls `listener` when a node turns silent or gone, and when a silent one goes. */
  onLost(listener: (node: string, liveness: 'silent' | 'gone', pid: number) => void): void {
    this.#listeners.push(listener);
  }

  /** The nodes of all cells that share the Redis, by presence alone; rejects while Redis is away. */
  everywhere(): Promise<NodeRecord[]> {
    return (
      this.#presence?.everywhere() ?? Promise.reject(new Error('This node has no Redis, so it knows of no other host: set REDIS_URL.'))
    );
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#subscription.unsubscribe();
    this.#watcher?.close();
    for (const neighbour of this.#neighbours.values()) neighbour.close();
    this.#socket.close();
    await this.#presence?.leave(this.#record);
  }

  #every(ms: number, work: () => void): void {
    const timer = setInterval(work, ms);
    timer.unref();
    this.#timers.push(timer);
  }

  /** Resolves when each answered or is gone, and after `timeoutMs` at the latest. */
  async #known(neighbours: readonly Neighbour[], timeoutMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    await Promise.race([Promise.all(neighbours.map(({ known }) => known)), enough]);
    clearTimeout(timer);
  }

  #watch(): void {
    const { log } = this.#options;
    const blind = (error: unknown) =>
      log.info({ err: error }, 'watching the folder of nodes is not possible: it is read every second instead');
    try {
      this.#watcher = watch(this.#dir, { persistent: false }, () => this.#scan());
      this.#watcher.on('error', blind);
    } catch (error) {
      blind(error);
    }
  }

  /** Connects to new nodes. Returns the marks of all nodes that have a file. */
  #scan(): (string | null)[] {
    let marks: (string | null)[];
    try {
      marks = readdirSync(this.#dir).map(markOfFile);
    } catch (error) {
      this.#options.log.warn({ err: error }, 'reading the folder of nodes failed: nodes that start now are not seen');
      return [];
    }
    for (const mark of marks) if (mark !== null && mark !== this.#mark && !this.#neighbours.has(mark)) this.#meet(mark);
    return marks;
  }

  /** If the file was deleted, nodes that start would take this one for gone. */
  #show(): void {
    if (this.#scan().includes(this.#mark)) return;
    this.#socket
      .listen()
      .catch((err) => this.#options.log.warn({ err }, 'this node’s socket could not be opened: nodes that start now do not see this one'));
  }

  #meet(mark: string): Neighbour {
    const neighbour = new Neighbour({
      mark,
      path: socketPathOfMark(this.#options.dataDir, mark),
      times: this.#times,
      nowMs: this.#nowMs,
      onGone: (gone, wasThere) => this.#goes(gone, wasThere),
    });
    this.#gone.delete(mark);
    this.#neighbours.set(mark, neighbour);
    return neighbour;
  }

  #tick(): void {
    const missedMs = this.#clock.tick(this.#nowMs());
    for (const neighbour of [...this.#neighbours.values()]) if (neighbour.tick(missedMs)) this.#lose(neighbour, 'silent');
  }

  #goes(neighbour: Neighbour, wasThere: boolean): void {
    this.#neighbours.delete(neighbour.mark);
    this.#gone.add(neighbour.mark);
    if (this.#gone.size > GONE_MAX) this.#gone.delete(this.#gone.values().next().value ?? '');
    try {
      rmSync(socketPathOfMark(this.#options.dataDir, neighbour.mark), { force: true });
    } catch (err) {
      this.#options.log.info({ err, other: neighbour.mark }, 'removing the socket of a node that is gone failed: the file stays');
    }
    // A file of an earlier run is no loss.
    if (wasThere) this.#lose(neighbour, 'gone');
  }

  #lose({ record, mark }: Neighbour, liveness: 'silent' | 'gone'): void {
    const isExpected = liveness === 'gone' && record?.state === 'draining';
    this.#options.log[isExpected ? 'info' : 'warn']({ other: record?.id ?? mark, liveness }, 'a node of this cell is no longer alive');
    if (record !== null) for (const listener of this.#listeners) listener(record.id, liveness, record.pid);
  }
}

/**
 * Listens on this node's socket and connects to the others. Resolves when those that are there have answered, within a second.
 * @throws Error when DATA_DIR is too long for a socket, or cannot be written to.
 */
export async function createMembers(options: MembersOptions): Promise<Members> {
  const members = new Members(options);
  await members.open();
  return members;
}
