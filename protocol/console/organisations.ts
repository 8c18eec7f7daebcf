/** Bodies of the console's organisation endpoints, moves to another cell among them (CONSOLE-8, CONSOLE-24). Unknown fields are refused. */
import * as v from 'valibot';
import { CREDIT_PURCHASE_MIN_USD } from '../limits.ts';
import { PLAN_NAMES } from '../plans.ts';
import { boundedList, flag } from '../schema/bounded.ts';
import { text } from '../schema/text.ts';
import { name } from './apps.ts';

const CELL = /^[0-9A-Za-z._-]{1,64}$/;

export const moveBody = v.strictObject({
  /** CELL_ID of the cell that it is to live on. */
  cell: v.pipe(v.string(), v.regex(CELL, 'must be the id of a cell: 1 to 64 letters, digits, dots, underscores or hyphens')),
});

/** A move as it is shown, on whichever cell. Times are ISO 8601. */
export interface MoveReply {
  readonly organisation_id: string;
  readonly move_id: string;
  readonly source_cell: string;
  readonly target_cell: string;
  /** The last step that is done. The cell that it goes to knows of `begun`, `sealed`, `done` and `aborted` only. */
  readonly step: 'begun' | 'sealed' | 'switched' | 'done' | 'aborted';
  /** Why it makes no progress, or was aborted. */
  readonly error: string | null;
  /** What was sent, once it is; the cell that it goes to does not say. */
  readonly copy: { readonly bytes: number; readonly rows: number; readonly uploads: number; readonly upload_bytes: number } | null;
  readonly started_at: string;
  readonly updated_at: string;
}

/** Each member gets the usage e-mails; a list that grows beyond this is a mailing list. */
const MEMBERS_MAX = 200;
/** An address is at most 254 characters (RFC 5321). */
const EMAIL_MAX_CHARS = 254;
const MEMBER_NAME_MAX_CHARS = 80;
/** One purchase; more than this is a slip of the keyboard. */
const CREDIT_PURCHASE_MAX_USD = 1_000_000;

const amountUsd = v.pipe(
  v.number('must be a number'),
  v.minValue(CREDIT_PURCHASE_MIN_USD, `must be at least ${CREDIT_PURCHASE_MIN_USD}`),
  v.maxValue(CREDIT_PURCHASE_MAX_USD, `must be at most ${CREDIT_PURCHASE_MAX_USD}`),
);

const member = v.strictObject({
  email: v.pipe(text(EMAIL_MAX_CHARS, 3), v.email('must be an e-mail address')),
  name: v.optional(text(MEMBER_NAME_MAX_CHARS), ''),
});
export type Member = v.InferOutput<typeof member>;

const members = v.pipe(
  boundedList(member, MEMBERS_MAX, `must list at most ${MEMBERS_MAX} members`),
  v.check((list) => new Set(list.map(({ email }) => email.toLowerCase())).size === list.length, 'must list each e-mail address once'),
);

/** Cards are charged in cents; a fraction of one would be credit that nobody paid. */
const chargeableUsd = v.pipe(
  amountUsd,
  v.check((usd) => Math.round(usd * 100) / 100 === usd, 'must be a whole number of cents'),
);

const autoTopUp = v.strictObject({
  enabled: flag,
  amount_usd: v.optional(chargeableUsd, CREDIT_PURCHASE_MIN_USD),
  /** Whose default card is charged; the card itself is known to the card processor only. */
  stripe_customer: v.exactOptional(v.pipe(v.string('must be text'), v.regex(/^cus_[A-Za-z0-9]{1,100}$/, 'must be a customer id, cus_…'))),
});
export type AutoTopUp = v.InferOutput<typeof autoTopUp>;

const plan = v.picklist(PLAN_NAMES);

export const createOrganisationBody = v.strictObject({
  name,
  plan: v.optional(plan, 'free'),
  members: v.optional(members, []),
  auto_top_up: v.optional(autoTopUp, { enabled: false }),
});

export const patchOrganisationBody = v.strictObject({
  name: v.optional(name),
  plan: v.optional(plan),
  members: v.optional(members),
  auto_top_up: v.optional(autoTopUp),
});

/** POST /orgs/:org/credit: dollars, one to one (LIMIT-22). */
export const creditBody = v.strictObject({ amount_usd: amountUsd });
