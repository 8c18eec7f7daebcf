/** POST /v1/apps/manifest (MANIFEST-1): registers what a build of the app can do; the first one is the app's handshake. */
import { Refusal } from '../../protocol/errors.ts';
import { MANIFEST_BODY_MAX_BYTES } from '../../protocol/limits.ts';
import { hasManifest } from '../../storage/apps/manifests.ts';
import { perMinute } from '../rate-limit.ts';
import { type AdmittedCaller, json, runtimeRoute } from '../route.ts';
import { manifestBody } from './manifest-body.ts';
import { addressPool, sharedPool } from './pools.ts';

/** Whatever they bring. One address may be a network of telephones with one new build; fifty a second take some percent of a core. */
const POSTS_PER_MINUTE_PER_ADDRESS = 3_000;
/** Posts of documents that the app does not have, or that take longer than a millisecond or two to read and hash. */
const COSTLY_PER_MINUTE_PER_ADDRESS = 600;
/** Most manifests have a tenth of it. */
const CHEAP_MAX_CHARS = 64 * 1024;
/** Posts that are written, a commit each. Beyond them a known document is answered without a write. */
const WRITES_PER_MINUTE_PER_DEVICE = 60;
const WRITES_PER_MINUTE_PER_APP = 600;
/** New documents: each build brings one, and an office may start some builds at once. */
const NEW_PER_MINUTE_PER_ADDRESS = 20;

const costlyPools = [addressPool('manifest_costly', COSTLY_PER_MINUTE_PER_ADDRESS)];
const perDevice = perMinute('manifest', 'device', WRITES_PER_MINUTE_PER_DEVICE);
const knownWritePools = [perDevice, perMinute('manifest', 'app', WRITES_PER_MINUTE_PER_APP)];
/** Pools of their own, so that a release gets through however many clients start the build before it. */
const newWritePools = [
  addressPool('manifest_new', NEW_PER_MINUTE_PER_ADDRESS),
  perDevice,
  sharedPool('manifest_new_written', WRITES_PER_MINUTE_PER_APP, NEW_PER_MINUTE_PER_ADDRESS),
];

/** Whether the post is written; a known document may be answered without a write. @throws Refusal `rate_limited` for a new one. */
function isWritten(caller: AdmittedCaller, isKnown: boolean, chars: number): boolean {
  if (!isKnown || chars > CHEAP_MAX_CHARS) caller.pass(costlyPools, null);
  try {
    caller.pass(isKnown ? knownWritePools : newWritePools, null);
    return true;
  } catch (error) {
    if (isKnown && error instanceof Refusal) return false;
    throw error;
  }
}

export const manifestRoute = runtimeRoute('POST', '/v1/apps/manifest', {
  limits: [addressPool('manifest_posts', POSTS_PER_MINUTE_PER_ADDRESS)],
  body: manifestBody,
  bodyMaxBytes: MANIFEST_BODY_MAX_BYTES,
  largeBody: 'manifest',
  async handle({ caller, body }, { storage, setup, nowMs }) {
    const { organisationId, app } = caller;
    const isKnown = hasManifest(storage.organisation(organisationId), app.id, body.hash);
    if (isWritten(caller, isKnown, body.document.length)) {
      const unsolicited = app.live;
      await storage.write(organisationId, 'registerManifest', { ...body, appId: app.id, unsolicited, nowMs: nowMs() });
      await setup.settled(organisationId, app.id);
    }
    return json({ manifest_hash: body.hash });
  },
});
