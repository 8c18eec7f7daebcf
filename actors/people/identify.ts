/** POST /v1/identify behind its signature: records who uses a device (PERSON-7 to PERSON-10). */

import { mintId } from '../../protocol/ids.ts';
import { readEndUser, sealTraits, type Traits } from '../../storage/people/end-users.ts';
import type { Storage } from '../../storage/storage.ts';
import type { DeviceRef } from '../caller.ts';
import { OVERTAKEN, retried } from '../retried.ts';

/** A record may appear or disappear between reading and writing once or twice; more is a bug, not a race. */
const IDENTIFY_TRIES = 5;

export interface Identification extends DeviceRef {
  readonly externalUserId: string;
  /** A signature was checked. */
  readonly proven: boolean;
  /** Undefined: recorded traits stay; `{}`: they are removed. */
  readonly traits: Traits | undefined;
}

function keptComingAndGoing(): Error {
  return new Error(`a person's record kept coming and going: gave up after ${IDENTIFY_TRIES} tries`);
}

/** All of it or nothing. */
export async function identify(storage: Storage, { organisationId, traits, ...person }: Identification, nowMs: number) {
  const { appId, channel, externalUserId, proven } = person;
  const db = storage.organisation(organisationId);
  return retried({ max: IDENTIFY_TRIES, exhausted: keptComingAndGoing }, async () => {
    const known = readEndUser(db, appId, channel, externalUserId);
    const endUserId = known?.id ?? mintId('usr', nowMs);
    const outcome = await storage.write(organisationId, 'identify', {
      ...person,
      endUserId,
      isNew: known === undefined,
      traits: traits === undefined ? undefined : sealTraits(storage.vault, appId, endUserId, traits),
      nowMs,
    });
    return outcome === 'stale' ? OVERTAKEN : { endUserId, verified: proven };
  });
}
