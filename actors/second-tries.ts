/**
 * Tries again, until it succeeds, what failed for single organisations: after a start that met a damaged file or a disk without room,
 * what they had under way is taken up as soon as they can be read and written, without another start.
 */
import { setImmediate as nextTick } from 'node:timers/promises';
import { type EachServices, eachOrganisation } from './each-organisation.ts';
import { Serial } from './serial.ts';

/** A person has to put a file back or make room: nobody waits for less. */
const RETRY_MS = 5_000;
/** Tried in one round; the others come in the next ones. */
const TRIED_AT_ONCE = 50;

export interface SecondTries {
  /** These failed. */
  add(organisationIds: readonly string[]): void;
  close(): Promise<void>;
}

/** `work` takes the organisation up; `after` is called once for each round in which some were. */
export function createSecondTries(
  services: EachServices,
  work: (organisationId: string) => Promise<void>,
  after: () => Promise<void>,
  retryMs = RETRY_MS,
): SecondTries {
  const waiting = new Set<string>();
  /** Said already; a line for each try would fill the log while nobody is there. */
  const told = new Set<string>();
  const rounds = new Serial();
  let closed = false;
  const isClosed = () => closed;

  const quiet: EachServices = {
    storage: services.storage,
    log: {
      error(facts: object, text?: string) {
        const id = (facts as { organisation_id?: string }).organisation_id ?? '';
        if (!told.has(id)) services.log.error(facts, text);
        told.add(id);
      },
    },
  };

  const tryAgain = async () => {
    const ids = [...waiting].slice(0, TRIED_AT_ONCE);
    const failed = new Set(await eachOrganisation(quiet, 'resuming unfinished work', work, { ids, isClosed, breathe: nextTick }));
    for (const id of ids) {
      waiting.delete(id);
      if (failed.has(id)) waiting.add(id);
      else told.delete(id);
    }
    if (failed.size < ids.length && !closed) await after();
  };

  const timer = setInterval(() => {
    if (waiting.size === 0) return;
    rounds
      .do(tryAgain)
      .catch((error: unknown) => services.log.error({ err: error }, 'retrying the work of organisations that failed before failed again'));
  }, retryMs).unref();
  return {
    add(organisationIds) {
      for (const id of organisationIds) waiting.add(id);
    },
    async close() {
      closed = true;
      clearInterval(timer);
      await rounds.done();
    },
  };
}
