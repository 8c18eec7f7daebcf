/** POST /v1/apps/manifest (service.md): registers what a build of the app can do; the first one is the app's handshake. */
import { Refusal } from '../../protocol/errors.ts';
import { MANIFEST_BODY_MAX_BYTES } from '../../protocol/limits.ts';
import { manifestRequest, type PostedManifest } from '../../protocol/runtime/manifest.ts';
import { type HashedManifest, hashManifest } from '../../storage/manifests.ts';
import { perMinute } from '../rate-limit.ts';
import { defineRoute, json } from '../route.ts';

/** An SDK posts once per start; every post is a write, and the key that allows it is public. */
const POSTS_PER_MINUTE_PER_DEVICE = 60;
const POSTS_PER_MINUTE_PER_APP = 600;

function hash(manifest: PostedManifest): HashedManifest {
  try {
    return hashManifest(manifest);
  } catch {
    throw new Refusal('invalid_request', 'manifest holds a number that is too large for JSON', {
      details: [{ path: 'manifest', message: 'holds a number that is too large for JSON' }],
    });
  }
}

export const manifestRoute = defineRoute({
  method: 'POST',
  path: '/v1/apps/manifest',
  caller: 'runtime',
  limits: [perMinute('manifest', 'device', POSTS_PER_MINUTE_PER_DEVICE), perMinute('manifest', 'app', POSTS_PER_MINUTE_PER_APP)],
  body: manifestRequest,
  bodyMaxBytes: MANIFEST_BODY_MAX_BYTES,
  async handle({ caller, body }, { storage, setup, nowMs }) {
    const hashed = hash(body.manifest);
    await storage.write(caller.organisationId, 'registerManifest', { ...hashed, appId: caller.app.id, sdk: body.sdk, nowMs: nowMs() });
    await setup.settled(caller.organisationId, caller.app.id);
    return json({ manifest_hash: hashed.hash });
  },
});
