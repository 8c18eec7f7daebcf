/**
 * Keeps a host that was taken over from writing, and two directories from being one cell (CELL-17, CELL-18). A process of a cell looks every
 * other second at the places where the term of its cell is claimed: Redis, and the address of its replica. One of them has to show the claim
 * of its own directory; then it may write for some seconds more. Who takes the cell over waits for longer than that. A directory that lies
 * elsewhere than the one that claimed, a copy or itself after a reboot, says so in the claim and waits as long: the one that lives strikes
 * it out. Where all places have lost the claim it is made anew after as long. What was overtaken once is so for good. A cell that never had a replica cannot be taken over, and is fenced by a claim only.
 */
import type { Logger } from 'pino';
import type { Conditions } from '../../storage/health/conditions.ts';
import type { CellTerm } from '../../storage/moving/cell-term.ts';
import type { DirectorySeat } from '../../storage/moving/directory-seat.ts';
import type { WriteLease } from '../../storage/sqlite/write-lease.ts';

/** How often it looks: four looks may fail before writes stop. */
const LOOK_EVERY_MS = 2_000;
/** How long a process may write after it began a look that showed no other host. */
export const TERM_LEASE_MS = 10_000;
/** What a take-over waits: the lease, and what clocks of two hosts may differ by in that time. */
export const TAKE_OVER_WAIT_MS = TERM_LEASE_MS + 2_000;
/** A look that takes longer counts as none. */
const LOOK_TIMEOUT_MS = 3_000;

/** Who has claimed the term, in one of the two places. */
export interface Standing {
  /** Absent: a claim of an earlier release, which named no directory. */
  readonly seat?: string | undefined;
  /** Who waits for it: nobody while the first one strikes it out. */
  readonly next?: string | undefined;
  readonly by?: string | undefined;
}

/** A place where the term is claimed. */
export interface ClaimPlace {
  /** What stands there; undefined: it knows of no claim; `later`: another host claimed a later term. @throws while it cannot be asked */
  read(): Promise<Standing | 'later' | undefined>;
  /** Puts a claim in place of what was read. False: something else stands there by now. @throws while it cannot be asked */
  replace(was: Standing | undefined, is: Standing): Promise<boolean>;
}

/** What a place says: this directory has the claim; another one that may be gone has it; a later one has; none has; it cannot be asked. */
type Verdict = 'own' | 'contested' | 'overtaken' | 'unclaimed' | 'silent';

export interface FenceOptions {
  readonly own: CellTerm;
  readonly seat: DirectorySeat;
  readonly places: readonly ClaimPlace[];
  /** Whether nothing is written without a place that shows its claim; else silence is no reason to stop. */
  mustProve(): boolean;
  /** Whether the claim of this directory where it lay before, or of the one that it is a copy of, may be taken when that one is gone, or was lost. */
  mayFollow(isHere: boolean): boolean;
  isOvertaken(): boolean;
  noteOvertaken(sentence: string): void;
  readonly lease: WriteLease;
  readonly conditions: Conditions;
  readonly log: Logger;
}

export interface Fence {
  /** False: another host has taken the cell over, or may have. */
  readonly holds: boolean;
  /** Settles after the first look. Rejects when another directory serves as this cell. */
  readonly looked: Promise<void>;
  /** Calls back once it holds for the first time. */
  whenHeld(begin: () => void): void;
  close(): void;
}

const TAKEN_OVER =
  'another host has taken this cell over: nothing is stored here any more, and nothing will be. Stop this service; what it has beyond the replica is in its data directory';
const UNPROVED =
  'neither Redis nor the address of the replica shows that this directory still is the cell: nothing is stored until one of them does. Where Redis lost its data, give REPLICA_URL the address that it had (docs/scaling.md, "Redis lost its data")';

/** The value, or `otherwise` after LOOK_TIMEOUT_MS; so for a failure. */
async function inTime<Value>(look: Promise<Value>, otherwise: Value): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Value>((resolve) => {
    timer = setTimeout(resolve, LOOK_TIMEOUT_MS, otherwise).unref();
  });
  return Promise.race([look.catch(() => otherwise), late]).finally(() => clearTimeout(timer));
}

/** One question at a time: a folder of a network that hangs would otherwise take all threads that read files. */
function oneAtATime(ask: () => Promise<Verdict>): () => Promise<Verdict> {
  let isAsking = false;
  return async () => {
    if (isAsking) return 'silent';
    isAsking = true;
    const asked = ask().finally(() => {
      isAsking = false;
    });
    return inTime(asked, 'silent');
  };
}

class TermFence implements Fence {
  readonly looked: Promise<void>;
  readonly #options: FenceOptions;
  readonly #asks: readonly (() => Promise<Verdict>)[];
  readonly #waiting: (() => void)[] = [];
  #hasHeld = false;
  /** Since when every place has answered that nobody claimed the term; undefined: not every place, or somebody did. */
  #vacantSinceMs: number | undefined;
  #isOver = false;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: FenceOptions) {
    this.#options = options;
    this.#asks = options.places.map((place) => oneAtATime(() => this.#ask(place)));
    this.looked = this.#look().finally(() => this.#lookLater());
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

  #lookLater(): void {
    if (this.#closed || this.#isOver) return;
    const look = () =>
      this.#look()
        .catch((error: Error) => this.#over(error.message))
        .finally(() => this.#lookLater());
    this.#timer = setTimeout(look, LOOK_EVERY_MS).unref();
  }

  /** @throws Error when another directory serves as this cell */
  async #look(): Promise<void> {
    const { lease, places, mustProve, isOvertaken } = this.#options;
    const from = lease.now();
    const said: readonly Verdict[] = isOvertaken() ? ['overtaken'] : await Promise.all(this.#asks.map((ask) => ask()));
    if (said.includes('overtaken')) {
      this.#overtaken();
      return;
    }
    this.#vacantSinceMs = said.every((each) => each === 'unclaimed') ? (this.#vacantSinceMs ?? from.steadyMs) : undefined;
    const contested = places.filter((_, at) => said[at] === 'contested');
    if (contested.length > 0) {
      const other = await this.#contest(contested, said.includes('silent')).catch(() => undefined);
      if (other === 'taken') return this.#look();
      if (other !== undefined) throw this.#refusal(other);
    } else if (said.includes('own') || !mustProve() || this.#isVacant(from.steadyMs)) {
      const unclaimed = places.filter((_, at) => said[at] === 'unclaimed');
      const claimed = await Promise.all(unclaimed.map((place) => inTime(this.#put(place, undefined), true)));
      if (claimed.every(Boolean)) lease.extend(from, TERM_LEASE_MS);
    }
    this.#tell();
  }

  /**
   * Whether the places have lost the claim, and whoever lives has had the time to claim anew. Not where a replica was noted whose address is
   * not asked: the cell may have been taken over from there.
   */
  #isVacant(steadyMs: number): boolean {
    return this.#options.mayFollow(false) && steadyMs - (this.#vacantSinceMs ?? steadyMs) >= TAKE_OVER_WAIT_MS;
  }

  async #ask(place: ClaimPlace): Promise<Verdict> {
    const { seat } = this.#options;
    const standing = await place.read();
    if (standing === 'later') return 'overtaken';
    if (standing === undefined) return 'unclaimed';
    if (standing.seat === undefined || (standing.seat === seat.own && (standing.next ?? seat.own) !== seat.own))
      return (await this.#put(place, standing)) ? 'own' : 'silent';
    if (standing.seat === seat.own) return 'own';
    // A directory that never claimed anything, such as one that was restored from a backup, was not overtaken.
    return seat.had(standing.seat) || (seat.isNew && !this.#hasHeld) ? 'contested' : 'overtaken';
  }

  #put(place: ClaimPlace, was: Standing | undefined): Promise<boolean> {
    this.#options.seat.note();
    return place.replace(was, { seat: this.#options.seat.own });
  }

  #refusal({ by }: Standing): Error {
    const { cell } = this.#options.own;
    const where = by === undefined ? '' : `, ${by},`;
    return new Error(
      `Another data directory${where} serves as cell "${cell}": this one may be a copy of it. Stop the other one and start again, or give this one a CELL_ID and a DATA_DIR of its own.`,
    );
  }

  /**
   * Says in the claims that this directory waits for them, and takes them unless who has them strikes that out. A directory that lies where
   * it lay needs one place for that, because it is itself that had them; a copy has to reach all. Who has struck it out, or has them while
   * this directory was not the cell before; `taken`: they are this one's now. @throws while a place cannot be asked
   */
  async #contest(places: readonly ClaimPlace[], isSomeSilent: boolean): Promise<Standing | 'taken' | undefined> {
    const { seat, lease, own, mayFollow, log } = this.#options;
    const claims: { readonly place: ClaimPlace; readonly was: Standing }[] = [];
    for (const place of places) {
      const was = await place.read();
      if (was === undefined || was === 'later' || was.seat === undefined || was.seat === seat.own) return undefined;
      claims.push({ place, was });
    }
    const isHere = claims.every(({ was }) => seat.isHere(was.seat ?? ''));
    if (isHere && this.holds) {
      for (const { place, was } of claims) await this.#put(place, was);
      return undefined;
    }
    if (!mayFollow(isHere)) return claims[0]?.was;
    if (isSomeSilent && !isHere) return undefined;
    log.warn({ ...own, seconds: TAKE_OVER_WAIT_MS / 1_000 }, 'another directory claimed this cell last: waiting whether it still lives');
    for (const { place, was } of claims) if (!(await place.replace(was, { ...was, next: seat.own }))) return undefined;
    const from = lease.now().steadyMs;
    while (lease.now().steadyMs - from < TAKE_OVER_WAIT_MS) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      for (const { place, was } of claims) {
        const standing = await place.read();
        if (this.#closed || standing === undefined || standing === 'later') return undefined;
        const isWaiting = standing.seat === seat.own || (standing.seat === was.seat && standing.next === seat.own);
        if (!isWaiting) return standing;
      }
    }
    const taken = [];
    for (const { place, was } of claims) taken.push(await this.#put(place, { ...was, next: seat.own }));
    return taken.every(Boolean) ? 'taken' : undefined;
  }

  #overtaken(): void {
    const { isOvertaken, noteOvertaken, log } = this.#options;
    try {
      if (!isOvertaken()) noteOvertaken(TAKEN_OVER);
    } catch (error) {
      log.error({ err: error }, 'writing down that another host took over failed');
    }
    this.#over(TAKEN_OVER);
  }

  #over(sentence: string): void {
    const { lease, conditions } = this.#options;
    this.#isOver = true;
    lease.end();
    conditions.close('term_unproved');
    conditions.open('fenced', sentence);
  }

  #tell(): void {
    const { conditions, log, own } = this.#options;
    if (this.#isOver) return;
    if (!this.holds) {
      conditions.open('term_unproved', UNPROVED);
      return;
    }
    this.#hasHeld = true;
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
