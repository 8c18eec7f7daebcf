/** The body of POST /v1/apps/manifest as the service takes it: checked, and its manifest as the text that is stored, with its hash. */
import * as v from 'valibot';
import { MANIFEST_KEYS_MAX, MANIFEST_MEMBERS_MAX } from '../../protocol/limits.ts';
import { manifestRequest } from '../../protocol/runtime/manifest.ts';
import { hashManifest } from '../../storage/apps/manifests.ts';

export const MANIFEST_BOUNDS = { keys: MANIFEST_KEYS_MAX, members: MANIFEST_MEMBERS_MAX };

/** From the posted body to `{ sdk, hash, document }`. What JSON cannot say, such as 1e999, is an issue of `manifest`. */
export const manifestBody = v.pipe(
  manifestRequest,
  v.rawTransform(({ dataset: { value }, addIssue, NEVER }) => {
    try {
      return { sdk: value.sdk, ...hashManifest(value.manifest) };
    } catch {
      addIssue({
        message: 'holds a number that is too large for JSON',
        path: [{ type: 'object', origin: 'value', input: value, key: 'manifest', value: value.manifest }],
      });
      return NEVER;
    }
  }),
);
