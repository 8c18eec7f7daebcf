/**
 * The order in which links are read. Rows are the queue: this remembers only which organisations may have links that wait,
 * which links are being read, and who waits for one. Organisations take turns, so that one with a thousand links does not
 * keep the others waiting.
 */

/** Links read at once by one process: each may hold 10 MB for 20 s, and sites are slow rather than many. */
export const LINKS_AT_ONCE = 4;
/** After a failed write or a bug; the next start would take the link up anyway. */
const RETRY_MS = 30_000;

export interface LinkQueueOptions {
  readonly log: { error(fields: object, message: string): void };
  /** A link of the organisation that waits and is none of `running`; undefined when there is none. */
  next(organisationId: string, running: ReadonlySet<string>): string | undefined;
  /** Reads one link; true when it is at rest afterwards, false when it changed meanwhile and has to be read again. */
  work(organisationId: string, sourceId: string, signal: AbortSignal): Promise<boolean>;
}

export interface LinkQueue {
  /** The organisation has links that wait. */
  wake(organisationId: string): void;
  /** Resolves when the link is at rest, when its reading failed for a reason of ours, or when `waitMs` are over. */
  settled(organisationId: string, sourceId: string, waitMs: number): Promise<void>;
  /** Cuts off what is being read and waits for its end. Idempotent. */
  close(): Promise<void>;
}

export function createLinkQueue({ log, next, work }: LinkQueueOptions): LinkQueue {
  const ended = new AbortController();
  /** In the order of their turns. */
  const awake = new Set<string>();
  const running = new Map<string, Promise<void>>();
  const waiters = new Map<string, Set<() => void>>();
  const retries = new Set<NodeJS.Timeout>();

  const release = (sourceId: string) => {
    for (const resolve of waiters.get(sourceId) ?? []) resolve();
  };

  const retryLater = (organisationId: string) => {
    awake.delete(organisationId);
    const timer = setTimeout(() => {
      retries.delete(timer);
      wake(organisationId);
    }, RETRY_MS);
    timer.unref();
    retries.add(timer);
  };

  const run = async (organisationId: string, sourceId: string) => {
    try {
      if (await work(organisationId, sourceId, ended.signal)) release(sourceId);
      // While it ran it was nobody's next, so its organisation may be asleep by now.
      else awake.add(organisationId);
    } catch (error) {
      release(sourceId);
      if (ended.signal.aborted) return;
      log.error({ err: error, organisation_id: organisationId, source_id: sourceId }, 'a link could not be indexed');
      retryLater(organisationId);
    } finally {
      running.delete(sourceId);
      pump();
    }
  };

  const nextOf = (organisationId: string): string | undefined => {
    try {
      return next(organisationId, new Set(running.keys()));
    } catch (error) {
      log.error({ err: error, organisation_id: organisationId }, 'links that wait could not be looked up');
      return undefined;
    }
  };

  function pump(): void {
    for (const organisationId of awake) {
      if (ended.signal.aborted || running.size >= LINKS_AT_ONCE) return;
      const sourceId = nextOf(organisationId);
      // Deleted and added again it comes last; a Set's loop meets it once more, until nobody has a link that waits.
      awake.delete(organisationId);
      if (sourceId === undefined) continue;
      awake.add(organisationId);
      running.set(sourceId, run(organisationId, sourceId));
    }
  }

  function wake(organisationId: string): void {
    if (ended.signal.aborted) return;
    awake.add(organisationId);
    pump();
  }

  return {
    wake,
    async settled(organisationId, sourceId, waitMs) {
      if (ended.signal.aborted) return;
      let resolve = () => {};
      const rest = new Promise<void>((done) => {
        resolve = done;
      });
      const others = waiters.get(sourceId) ?? new Set();
      waiters.set(sourceId, others.add(resolve));
      const timer = setTimeout(resolve, waitMs);
      try {
        wake(organisationId);
        await rest;
      } finally {
        clearTimeout(timer);
        others.delete(resolve);
        if (others.size === 0) waiters.delete(sourceId);
      }
    },
    async close() {
      ended.abort(new Error('the service stops'));
      for (const timer of retries) clearTimeout(timer);
      awake.clear();
      await Promise.all(running.values());
      for (const sourceId of waiters.keys()) release(sourceId);
    },
  };
}
