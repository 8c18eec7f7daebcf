/**
 * What has to be done because a node stopped in the middle of something (CLUSTER-19): texts and links that wait to be indexed,
 * cards whose change was under way, observations nobody acted on, usage nobody looked at, deadlines nobody else knew of.
 *
 * Rows do not say who was at it, so each chore looks at all organisations, and is made so that it leaves alone what a living node
 * is doing and does no harm when two nodes do it. One does it as a rule: the oldest of those that are alive, because a younger
 * one may not have known the one that was lost.
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
  organisationIds(): Iterable<string>;
  /** Takes up what a lost node had under way in the organisation. */
  resume(organisationId: string): Promise<void>;
  /** Looks at the deadlines of all organisations: every node does, since the lost one may have been the only one that knew. */
  lookAgain(): Promise<void>;
  readonly log: Logger;
  /** Lets tests shorten what takes seconds. */
  readonly times?: { readonly afterStartMs?: number; readonly retryMs?: number };
}

export interface Chores {
  /** No other node is alive: whatever rows say is under way is nobody's. */
  alone(): boolean;
  /** Does the chores of all organisations now, after those under way. What fails is logged and tried again. */
  run(): Promise<void>;
  /** Ends after the organisation that it is at. */
  close(): Promise<void>;
}

/** By then the presence of a node that died just before this one started has run out, and this one may be the oldest. */
const AFTER_START_MS = 5_000;
/** A full disk is not mended in less. */
const RETRY_MS = 30_000;

function isOlder(one: NodeRecord, other: NodeRecord): boolean {
  return one.startedAtMs < other.startedAtMs || (one.startedAtMs === other.startedAtMs && one.id < other.id);
}

class Rounds implements Chores {
  readonly #services: ChoreServices;
  readonly #rounds = new Serial();
  /** A round that has not begun covers all that is lost until then. */
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
    lookAgain().catch((error: unknown) =>
      log.error({ err: error }, 'checking the deadlines of all organisations after a node was lost failed'),
    );
    if (mine) void this.run();
  }

  run(): Promise<void> {
    this.#waiting ??= this.#rounds.do(() => {
      this.#waiting = undefined;
      return this.#round(this.#services.organisationIds());
    });
    return this.#waiting;
  }

  async #round(organisationIds: Iterable<string>): Promise<void> {
    const { resume, times } = this.#services;
    const isClosed = () => this.#closed;
    // Whoever asks this node for something comes first: it breathes after each.
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

  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    await this.#rounds.done();
  }
}

/** Of a process that is alone. */
export const noChores: Chores = { alone: () => true, async run() {}, async close() {} };

/** Does the chores of a cell's node; begins to listen for losses at once. */
export function createChores(services: ChoreServices): Chores {
  return new Rounds(services);
}
