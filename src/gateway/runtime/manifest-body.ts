/** The body of POST /v1/apps/manifest as the service takes it: checked, and its manifest as the canonical text that is stored. */
import * as v from 'valibot';
import { manifestRequest } from '../../protocol/runtime/manifest.ts';
import { hashManifest } from '../../storage/manifests.ts';

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
