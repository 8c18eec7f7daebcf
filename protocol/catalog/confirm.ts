/**
 * The confirmation card (CONFIRM-1). The server makes it from the manifest or the
 * HTTP action and redraws it; the model never writes one, so it is in the catalog for drawing and for validation only.
 */
import * as v from 'valibot';
import {
  ACTION_ENUM_MAX,
  ACTION_NAME_MAX_CHARS,
  ACTION_PARAMS_MAX,
  CONFIRM_LABEL_MAX_CHARS,
  TYPE_TO_CONFIRM_MAX_CHARS,
} from '../limits.ts';
import { flag } from '../schema/bounded.ts';
import { text } from '../schema/text.ts';
import { defineComponent } from './component.ts';
import { lines } from './shapes.ts';
import { id, list, saidTime, time, unique, words } from './values.ts';

/** Room for one sentence on why a changed value was not accepted; the catalog leaves it open. */
export const FIELD_ERROR_MAX_CHARS = 200;

const scalar = v.union([v.string(), v.pipe(v.number(), v.finite()), v.boolean()], 'must be a string, a number, true or false');

const field = v.strictObject({
  param: words(ACTION_NAME_MAX_CHARS),
  label: words(40),
  display: text(200),
  value: v.optional(v.unknown()),
  editable: flag,
  type: v.picklist(['string', 'number', 'integer', 'boolean', 'array', 'object']),
  enum: v.optional(list(scalar, 1, ACTION_ENUM_MAX)),
  error: v.optional(text(FIELD_ERROR_MAX_CHARS)),
});

const entries = {
  invocation_id: id,
  title: words(80),
  summary: words(300),
  /** A read action needs no confirmation, so it never has a card. */
  risk: v.picklist(['write', 'destructive']),
  fields: list(field, 0, ACTION_PARAMS_MAX),
  confirm_label: words(CONFIRM_LABEL_MAX_CHARS),
  decline_label: words(CONFIRM_LABEL_MAX_CHARS),
  type_to_confirm: v.optional(text(TYPE_TO_CONFIRM_MAX_CHARS, 1)),
  expires_at: time,
  edit_state: v.picklist(['idle', 'pending', 'rejected']),
  status: v.picklist(['pending', 'confirmed', 'declined', 'expired']),
};

export type ConfirmCardBody = v.InferOutput<v.StrictObjectSchema<typeof entries, undefined>>;

function saidStatus({ status, expires_at: expiresAt }: ConfirmCardBody): string {
  switch (status) {
    case 'pending':
      return `Waiting for confirmation until ${saidTime(expiresAt)}${expiresAt.endsWith('Z') ? ' UTC' : ''}; nothing has been done yet.`;
    case 'confirmed':
      return 'Confirmed.';
    case 'declined':
      return 'Declined; nothing was done.';
    case 'expired':
      return 'Expired without an answer; nothing was done.';
  }
}

export const confirmCard = defineComponent({
  name: 'confirm_card',
  description: 'Asks the person to confirm an action that changes something. Made by the server, never called.',
  offered: false,
  entries,
  rules: ({ fields }, report) =>
    unique(
      fields.map((item) => item.param),
      (index) => ['fields', index, 'param'],
      report,
    ),
  fallback: (body) =>
    lines(saidStatus(body), body.title, body.summary, body.fields.map((item) => `${item.label}: ${item.display}`).join('; ')),
});
