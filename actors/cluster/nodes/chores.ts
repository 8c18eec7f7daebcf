/**
 * Recovers the unfinished work of a lost node (CLUSTER-19): texts and links that wait to be indexed, cards whose change was under way,
 * observations and usage that were not acted on, deadlines that no other node knows.
 *
 * The control file names the nodes that use an organisation's file, so only the organisations of lost nodes are checked. Rows in the file do not
 * name the node that worked on them: a chore leaves the work of live nodes alone and does no harm when two nodes do it. As a rule the oldest live
 * node does it, because a younger one may not have known the lost node.
 */
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Storage } from '../../../storage/storage.ts';
import { forEachOrganisation } from '../../for-each-organisation.ts';
import { Serial } from '../../serial.ts';
import type { Members, NodeRecord } from './members.ts';

export interface ChoreServices {
  readonly storage: Pick<Storage, 'control' | 'layout'>;
  readonly members: Pick<Members, 'self' | 'list' | 'onLost'>;
  /** The organisations that lost nodes used. */
  organisationIds(): Promise<Iterable<string>>;
  /** Resumes the unfinished work of a lost node in the organisation. */
  resume(organisationId: string): Promise<void>;
  /** Checks the deadlines of the organisations in use. Every node does: only the lost one may have known a deadline. */
  lookAgain(): Promise<void>;
  readonly log: Logger;
  /** Lets tests shorten what takes seconds. */
  readonly times?: { readonly afterStartMs?: number; readonly retryMs?: number };
}

export type Chores = Pick<NodeChores, 'alone' | 'run' | 'close'>;

/** By then the presence of a node that died just before this start has expired, and this one may be the oldest. */
const AFTER_START_MS = 5_000;
/** Making room on a full disk takes longer. */
const RETRY_MS = 30_000;

function isOlder(one: NodeRecord, other: NodeRecord): boolean {
  return one.startedAtMs < other.startedAtMs || (one.startedAtMs === other.startedAtMs && one.id < other.id);
}

/** The chores of a cell's node. It listens for losses at once. */
export class NodeChores {
  readonly #services: ChoreServices;
  readonly #rounds = new Serial();
  /** A round that has not begun covers all nodes that are lost until then. */
  #waiting: Promise<void> | undefined;
  #closed = false;
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(services: ChoreServices) {
    this.#services = services;
    services.members.onLost((node, liveness) => this.#lost(node, liveness));
    this.#later(services.times?.afterStartMs ?? AFTER_START_MS, () => {
      if (this.#isOldest()) void this.run();
    });
  }

  /** Whether no other node is alive: then all work that rows show as under way was abandoned. */
  alone(): boolean {
    const { members } = this.#services;
    return members.list().every(({ id }) => id === members.self);
  }

  #isOldest(): boolean {
    const { members } = this.#services;
    const [first, ...others] = members.list();
    return others.reduce((oldest, node) => (oldest !== undefined && isOlder(oldest, node) ? oldest : node), first)?.id === members.self;
  }

  #lost(node: string, liveness: string): void {
    if (this.#closed) return;
    const { log, lookAgain } = this.#services;
    const mine = this.#isOldest();
    log.info({ other: node, liveness, takes_up: mine }, 'a node was lost: checking the work that it left unfinished');
    lookAgain().catch((error: unknown) => log.error({ err: error }, 'checking deadlines after a node was lost failed'));
    if (mine) void this.run();
  }

  /** Does the chores of the organisations that lost nodes used, after those under way. Failures are logged and retried. */
  run(): Promise<void> {
    this.#waiting ??= this.#rounds.do(async () => {
      this.#waiting = undefined;
      await this.#round(await this.#services.organisationIds());
    });
    return this.#waiting;
  }

  async #round(organisationIds: Iterable<string>): Promise<void> {
    const { resume, times } = this.#services;
    const isClosed = () => this.#closed;
    // Requests come first: the event loop runs after each organisation.
    const options = { ids: organisationIds, isClosed, breathe: nextTick };
    const failed = await forEachOrganisation(this.#services, 'taking over the work of a lost node', resume, options);
    if (failed.length === 0 || this.#closed) return;
    this.#later(times?.retryMs ?? RETRY_MS, () => void this.#rounds.do(() => this.#round(failed)));
  }

  #later(ms: number, work: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, ms);
    this.#timers.add(timer.unref());
  }

  /** Stops after the current organisation. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    await this.#rounds.done();
  }
}

/** For a process that is alone. */
export const noChores: Chores = { alone: () => true, async run() {}, async close() {} };
