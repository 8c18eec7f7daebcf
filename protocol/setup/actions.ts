/**
 * Body of POST /actions (SERVERACTION-1, SETUP-29). Unknown fields refuse the body; each
 * item's types and values are judged on their own, because one failing item does not fail the others.
 */
import * as v from 'valibot';
import { ACTION_PARAMS_MAX, HTTP_ACTIONS_PER_REQUEST_MAX } from '../limits.ts';
import { flag } from '../schema/bounded.ts';
import { RESULT_FIELDS_MAX } from './action-fields.ts';
import { type HttpAction, httpAction } from './action-rules.ts';
import { itemFault, type MalformedItem } from './item-faults.ts';
import { externalKey, fields, listOf, reason, string } from './shapes.ts';

const number = v.number('must be a number');
const anyList = v.custom<unknown[]>((value) => Array.isArray(value), 'must be an array');

/** A list that is looked into where an action may hold as many; a longer one the item's own rules refuse by its length. */
function shortList<const Item extends v.GenericSchema>(item: Item, max: number) {
  const list = v.array(item, 'must be an array');
  const long = anyList as v.GenericSchema as typeof list;
  return v.lazy((value) => (Array.isArray(value) && value.length > max ? long : list));
}

const paramShape = fields({
  name: v.optional(string),
  description: v.optional(string),
  required: v.optional(flag),
  type: v.optional(string),
  items: v.optional(string),
  enum: v.optional(anyList),
  example: v.optional(v.unknown()),
});

/** Every field of both forms; which of them go together is the item's own matter. */
const itemShape = fields({
  external_key: string,
  op: v.optional(string),
  name: v.optional(string),
  description: v.optional(string),
  method: v.optional(string),
  risk: v.optional(string),
  confirm_template: v.optional(string),
  url_template: v.optional(string),
  body_template: v.optional(string),
  params: v.optional(shortList(paramShape, ACTION_PARAMS_MAX)),
  result_path: v.optional(string),
  result_fields: v.optional(shortList(string, RESULT_FIELDS_MAX)),
  result_limit: v.optional(number),
  timeout_ms: v.optional(number),
  auth: v.optional(string),
  auth_name: v.optional(string),
  needs_key: v.optional(fields({ kind: v.optional(string), name: v.optional(string), note: v.optional(string) })),
  reason: v.optional(string),
});
export type HttpActionShape = v.InferOutput<typeof itemShape> | MalformedItem;

const bodyOf = <Item extends v.GenericSchema>(item: Item) => fields({ items: listOf(item, 1, HTTP_ACTIONS_PER_REQUEST_MAX) });

export const actionsBody = bodyOf(itemShape);

const archiveItem = fields({ external_key: externalKey, op: v.literal('archive'), reason });
export type ArchiveAction = Readonly<v.InferOutput<typeof archiveItem>>;

const action = { production: httpAction(false), development: httpAction(true) };

/** The body as it is published: each item is one of the two forms. One that is not is refused alone, by its result. */
export const publishedActionsBody = {
  production: bodyOf(v.union([action.production, archiveItem])),
  development: bodyOf(v.union([action.development, archiveItem])),
};

export type Surroundings = keyof typeof publishedActionsBody;

export type JudgedAction =
  | { readonly form: 'action'; readonly item: HttpAction }
  | { readonly form: 'archive'; readonly item: ArchiveAction }
  | { readonly form: 'refused'; readonly error: string };

/**
 * Which of the two forms the item has, checked and with its defaults; `error` names up to three fields. Never throws.
 * `development` (ALLOW_PRIVATE_ADDRESSES) also takes localhost and literal addresses, those over http too.
 */
export function judgeHttpAction(item: HttpActionShape, surroundings: Surroundings): JudgedAction {
  if ('malformed' in item) return { form: 'refused', error: item.malformed };
  if (item.op === undefined) {
    const result = v.safeParse(action[surroundings], item);
    return result.success ? { form: 'action', item: result.output } : { form: 'refused', error: itemFault(result.issues) };
  }
  if (item.op !== 'archive') return { form: 'refused', error: 'op must be archive, or left out to add or update an action' };
  const result = v.safeParse(archiveItem, item);
  return result.success ? { form: 'archive', item: result.output } : { form: 'refused', error: itemFault(result.issues) };
}
