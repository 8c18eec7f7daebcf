/**
 * Retries looking through single organisations until it succeeds. It may meet a damaged file or a full disk: the unfinished work of those
 * organisations resumes as soon as their files can be read and written, without another start.
 */
import { setImmediate as nextTick } from 'node:timers/promises';
import { type EachServices, forEachOrganisation } from './for-each-organisation.ts';
import { Serial } from './serial.ts';

/** Somebody has to put a file back or make room first, so there is no hurry. */
const RETRY_MS = 5_000;
/** Organisations in one round; the others come in the next rounds. */
const TRIED_AT_ONCE = 50;

export interface OrganisationRetries {
  /** Retries the work of these. */
  add(organisationIds: readonly string[]): void;
  has(organisationId: string): boolean;
  /** How many wait to be tried again. */
  readonly size: number;
  close(): Promise<void>;
}

/** `work` resumes one organisation. */
export function createOrganisationRetries(
  services: EachServices,
  work: (organisationId: string) => Promise<void>,
  retryMs = RETRY_MS,
): OrganisationRetries {
  const waiting = new Set<string>();
  /** Logged already: a line for each retry would fill the log. */
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
    const failed = new Set(await forEachOrganisation(quiet, 'resuming unfinished work', work, { ids, isClosed, breathe: nextTick }));
    for (const id of ids) {
      waiting.delete(id);
      if (failed.has(id)) waiting.add(id);
      else told.delete(id);
    }
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
    has: (organisationId) => waiting.has(organisationId),
    get size() {
      return waiting.size;
    },
    async close() {
      closed = true;
      clearInterval(timer);
      await rounds.done();
    },
  };
}
