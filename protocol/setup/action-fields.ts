/** The fields of an HTTP action, each by itself (SERVERACTION-2); what they ask of each other is in `action-rules.ts`. */
import * as v from 'valibot';
import { ITEM_TYPES, PARAM_NAME, PARAM_TYPES, paramName, valueTypeOf } from '../action-params.ts';
import { actionName } from '../catalog/catalog.ts';
import { USER_TOKEN_HEADER } from '../headers.ts';
import {
  ACTION_DESCRIPTION_MAX_CHARS,
  ACTION_ENUM_MAX,
  ACTION_PARAMS_MAX,
  ADDRESS_MAX_CHARS,
  CONFIRM_TEMPLATE_MAX_CHARS,
  HTTP_ACTION_TIMEOUT_DEFAULT_MS,
  HTTP_ACTION_TIMEOUT_MAX_MS,
  HTTP_ACTION_TIMEOUT_MIN_MS,
  RESULT_LIMIT_DEFAULT,
  RESULT_LIMIT_MAX,
} from '../limits.ts';
import { RISKS } from '../runtime/stream-events.ts';
import { flag, whole } from '../schema/bounded.ts';
import { stated, when } from '../schema/stated.ts';
import { filledText, text } from '../schema/text.ts';
import { distinct } from './accept.ts';
import { anyCase, templateAddress } from './addresses.ts';
import { externalKey, fields, listOf, reason, rule, string } from './shapes.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** A request of a form with some dozens of fields. */
const BODY_TEMPLATE_MAX_CHARS = 10_000;
/** `data.results.0.items` and the like. */
const RESULT_PATH_MAX_CHARS = 200;
/** More fields than these the model does not weigh against each other. */
export const RESULT_FIELDS_MAX = 20;
const PARAM_DESCRIPTION_MAX_CHARS = 300;
const NEEDS_KEY_NOTE_MAX_CHARS = 300;

/** What is called so is a secret, in an address as in a body; as part of a pattern, in lower case. */
export const CREDENTIAL_NAMES = 'api[_-]?key|access[_-]?token|auth[_-]?token|client[_-]?secret|secret|password|passwd';
/** A parameter may be called `key` and choose something: only what is as long as a secret, with a digit in it, is taken for one. */
const KEY_LIKE = '(?=[^&#{]{0,200}[0-9])[^&#{]{16}';
/** The first text or number of such a query parameter is in everybody's reach. */
const QUERY_CREDENTIAL = `[?&](?:(?:${anyCase(`${CREDENTIAL_NAMES}|token`)})=[^&#{]|${anyCase('key')}=${KEY_LIKE})`;

/** RFC 9110 token. */
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}";
/** Headers that belong to the connection, to the body or to what the service says about the call itself. */
const RESERVED_HEADERS =
  'host|content-*|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|cookie|proxy-*|idempotency-key|x-service-*';
/** A header that a token or a key may travel in, as part of a pattern. */
export const HEADER_NAME = `(?!(?:${anyCase(RESERVED_HEADERS).replaceAll('*', '[A-Za-z0-9-]*')})$)${TOKEN}`;
/** A query parameter's name, as part of a pattern. */
export const QUERY_NAME = '[A-Za-z0-9_.~-]{1,64}';

const scalar = v.union(
  [
    text(ACTION_DESCRIPTION_MAX_CHARS),
    // A number too large for JSON's readers, as 1e999, would be lost when it is kept.
    v.pipe(
      v.number(),
      stated(
        v.check((value: number) => Number.isFinite(value), 'must be a number'),
        {},
      ),
    ),
    v.boolean(),
  ],
  'must be a string, a number or a boolean',
);
type Scalar = v.InferOutput<typeof scalar>;

const paramFields = fields({
  name: paramName,
  description: v.optional(text(PARAM_DESCRIPTION_MAX_CHARS), ''),
  required: v.optional(flag, false),
  type: v.optional(v.picklist(PARAM_TYPES), 'string'),
  items: v.optional(v.picklist(ITEM_TYPES)),
  enum: v.optional(v.pipe(listOf(scalar, 1, ACTION_ENUM_MAX), distinct<Scalar>())),
  example: v.optional(
    v.union(
      [scalar, listOf(scalar, 0, ACTION_ENUM_MAX)],
      `must be a string, a number, a boolean or a list of one of these, of at most ${ACTION_ENUM_MAX} items`,
    ),
  ),
});
type Param = v.InferOutput<typeof paramFields>;

function isExampleFor(param: Param): boolean {
  const { example } = param;
  if (example === undefined) return true;
  const values = Array.isArray(example) ? example : [example];
  return Array.isArray(example) === (param.type === 'array') && values.every((value) => typeof value === valueTypeOf(param));
}

const isList = { properties: { type: { const: 'array' } }, required: ['type'] };

/** For each kind of parameter: what says that it is one, and a schema of its values. `string` is what is meant when nothing is said. */
const kinds = ITEM_TYPES.flatMap((value) => {
  const says = (key: string) => ({ properties: { [key]: { const: value } }, ...(value === 'string' ? {} : { required: [key] }) });
  return [
    { is: says('type'), example: { type: value }, value: { type: value } },
    { is: { allOf: [isList, says('items')] }, example: { type: 'array', items: { type: value } }, value: { type: value } },
  ];
});

const param = v.pipe(
  paramFields,
  rule<Param>(
    'items',
    (one) => one.items === undefined || one.type === 'array',
    'goes with type array only',
    when({ not: isList }, { properties: { items: false } }),
  ),
  rule<Param>(
    'enum',
    (one) => one.enum === undefined || one.enum.every((value) => typeof value === valueTypeOf(one)),
    'must hold values of the type of the parameter',
    { allOf: kinds.flatMap(({ is, value }) => when(is, { properties: { enum: { items: value } } }).allOf) },
  ),
  rule<Param>('example', isExampleFor, 'must be of the type of the parameter', {
    allOf: kinds.flatMap(({ is, example }) => when(is, { properties: { example } }).allOf),
  }),
);

const confirmTemplate = v.pipe(
  filledText(CONFIRM_TEMPLATE_MAX_CHARS),
  v.regex(new RegExp(`^(?:[^{}]|\\{${PARAM_NAME}\\})*$`), 'must hold braces only as {param}'),
  v.description('What the person is asked before the action runs. `{param}` is replaced by its value; each must be one of params.'),
);

function urlTemplate(local: boolean) {
  const form = `must be an https address of a public host, without user or password, in which {{param.x}} stands in the path or the query only${
    local ? ' (development: also http and localhost or a literal address)' : ''
  }`;
  return v.pipe(
    text(ADDRESS_MAX_CHARS, 1),
    v.regex(templateAddress(local), form),
    stated(
      v.check(
        (value: string) => !new RegExp(QUERY_CREDENTIAL).test(value),
        'must not hold a credential: declare a shared key with needs_key, or let a parameter carry what is no secret',
      ),
      { not: { pattern: QUERY_CREDENTIAL } },
    ),
    v.description('{{param.x}} stands in the path or the query only; each must be one of params.'),
  );
}

const bodyTemplate = v.pipe(
  text(BODY_TEMPLATE_MAX_CHARS, 1),
  v.regex(/^[ \t\n\r]*\{[\s\S]*\}[ \t\n\r]*$/, 'must be a JSON object, as a string'),
  v.metadata({ contentMediaType: 'application/json' }),
  v.description(
    'A JSON object once each {{param.x}} stands for a value, inside a string or in place of one, never in a key. Each must be one of params. It holds no secret.',
  ),
);

/** Names of members, joined by dots; a number is a place in a list. */
const dottedPath = v.pipe(
  text(RESULT_PATH_MAX_CHARS, 1),
  v.regex(/^[^.\s]+(?:\.[^.\s]+)*$/, 'must be names joined by dots, as data.items'),
);

const authName = v.pipe(
  string,
  v.regex(
    new RegExp(`^(?:header:${HEADER_NAME}|query:${QUERY_NAME}|cookie:${TOKEN})$`),
    'must be header:<name>, query:<name> or cookie:<name>, and no header that the connection or the service sets',
  ),
);

const needsKeyFields = fields({
  kind: v.picklist(['bearer', 'header', 'query']),
  name: v.optional(string),
  note: v.optional(v.pipe(text(NEEDS_KEY_NOTE_MAX_CHARS), v.description('For the person who enters the key; never the key.'))),
});
type NeedsKey = v.InferOutput<typeof needsKeyFields>;

const ofKind = (...words: readonly string[]) => ({ properties: { kind: { enum: words } }, required: ['kind'] });
const hasForm = (form: string, name: string | undefined) => name === undefined || new RegExp(`^${form}$`).test(name);

const needsKey = v.pipe(
  needsKeyFields,
  rule<NeedsKey>(
    'name',
    ({ kind, name }) => kind === 'bearer' || name !== undefined,
    'is required for a key of kind header or query',
    when(ofKind('header', 'query'), { required: ['name'] }),
  ),
  rule<NeedsKey>(
    'name',
    ({ kind, name }) => kind !== 'bearer' || name === undefined,
    'goes with kind header or query only',
    when(ofKind('bearer'), { properties: { name: false } }),
  ),
  rule<NeedsKey>(
    'name',
    ({ kind, name }) => kind !== 'header' || hasForm(HEADER_NAME, name),
    'must be the name of a header, and none that the connection or the service sets',
    when(ofKind('header'), { properties: { name: { pattern: `^${HEADER_NAME}$` } } }),
  ),
  rule<NeedsKey>(
    'name',
    ({ kind, name }) => kind !== 'query' || hasForm(QUERY_NAME, name),
    'must be the name of a query parameter',
    when(ofKind('query'), { properties: { name: { pattern: `^${QUERY_NAME}$` } } }),
  ),
);

/** `local`: development, see `templateAddress`. */
export function actionEntries(local: boolean) {
  return {
    external_key: externalKey,
    name: actionName,
    description: v.pipe(filledText(ACTION_DESCRIPTION_MAX_CHARS), v.description('When the assistant is to call it.')),
    method: v.picklist(METHODS),
    risk: v.optional(v.picklist(RISKS), 'read'),
    confirm_template: v.optional(confirmTemplate),
    url_template: urlTemplate(local),
    body_template: v.optional(bodyTemplate),
    params: v.optional(v.pipe(listOf(param, 0, ACTION_PARAMS_MAX), v.description('Each of another name.')), []),
    result_path: v.optional(dottedPath),
    result_fields: v.optional(v.pipe(listOf(dottedPath, 0, RESULT_FIELDS_MAX), distinct()), []),
    result_limit: v.optional(whole(1, RESULT_LIMIT_MAX), RESULT_LIMIT_DEFAULT),
    timeout_ms: v.optional(whole(HTTP_ACTION_TIMEOUT_MIN_MS, HTTP_ACTION_TIMEOUT_MAX_MS), HTTP_ACTION_TIMEOUT_DEFAULT_MS),
    auth: v.optional(
      v.pipe(
        v.picklist(['none', 'user']),
        v.description(
          `user: sent with the signed-in person's own token, which the app hands over in ${USER_TOKEN_HEADER} with POST /v1/chat.`,
        ),
      ),
      'none',
    ),
    auth_name: v.optional(authName),
    needs_key: v.optional(needsKey),
    reason,
  };
}
