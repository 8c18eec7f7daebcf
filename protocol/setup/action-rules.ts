/** What the fields of an HTTP action ask of each other (SERVERACTION-8, SERVERACTION-9), in words, in code and in JSON Schema. */
import * as v from 'valibot';
import { confirmMarkers } from '../action-params.ts';
import { when } from '../schema/stated.ts';
import { actionEntries, CREDENTIAL_NAMES } from './action-fields.ts';
import { anyCase, PARAM_MARKER } from './addresses.ts';
import { fields, rule } from './shapes.ts';

const action = fields(actionEntries(false));
/** An HTTP action with every default filled in, in the names it travels with. */
export type HttpAction = Readonly<v.InferOutput<typeof action>>;
/** What is kept of an item: all but its reason, which stands beside it. */
export type ActionDefinition = Omit<HttpAction, 'reason'>;

/** The parameters that `template` marks with `{{param.x}}`, each once, in their order. */
export function templateParams(template: string): string[] {
  const markers = template.match(new RegExp(PARAM_MARKER, 'g')) ?? [];
  return [...new Set(markers.map((marker) => marker.slice('{{param.'.length, -'}}'.length)))];
}

export interface TokenPlace {
  readonly in: 'header' | 'query' | 'cookie';
  readonly name: string;
  /** Whether `Bearer ` goes before it. */
  readonly bearer: boolean;
}

/** Where the signed-in person's token travels: `Authorization: Bearer …` unless auth_name moves it. Meaningful with auth `user` only. */
export function tokenPlace({ auth_name: place }: Pick<HttpAction, 'auth_name'>): TokenPlace {
  if (place === undefined) return { in: 'header', name: 'Authorization', bearer: true };
  const colon = place.indexOf(':');
  return { in: place.slice(0, colon) as TokenPlace['in'], name: place.slice(colon + 1), bearer: false };
}

const declares = (params: HttpAction['params'], names: readonly string[]) =>
  names.every((name) => params.some((param) => param.name === name));

const changesByMethod = ({ method }: HttpAction) => method === 'PUT' || method === 'PATCH' || method === 'DELETE';
const changesData = (item: HttpAction) => item.risk !== 'read' || changesByMethod(item);
const takesBody = ({ method }: HttpAction) => method === 'POST' || method === 'PUT' || method === 'PATCH';

/** The keys of a JSON object and of those inside it; undefined when `json` is none. */
function keysOf(json: string): string | undefined {
  const keys: string[] = [];
  try {
    const value: unknown = JSON.parse(json, (key, member: unknown) => {
      keys.push(key);
      return member;
    });
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? keys.join('\n') : undefined;
  } catch {
    return undefined;
  }
}

/** A marker may be a value or part of a string. Two stand-ins tell: beside a digit, in an escape or in a key they do not both fit. */
function isBodyTemplate(template: string): boolean {
  const marker = new RegExp(PARAM_MARKER, 'g');
  const keys = keysOf(template.replaceAll(marker, 'null'));
  return keys !== undefined && keys === keysOf(template.replaceAll(marker, '0'));
}

const BODY_CREDENTIAL = new RegExp(`"(?:${CREDENTIAL_NAMES})"\\s*:\\s*"(?!\\{\\{)[^"]`, 'i');

/** Whether the shared key would go where the person's token goes. Names of headers are compared without regard to capitals. */
function meetsToken(item: HttpAction): boolean {
  const { auth, needs_key: key } = item;
  if (auth !== 'user' || key === undefined || key.kind === 'bearer') return false;
  const place = tokenPlace(item);
  if (place.in !== key.kind || key.name === undefined) return false;
  return key.kind === 'header' ? place.name.toLowerCase() === key.name.toLowerCase() : place.name === key.name;
}

function bearerMeetsToken(item: HttpAction): boolean {
  const place = tokenPlace(item);
  return item.auth === 'user' && item.needs_key?.kind === 'bearer' && place.in === 'header' && place.name.toLowerCase() === 'authorization';
}

/** Whether the address has a query parameter already that the token or the key is to be sent in. */
function queryIsTaken(template: string, name: string | undefined): boolean {
  return (
    name !== undefined &&
    (template.split('#')[0] ?? '')
      .split(/[?&]/)
      .slice(1)
      .some((pair) => pair.split('=')[0] === name)
  );
}

const is = (field: string, ...words: readonly string[]) => ({ properties: { [field]: { enum: words } }, required: [field] });
const AUTHORIZATION = anyCase('authorization');
const keyBesideToken = (kind: string) => ({
  properties: { auth: { const: 'user' }, needs_key: is('kind', kind) },
  required: ['auth', 'needs_key'],
});

/** Rules that JSON Schema can say. */
const said = [
  rule<HttpAction>(
    'confirm_template',
    (item) => item.risk === 'read' || item.confirm_template !== undefined,
    'is required for a write or destructive action',
    when(is('risk', 'write', 'destructive'), { required: ['confirm_template'] }),
  ),
  rule<HttpAction>(
    'risk',
    (item) => !changesByMethod(item) || item.risk !== 'read',
    'must be write or destructive with PUT, PATCH and DELETE, so that the person is asked first',
    when(is('method', 'PUT', 'PATCH', 'DELETE'), is('risk', 'write', 'destructive')),
  ),
  rule<HttpAction>(
    'auth',
    (item) => !changesData(item) || item.auth === 'user',
    'must be user for an action that changes data: with none it may only read',
    when({ anyOf: [is('risk', 'write', 'destructive'), is('method', 'PUT', 'PATCH', 'DELETE')] }, is('auth', 'user')),
  ),
  rule<HttpAction>(
    'body_template',
    (item) => item.body_template === undefined || takesBody(item),
    'goes with POST, PUT and PATCH only',
    when(is('method', 'GET', 'DELETE'), { properties: { body_template: false } }),
  ),
  rule<HttpAction>(
    'auth_name',
    (item) => item.auth_name === undefined || item.auth === 'user',
    'goes with auth user only',
    when({ not: is('auth', 'user') }, { properties: { auth_name: false } }),
  ),
  rule<HttpAction>(
    'auth_name',
    (item) => !bearerMeetsToken(item),
    'must move the token elsewhere, as header:<name>: the bearer key takes the Authorization header',
    when(keyBesideToken('bearer'), {
      required: ['auth_name'],
      properties: { auth_name: { not: { pattern: `^header:${AUTHORIZATION}$` } } },
    }),
  ),
  rule<HttpAction>(
    'needs_key.name',
    (item) => item.auth_name !== undefined || !meetsToken(item),
    'must not be Authorization, where the token goes',
    when(
      { allOf: [keyBesideToken('header'), { not: { required: ['auth_name'] } }] },
      { properties: { needs_key: { properties: { name: { not: { pattern: `^${AUTHORIZATION}$` } } } } } },
    ),
  ),
] as const;

/** Rules that JSON Schema cannot say, because they compare two values or read one: the description does. */
const described = [
  rule<HttpAction>(
    'url_template',
    ({ url_template: template }) => !/^https?:\/\//i.test(template) || URL.canParse(template),
    'must name a host that is a name: one of its labels that start with xn-- cannot be decoded',
    {},
  ),
  rule<HttpAction>(
    'params',
    ({ params }) => new Set(params.map(({ name }) => name)).size === params.length,
    'must not name a parameter twice',
    {},
  ),
  rule<HttpAction>(
    'confirm_template',
    ({ params, confirm_template: template = '' }) => declares(params, confirmMarkers(template)),
    'must mark with {name} only what is one of params',
    {},
  ),
  rule<HttpAction>(
    'url_template',
    ({ params, url_template: template }) => declares(params, templateParams(template)),
    'must mark with {{param.name}} only what is one of params',
    {},
  ),
  rule<HttpAction>(
    'body_template',
    ({ params, body_template: template = '' }) => declares(params, templateParams(template)),
    'must mark with {{param.name}} only what is one of params',
    {},
  ),
  rule<HttpAction>(
    'body_template',
    ({ body_template: template }) => template === undefined || isBodyTemplate(template),
    'must be a JSON object once each {{param.x}} stands for a value, and none may stand in a key',
    {},
  ),
  rule<HttpAction>(
    'body_template',
    ({ body_template: template = '' }) => !BODY_CREDENTIAL.test(template),
    'must not hold a credential: declare a shared key with needs_key',
    {},
  ),
  rule<HttpAction>(
    'auth_name',
    (item) => item.auth_name === undefined || tokenPlace(item).in !== 'query' || !queryIsTaken(item.url_template, tokenPlace(item).name),
    'must not name a query parameter that url_template has already',
    {},
  ),
  rule<HttpAction>(
    'needs_key.name',
    (item) => item.auth_name === undefined || !meetsToken(item),
    'must not be where auth_name sends the token',
    {},
  ),
  rule<HttpAction>(
    'needs_key.name',
    ({ needs_key: key, url_template: template }) => key?.kind !== 'query' || !queryIsTaken(template, key.name),
    'must not name a query parameter that url_template has already',
    {},
  ),
] as const;

const DESCRIPTION = [
  'With auth none a shared key is the only credential and the action may only read; whatever changes data needs auth user.',
  'Beyond what the schema says: labels of the host that start with xn-- can be decoded; names of params are unique; every marker of a template names one of params; body_template is a JSON object',
  'once its markers stand for values, and no value under a name such as password or api_key is written out; a shared key does not travel where the',
  'token does (names of headers compared without regard to capitals), and neither in a query parameter that url_template has already.',
].join(' ');

export function httpAction(local: boolean) {
  return v.pipe(fields(actionEntries(local)), ...said, ...described, v.description(DESCRIPTION));
}
