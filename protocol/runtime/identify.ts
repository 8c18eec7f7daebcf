/** The body of POST /v1/identify (PERSON-7), and its answer. */
import * as v from 'valibot';
import { EXTERNAL_USER_ID_MAX_CHARS, TRAITS_MAX_BYTES, USER_HMAC_MAX_CHARS } from '../limits.ts';
import { isObject } from '../schema/bounded.ts';
import { stated } from '../schema/stated.ts';
import { fitsBytes, text } from '../schema/text.ts';
import { openObject } from './shapes.ts';

type Traits = Record<string, unknown>;

const traits = v.pipe(
  v.custom<Traits>(isObject, 'must be an object'),
  stated(
    v.check((value: Traits) => fitsBytes(JSON.stringify(value), TRAITS_MAX_BYTES), `must serialize to at most ${TRAITS_MAX_BYTES} bytes`),
    {},
  ),
  v.record(v.string(), v.unknown(), 'must be an object'),
);

export const identifyRequest = openObject({
  external_user_id: text(EXTERNAL_USER_ID_MAX_CHARS, 1),
  /** Null counts as left out. */
  traits: v.optional(v.nullable(traits)),
  user_hmac: v.optional(v.nullable(text(USER_HMAC_MAX_CHARS))),
});
export type IdentifyRequest = v.InferOutput<typeof identifyRequest>;

export interface IdentifyReply {
  readonly end_user_id: string;
  readonly verified: boolean;
}
