/**
 * Keeps a host that was taken over from writing (CELL-17). A process of a cell looks every other second whether its term is the newest: at
 * the claims in Redis, and at the address of its replica, where a take-over leaves a mark. One of the two has to say that it is; then it
 * may write for some seconds more. Who takes the cell over waits for longer than that. A cell without a replica cannot be taken over, and
 * is fenced by a claim only.
 */
import type { Logger } from 'pino';
import type { Conditions } from '../../storage/health/conditions.ts';
import type { CellTerm } from '../../storage/moving/cell-term.ts';
import type { WriteLease } from '../../storage/sqlite/write-lease.ts';
import type { TermClaim, TermClaims } from './term-claims.ts';

/** How often it looks: four looks may fail before writes stop. */
const LOOK_EVERY_MS = 2_000;
/** How long a process may write after it began a look that showed no other host. */
export const TERM_LEASE_MS = 10_000;
/** What a take-over waits: the lease, and what clocks of two hosts may differ by in that time. */
export const TAKE_OVER_WAIT_MS = TERM_LEASE_MS + 2_000;
/** A look that takes longer counts as none. */
const LOOK_TIMEOUT_MS = 3_000;

/** What one place says of the term: `newest`, `overtaken`, or nothing, because it cannot be asked or has lost what it knew. */
export type Verdict = 'newest' | 'overtaken' | 'silent';

export interface FenceOptions {
  readonly own: CellTerm;
  readonly claim: TermClaim;
  readonly claims: TermClaims;
  /** Asks the address of the replica. Undefined: there is none that can be asked. */
  readonly askReplica: (() => Promise<Verdict>) | undefined;
  readonly lease: WriteLease;
  readonly conditions: Conditions;
  readonly log: Logger;
}

export interface Fence {
  /** False: another host has taken the cell over, or may have. */
  readonly holds: boolean;
  /** Settles after the first look. */
  readonly looked: Promise<void>;
  /** Calls back once it holds for the first time. */
  whenHeld(begin: () => void): void;
  close(): void;
}

const TAKEN_OVER =
  'another host has taken this cell over: nothing is stored here any more, and nothing will be. Stop this service; what it has beyond the replica is in its data directory';
const UNPROVED =
  'neither Redis nor the address of the replica can say whether another host has taken this cell over: nothing is stored until one of them can';

/** The promise, or `late` after LOOK_TIMEOUT_MS; a failure is `silent`. */
async function inTime(look: Promise<Verdict>): Promise<Verdict> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Verdict>((resolve) => {
    timer = setTimeout(resolve, LOOK_TIMEOUT_MS, 'silent').unref();
  });
  return Promise.race([look.catch((): Verdict => 'silent'), late]).finally(() => clearTimeout(timer));
}

class TermFence implements Fence {
  readonly looked: Promise<void>;
  readonly #options: FenceOptions;
  readonly #waiting: (() => void)[] = [];
  #isOvertaken = false;
  #isAsking = false;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: FenceOptions) {
    this.#options = options;
    this.looked = this.#lookOn();
  }

  get holds(): boolean {
    return this.#options.lease.holds;
  }

  whenHeld(begin: () => void): void {
    if (this.holds) begin();
    else this.#waiting.push(begin);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  async #lookOn(): Promise<void> {
    await this.#look();
    if (!this.#closed && !this.#isOvertaken) this.#timer = setTimeout(() => void this.#lookOn(), LOOK_EVERY_MS).unref();
  }

  async #look(): Promise<void> {
    const { lease } = this.#options;
    const from = lease.now();
    const [claims, replica] = await Promise.all([inTime(this.#askClaims()), this.#askReplica()]);
    if (claims === 'overtaken' || replica === 'overtaken') {
      this.#overtaken();
      return;
    }
    if (replica === undefined) lease.keep();
    else if (claims === 'newest' || replica === 'newest') lease.extend(from, TERM_LEASE_MS);
    if (replica !== 'silent') await this.#claim(claims);
    this.#tell();
  }

  /** A later claim overtakes; no claim of this term either means that Redis has lost them, and says nothing. */
  async #askClaims(): Promise<Verdict> {
    const { claims, own } = this.#options;
    if ((await claims.read({ ...own, term: own.term + 1 })) !== undefined) return 'overtaken';
    return (await claims.read(own)) === undefined ? 'silent' : 'newest';
  }

  /** One question at a time: a folder of a network that hangs would otherwise take all threads that read files. */
  async #askReplica(): Promise<Verdict | undefined> {
    const { askReplica } = this.#options;
    if (askReplica === undefined) return undefined;
    if (this.#isAsking) return 'silent';
    this.#isAsking = true;
    const asked = askReplica().finally(() => {
      this.#isAsking = false;
    });
    return inTime(asked);
  }

  /** Redis learns of this term, at first and when it lost it, once the other place has said that it is the newest. */
  async #claim(said: Verdict): Promise<void> {
    const { claims, own, claim } = this.#options;
    if (said === 'newest') return;
    await claims.make(own, claim).catch(() => {});
  }

  #overtaken(): void {
    const { lease, conditions } = this.#options;
    this.#isOvertaken = true;
    lease.end();
    conditions.close('term_unproved');
    conditions.open('fenced', TAKEN_OVER);
  }

  #tell(): void {
    const { conditions, log, own } = this.#options;
    if (!this.holds) {
      conditions.open('term_unproved', UNPROVED);
      return;
    }
    conditions.close('term_unproved');
    const waiting = this.#waiting.splice(0);
    if (waiting.length > 0) log.info(own, 'this cell is served in its newest term');
    for (const begin of waiting) begin();
  }
}

/** Begins to look; writes are refused before the first look has shown that the term is the newest. */
export function raiseFence(options: FenceOptions): Fence {
  return new TermFence(options);
}
