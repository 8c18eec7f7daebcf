/** POST /v1/identify (PERSON-7): binds a device to the person who is signed in on it. */
import { identify } from '../../actors/people/identify.ts';
import { Refusal } from '../../protocol/errors.ts';
import { type IdentifyReply, type IdentifyRequest, identifyRequest } from '../../protocol/runtime/identify.ts';
import { json, type RuntimeCaller, runtimeRoute } from '../route.ts';
import type { Services } from '../services.ts';
import { isSignedBy, requireDevice } from './identity.ts';
import { messagesPool, senderPools } from './pools.ts';

const HOW_TO_SIGN = 'the lowercase hex HMAC-SHA256 of external_user_id with the app identity secret, made on your backend';

/** Whether the caller proved who they are. @throws Refusal 403 for a wrong signature, and for none where one is required. */
function isProven(body: IdentifyRequest, caller: RuntimeCaller, services: Services): boolean {
  const { user_hmac: hmac } = body;
  if (hmac == null) {
    if (!caller.app.settings.requireIdentity) return false;
    throw new Refusal('invalid_request', `This app requires identity verification: send user_hmac, ${HOW_TO_SIGN}.`, { status: 403 });
  }
  if (isSignedBy({ id: body.external_user_id, hmac }, caller, services)) return true;
  throw new Refusal('invalid_request', `user_hmac does not fit external_user_id: it must be ${HOW_TO_SIGN}.`, { status: 403 });
}

export const identifyRoute = runtimeRoute('POST', '/v1/identify', {
  limits: [messagesPool('identify')],
  body: identifyRequest,
  async handle({ caller, body }, services) {
    const device = requireDevice(caller, 'it is the device that the person is bound to');
    const proven = isProven(body, caller, services);
    caller.pass(senderPools('identify'), proven ? body.external_user_id : null);
    const { endUserId, verified } = await identify(
      services.storage,
      { ...device, externalUserId: body.external_user_id, proven, traits: body.traits ?? undefined },
      services.nowMs(),
    );
    const reply: IdentifyReply = { end_user_id: endUserId, verified };
    return json(reply);
  },
});
