/** The order in which links are read: rows are the queue, organisations in rotation, so that a thousand links delay no other. */

/** Links read at once by one process: each may hold 10 MB for 20 s, and sites are slow rather than many. */
export const LINKS_AT_ONCE = 4;
/** How often a link that another node reads is checked. */
const LOOK_MS = 500;
/** After a failed write or a bug. The next start would read the link anyway. */
const RETRY_MS = 30_000;

export interface NextLink {
  readonly id: string;
  /** No other link is read meanwhile. */
  readonly alone: boolean;
}

export interface LinkQueueOptions {
  readonly log: { error(fields: object, message: string): void };
  /** A link of the organisation that waits and is none of `running`, here or elsewhere; undefined when there is none. */
  next(organisationId: string, running: ReadonlySet<string>): NextLink | undefined;
  /** True when it is at rest afterwards, false when it has to be read again, `elsewhere` when another node reads it. */
  work(organisationId: string, sourceId: string, signal: AbortSignal): Promise<boolean | 'elsewhere'>;
  /** Whether the link is at rest: another node may have read it. */
  atRest(organisationId: string, sourceId: string): boolean;
}

export class LinkQueue {
  readonly #options: LinkQueueOptions;
  readonly #ended = new AbortController();
  /** In the order in which they are served. */
  readonly #awake = new Set<string>();
  readonly #running = new Map<string, Promise<void>>();
  #isAlone = false;
  /** Links that other nodes read, until they are checked again. */
  readonly #elsewhere = new Map<string, NodeJS.Timeout>();
  readonly #waiters = new Map<string, Set<() => void>>();
  readonly #retries = new Set<NodeJS.Timeout>();

  constructor(options: LinkQueueOptions) {
    this.#options = options;
  }

  wake(organisationId: string): void {
    if (this.#ended.signal.aborted) return;
    this.#awake.add(organisationId);
    this.#pump();
  }

  /** Resolves when the link is at rest, when reading it failed because of this service, or after `waitMs`. */
  async settled(organisationId: string, sourceId: string, waitMs: number): Promise<void> {
    if (this.#ended.signal.aborted) return;
    let resolve = () => {};
    const rest = new Promise<void>((done) => {
      resolve = done;
    });
    const others = this.#waiters.get(sourceId) ?? new Set();
    this.#waiters.set(sourceId, others.add(resolve));
    const timer = setTimeout(resolve, waitMs);
    const looks = this.#lookUntilRest(organisationId, sourceId, resolve);
    try {
      this.wake(organisationId);
      await rest;
    } finally {
      clearTimeout(timer);
      clearInterval(looks);
      others.delete(resolve);
      if (others.size === 0) this.#waiters.delete(sourceId);
    }
  }

  /** Another node may bring the link to rest, and does not announce it. */
  #lookUntilRest(organisationId: string, sourceId: string, resolve: () => void): NodeJS.Timeout {
    const { atRest, log } = this.#options;
    return setInterval(() => {
      try {
        if (atRest(organisationId, sourceId)) resolve();
      } catch (error) {
        log.error(
          { err: error, organisation_id: organisationId, source_id: sourceId },
          'checking a link that another node indexes failed: waiting for it ended',
        );
        resolve();
      }
    }, LOOK_MS);
  }

  async close(): Promise<void> {
    this.#ended.abort(new Error('the service stops'));
    for (const timer of [...this.#retries, ...this.#elsewhere.values()]) clearTimeout(timer);
    this.#awake.clear();
    await Promise.all(this.#running.values());
    for (const sourceId of this.#waiters.keys()) this.#release(sourceId);
  }

  #pump(): void {
    for (const organisationId of this.#awake) {
      if (this.#ended.signal.aborted || this.#isAlone || this.#running.size >= LINKS_AT_ONCE) break;
      const next = this.#nextOf(organisationId);
      // It stays first, and nothing starts before it: else new links would delay it for ever.
      if (next?.alone === true && this.#running.size > 0) break;
      // Deleted and added again it comes last; the loop over the Set meets it again, until no organisation has a waiting link.
      this.#awake.delete(organisationId);
      if (next === undefined) continue;
      this.#awake.add(organisationId);
      this.#isAlone = next.alone;
      this.#running.set(next.id, this.#run(organisationId, next.id));
    }
  }

  #nextOf(organisationId: string): NextLink | undefined {
    try {
      return this.#options.next(organisationId, new Set([...this.#running.keys(), ...this.#elsewhere.keys()]));
    } catch (error) {
      this.#options.log.error({ err: error, organisation_id: organisationId }, 'looking for links to index failed');
      return undefined;
    }
  }

  async #run(organisationId: string, sourceId: string): Promise<void> {
    try {
      const end = await this.#options.work(organisationId, sourceId, this.#ended.signal);
      if (end === 'elsewhere') this.#askLater(organisationId, sourceId);
      else if (end) this.#release(sourceId);
      // While it was running `next` passed it over, so its organisation may not be awake any more.
      else this.#awake.add(organisationId);
    } catch (error) {
      this.#release(sourceId);
      if (this.#ended.signal.aborted) return;
      this.#options.log.error(
        { err: error, organisation_id: organisationId, source_id: sourceId },
        'indexing a link failed: trying again later',
      );
      this.#retryLater(organisationId);
    } finally {
      this.#running.delete(sourceId);
      this.#isAlone = false;
      this.#pump();
    }
  }

  #release(sourceId: string): void {
    for (const resolve of this.#waiters.get(sourceId) ?? []) resolve();
  }

  #askLater(organisationId: string, sourceId: string): void {
    if (this.#ended.signal.aborted) return;
    const timer = setTimeout(() => {
      this.#elsewhere.delete(sourceId);
      this.wake(organisationId);
    }, LOOK_MS);
    this.#elsewhere.set(sourceId, timer.unref());
  }

  #retryLater(organisationId: string): void {
    this.#awake.delete(organisationId);
    const timer = setTimeout(() => {
      this.#retries.delete(timer);
      this.wake(organisationId);
    }, RETRY_MS);
    timer.unref();
    this.#retries.add(timer);
  }
}
