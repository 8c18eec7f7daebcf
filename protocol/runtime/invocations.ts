/** POST /v1/invocations/:id/confirm and …/edit (CONFIRM-5, CONFIRM-13): bodies and replies. */
import * as v from 'valibot';
import type { Block } from '../catalog/block.ts';
import { ACTION_NAME_MAX_CHARS, ACTION_PARAMS_MAX, ID_MAX_CHARS, TYPE_TO_CONFIRM_MAX_CHARS } from '../limits.ts';
import { boundedMap } from '../schema/bounded.ts';
import { text } from '../schema/text.ts';
import { revision } from './chat.ts';
import { openObject } from './shapes.ts';
import { answeringUser } from './signed-user.ts';

/** What is asked for, with the white space that a keyboard puts around it. */
const TYPED_MAX_CHARS = TYPE_TO_CONFIRM_MAX_CHARS * 2;

export const confirmRequest = openObject({
  decision: v.picklist(['confirm', 'decline']),
  /** What the person typed, where the card asks for words (`type_to_confirm`). */
  typed: v.optional(text(TYPED_MAX_CHARS)),
  /** Revision of the card that the person saw; another revision is not confirmed. */
  revision: v.optional(revision),
  /** Minted by the client, the same each time that it sends this decision: a UUID serves. */
  decision_id: v.optional(
    v.pipe(
      v.string('must be a string'),
      v.regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces'),
      v.maxLength(ID_MAX_CHARS, `must be at most ${ID_MAX_CHARS} characters`),
    ),
  ),
  user: answeringUser,
});
export type ConfirmRequest = v.InferOutput<typeof confirmRequest>;

export interface ConfirmReply {
  readonly status: 'confirmed' | 'declined' | 'expired';
  /** The answer was recorded before this call. */
  readonly already_answered?: true;
  /** With `already_answered`, to a request with a `decision_id`: whether it is the recorded one's. */
  readonly yours?: boolean;
  /** Present on a confirmed call: signed with the app's identity secret, for the app's backend. */
  readonly receipt?: string;
}

export const editRequest = openObject({
  /** Revision of the card that the person saw. */
  revision,
  /** New values of editable parameters; the others stay as they are. */
  params: boundedMap(text(ACTION_NAME_MAX_CHARS, 1), v.unknown(), ACTION_PARAMS_MAX, `must name at most ${ACTION_PARAMS_MAX} parameters`),
  user: answeringUser,
});
export type EditRequest = v.InferOutput<typeof editRequest>;

export interface EditReply {
  readonly status: 'pending';
  readonly revision: number;
  /** The card as it is now; absent when the build draws none. */
  readonly block?: Block;
}
