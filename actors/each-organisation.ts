/**
 * Work on every organisation that lives here, one after the other, each by itself: what goes wrong with one is said and keeps nobody else
 * from being served. Everything that goes through all organisations goes through here.
 *
 * What a failure means is decided in one place: an organisation that is on its way to another cell is taken up where it lands, so it is
 * passed over in silence. One whose file is away or damaged, and a disk that takes no writes, are conditions of the node, which say so
 * themselves once. Anything else is logged with the file. All but the first are to be tried again, and are answered for that.
 */
import type { Logger } from 'pino';
import { organisationIds } from '../storage/organisations/organisations.ts';
import { isRefusedByDisk, isSealed, isUnavailable } from '../storage/sqlite/storage-error.ts';
import type { Storage } from '../storage/storage.ts';

export interface EachServices {
  readonly storage: Pick<Storage, 'control' | 'layout'>;
  readonly log: Pick<Logger, 'error'>;
}

/** `done`; `passed`: not this cell's business now; `failed`: to be tried again. */
type Outcome = 'done' | 'passed' | 'failed';

function outcomeOf({ storage, log }: EachServices, organisationId: string, what: string, error: unknown): Outcome {
  if (isSealed(error)) return 'passed';
  if (isUnavailable(error) || isRefusedByDisk(error)) return 'failed';
  const file = storage.layout.organisation(organisationId);
  const text = `${what} failed for one organisation; the others are served. If its file is damaged: docs/backups.md`;
  log.error({ err: error, organisation_id: organisationId, file }, text);
  return 'failed';
}

/** One organisation. `what` says what is done, as a noun: "looking at deadlines". Never throws. */
export function attemptNow(services: EachServices, organisationId: string, what: string, work: (id: string) => void): Outcome {
  try {
    work(organisationId);
    return 'done';
  } catch (error) {
    return outcomeOf(services, organisationId, what, error);
  }
}

/** The same for work that takes time. */
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

/** All organisations, or `ids` of them, without a pause. Answers the ids of those that are to be tried again. */
export function eachOrganisationNow(
  services: EachServices,
  what: string,
  work: (id: string) => void,
  ids: Iterable<string> = organisationIds(services.storage.control),
): string[] {
  const failed: string[] = [];
  for (const id of ids) if (attemptNow(services, id, what, work) === 'failed') failed.push(id);
  return failed;
}

export interface EachOptions {
  /** Absent: all that live here. */
  readonly ids?: Iterable<string>;
  /** Asked before each one; true ends the round. */
  readonly isClosed?: () => boolean;
  /** Called after each one, to let others have their turn. */
  readonly breathe?: () => Promise<unknown> | undefined;
}

/** All organisations. Answers the ids of those that are to be tried again. */
export async function eachOrganisation(
  services: EachServices,
  what: string,
  work: (id: string) => Promise<unknown>,
  { ids = organisationIds(services.storage.control), isClosed = () => false, breathe = () => undefined }: EachOptions = {},
): Promise<string[]> {
  const failed: string[] = [];
  for (const id of ids) {
    if (isClosed()) return failed;
    const outcome = await attempt(services, id, what, work);
    // What fails because all of it ends is no failure of this one.
    if (outcome === 'failed' && !isClosed()) failed.push(id);
    await breathe();
  }
  return failed;
}
