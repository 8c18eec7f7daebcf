/** Does work for every organisation, one after the other. One's failure stops no other; one that moves to another cell is skipped. */
import type { Logger } from 'pino';
import { organisationIds } from '../storage/organisations/organisations.ts';
import { isNothingStored, isSealed, isUnavailable } from '../storage/sqlite/storage-error.ts';
import type { Storage } from '../storage/storage.ts';

export interface EachServices {
  readonly storage: Pick<Storage, 'control' | 'layout'>;
  readonly log: Pick<Logger, 'error'>;
}

/** `skipped`: it is moving to another cell; `failed`: to be retried. */
type Outcome = 'done' | 'skipped' | 'failed';

function outcomeOf({ storage, log }: EachServices, organisationId: string, what: string, error: unknown): Outcome {
  if (isSealed(error)) return 'skipped';
  if (isUnavailable(error) || isNothingStored(error)) return 'failed';
  const file = storage.layout.organisation(organisationId);
  const text = `${what} failed for one organisation; the others are served. If its file is damaged: docs/backups.md`;
  log.error({ err: error, organisation_id: organisationId, file }, text);
  return 'failed';
}

/** Does `work` for one organisation. `what` names the work in the log, such as "checking deadlines". Never throws. */
export function attemptSync(services: EachServices, organisationId: string, what: string, work: (id: string) => void): Outcome {
  try {
    work(organisationId);
    return 'done';
  } catch (error) {
    return outcomeOf(services, organisationId, what, error);
  }
}

export async function attempt(
  services: EachServices,
  organisationId: string,
  what: string,
  work: (id: string) => Promise<unknown>,
): Promise<Outcome> {
  try {
    await work(organisationId);
    return 'done';
  } catch (error) {
    return outcomeOf(services, organisationId, what, error);
  }
}

/** Does `work` for all organisations, or for `ids`, without a pause. Returns the ids of those to be retried. */
export function forEachOrganisationSync(
  services: EachServices,
  what: string,
  work: (id: string) => void,
  ids: Iterable<string> = organisationIds(services.storage.control),
): string[] {
  const failed: string[] = [];
  for (const id of ids) if (attemptSync(services, id, what, work) === 'failed') failed.push(id);
  return failed;
}

export interface EachOptions {
  readonly ids?: Iterable<string>;
  readonly isClosed?: () => boolean;
  /** Called after each one, to let the event loop do other work. */
  readonly breathe?: () => Promise<unknown> | undefined;
}

export async function forEachOrganisation(
  services: EachServices,
  what: string,
  work: (id: string) => Promise<unknown>,
  { ids = organisationIds(services.storage.control), isClosed = () => false, breathe = () => undefined }: EachOptions = {},
): Promise<string[]> {
  const failed: string[] = [];
  for (const id of ids) {
    if (isClosed()) return failed;
    const outcome = await attempt(services, id, what, work);
    // A failure because of the shutdown is not the organisation's.
    if (outcome === 'failed' && !isClosed()) failed.push(id);
    await breathe();
  }
  return failed;
}
