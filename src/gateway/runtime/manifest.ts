/** POST /v1/apps/manifest (service.md): registers what a build of the app can do; the first one is the app's handshake. */
import { Refusal } from '../../protocol/errors.ts';
import { MANIFEST_BODY_MAX_BYTES } from '../../protocol/limits.ts';
import { hasManifest } from '../../storage/manifests.ts';
import { perMinute } from '../rate-limit.ts';
import { type AdmittedCaller, defineRoute, json } from '../route.ts';
import { manifestBody } from './manifest-body.ts';
import { addressPool, sharedPool } from './pools.ts';

/** An SDK posts once per start; reading and hashing a document takes some milliseconds, and the key that allows it is public. */
const POSTS_PER_MINUTE_PER_ADDRESS = 600;
/** Posts that are written: each is a commit. A known document that comes beyond them is answered without one. */
const WRITES_PER_MINUTE_PER_DEVICE = 60;
const WRITES_PER_MINUTE_PER_APP = 600;
/** Documents that the app has not registered yet: a build brings one, and an office may start some builds at once. */
const NEW_PER_MINUTE_PER_ADDRESS = 20;

const newPools = [addressPool('manifest_new', NEW_PER_MINUTE_PER_ADDRESS)];
const writePools = [
  perMinute('manifest', 'device', WRITES_PER_MINUTE_PER_DEVICE),
  sharedPool('manifest', WRITES_PER_MINUTE_PER_APP, NEW_PER_MINUTE_PER_ADDRESS),
];

/** Whether the post is to be written: a known document may be answered without that. @throws Refusal `rate_limited` for a new one. */
function isWritten(caller: AdmittedCaller, isKnown: boolean): boolean {
  try {
    if (!isKnown) caller.pass(newPools, null);
    caller.pass(writePools, null);
    return true;
  } catch (error) {
    if (isKnown && error instanceof Refusal) return false;
    throw error;
  }
}

export const manifestRoute = defineRoute({
  method: 'POST',
  path: '/v1/apps/manifest',
  caller: 'runtime',
  limits: [addressPool('manifest_posts', POSTS_PER_MINUTE_PER_ADDRESS)],
  body: manifestBody,
  bodyMaxBytes: MANIFEST_BODY_MAX_BYTES,
  largeBody: 'manifest',
  async handle({ caller, body }, { storage, setup, nowMs }) {
    const { organisationId, app, channel } = caller;
    if (isWritten(caller, hasManifest(storage.organisation(organisationId), app.id, body.hash))) {
      const unsolicited = channel === 'live';
      await storage.write(organisationId, 'registerManifest', { ...body, appId: app.id, unsolicited, nowMs: nowMs() });
      await setup.settled(organisationId, app.id);
    }
    return json({ manifest_hash: body.hash });
  },
});
