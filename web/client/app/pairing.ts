/** Has the console watch this build. */
import type { PairingClaimReply } from '../../../protocol/runtime/pairings.ts';
import type { Log } from '../log.ts';
import { failureOf, logged } from '../transport/failure.ts';
import type { Requests } from '../transport/requests.ts';

/** @throws ClientError when the code is wrong, used or over, or the key is no test key */
export async function claimPairing(requests: Requests, log: Log, code: string): Promise<PairingClaimReply> {
  try {
    return await requests.object<PairingClaimReply>({ method: 'POST', path: '/v1/pairings/claim', body: { code } });
  } catch (error) {
    log.say('error', 'pairing_failed', logged(failureOf(error)));
    throw error;
  }
}
