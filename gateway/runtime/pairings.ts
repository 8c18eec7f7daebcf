/** POST /v1/pairings/claim: lets the console's Test page watch what a test build does, for two hours. */
import { Refusal } from '../../protocol/errors.ts';
import { PAIRING_CLAIMS_PER_MINUTE_PER_APP, PAIRING_CLAIMS_PER_MINUTE_PER_DEVICE } from '../../protocol/limits.ts';
import { type PairingClaimReply, pairingClaimRequest } from '../../protocol/runtime/pairings.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { perMinute } from '../rate-limit.ts';
import { json, runtimeRoute } from '../route.ts';
import { requireDevice } from './identity.ts';

export const pairingClaimRoute = runtimeRoute('POST', '/v1/pairings/claim', {
  limits: [
    perMinute('pairing', 'device', PAIRING_CLAIMS_PER_MINUTE_PER_DEVICE),
    // A code cannot be guessed at this pace, from however many addresses.
    perMinute('pairing', 'app', PAIRING_CLAIMS_PER_MINUTE_PER_APP),
  ],
  body: pairingClaimRequest,
  suspended: 'quota_exceeded',
  async handle({ caller, body }, { pairings }) {
    if (caller.channel === 'live') {
      throw new Refusal('pairing_test_only', 'Only test builds are paired: send the code with a test key.');
    }
    const device = requireDevice(caller, 'it is the device that is watched');
    const { pairingId, watchedUntilMs } = await pairings.claim(device, body.code);
    const reply: PairingClaimReply = { pairing_id: pairingId, expires_at: timestamp(watchedUntilMs) };
    return json(reply);
  },
});
