/**
 * Arbitraries of HTTP actions with parameters, and what an endpoint is meant to receive of them, written down from their
 * parts and not from the templates' text.
 */
import fc from 'fast-check';
import { checkParams } from '../../../assistant/action-params.ts';
import { asAction } from '../../../protocol/runtime/http-action.ts';
import type { ActionDefinition } from '../../../protocol/setup/action-rules.ts';
import { judgeHttpAction } from '../../../protocol/setup/actions.ts';

/** A literal or the name of a parameter. */
type Part = { readonly literal: string } | { readonly param: string };
type Parts = readonly Part[];
interface Pair {
  readonly name: Parts;
  readonly value: Parts | null;
}
type Node = { readonly marker: string } | { readonly text: Parts } | { readonly literal: unknown } | readonly Node[] | Members;
interface Members {
  readonly members: Readonly<Record<string, Node>>;
}

interface Plan {
  readonly path: readonly Parts[];
  readonly query: readonly Pair[];
  readonly body: Members | null;
}

export interface FuzzedAction {
  readonly definition: ActionDefinition;
  /** As checkParams passed them. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly plan: Plan;
}

const NAMES = ['a', 'b', 'c', 'constructor'] as const;

const NASTY = [
  ...[
    '..',
    '.',
    '/',
    '\\',
    '../..',
    '../../admin',
    '..%2f',
    '%2e%2e',
    '%2E',
    '2e',
    '2f..',
    'a/b',
    'a/../b',
    '//evil.example',
    '@evil.example',
  ],
  ...['?q=1', '#f', '&t_=stolen', 'a=b', ';', 'a&b=c', '+', '%', '%00', '\r\nX-Evil: 1', '\0', '\t', '\u2028', '', ' ', ':80'],
  ...[
    '"',
    '\\"',
    '","admin":true,"x":"',
    '}',
    '{{param.a}}',
    '\\',
    '\\u0022',
    '😀',
    '\ud800',
    'é',
    '__proto__',
    'null',
    '\u{dfff}',
    '👍🏿',
  ],
];
const textValue = fc.oneof(fc.constantFrom(...NASTY), fc.string({ unit: 'binary', maxLength: 6 }), fc.string({ maxLength: 6 }));
const numberValue = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }));
const scalars = { string: textValue, number: numberValue, boolean: fc.boolean() };
const SCALARS = ['string', 'number', 'boolean'] as const;

const declared = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ param: {}, value: textValue as fc.Arbitrary<unknown> }) },
  ...SCALARS.map((type) => ({ weight: 1, arbitrary: fc.constant({ param: { type }, value: scalars[type] as fc.Arbitrary<unknown> }) })),
  ...SCALARS.map((items) => ({
    weight: 1,
    arbitrary: fc.constant({
      param: { type: 'array', items },
      value: fc.array(scalars[items] as fc.Arbitrary<unknown>, { maxLength: 3 }) as fc.Arbitrary<unknown>,
    }),
  })),
);
/** Each parameter with its declaration and its value; absent ones now and then. */
const values = fc.tuple(
  ...NAMES.map(() => declared.chain(({ param, value }) => fc.record({ param: fc.constant(param), value: fc.option(value, { freq: 8 }) }))),
);

const marker: fc.Arbitrary<Part> = fc.constantFrom(...NAMES).map((param) => ({ param }));
const literal = (...words: readonly string[]): fc.Arbitrary<Part> => fc.constantFrom(...words).map((text) => ({ literal: text }));
const parts = (literals: fc.Arbitrary<Part>, minLength: number) =>
  fc.array(fc.oneof({ weight: 2, arbitrary: marker }, { weight: 3, arbitrary: literals }), { minLength, maxLength: 3 });

const segment = parts(literal('orders', 'v1', '.', '..', '%2e', '%', '%2', 'é', "it's", ';x', '@', ':', '!', '|'), 0);
const pair: fc.Arbitrary<Pair> = fc.record({
  name: fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom('q', 'id', 'x[]', 'é').map((text) => [{ literal: text }]) },
    { weight: 1, arbitrary: fc.tuple(marker) },
  ),
  value: fc.option(parts(literal('1', '-', ',', '%20', '%', '%2', "'", 'é', ';', '='), 0), { freq: 6 }),
});

const leaf: fc.Arbitrary<Node> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...NAMES).map((name) => ({ marker: name })) },
  { weight: 1, arbitrary: fc.constantFrom(...NAMES).map((name) => ({ text: [{ param: name }] })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(literal('Order ', '\\', '"', 'é\n', '\\\\"', '😀', ','), parts(literal('x', '"', '\\'), 0))
      .map(([first, rest]) => ({ text: [first, ...rest] })),
  },
  { weight: 1, arbitrary: fc.constantFrom(1, -2.5, true, null, 'plain', '{', 'a"b').map((value) => ({ literal: value })) },
);
const key = fc.constantFrom('id', 'note', 'a"b', 'q\\', 'items', 'é');
const members = (node: fc.Arbitrary<Node>, minKeys = 0): fc.Arbitrary<Members> =>
  fc.dictionary(key, node, { minKeys, maxKeys: 3 }).map((made) => ({ members: { ...made } }));
const body = members(
  fc.oneof(
    { weight: 4, arbitrary: leaf },
    { weight: 1, arbitrary: fc.array(leaf, { maxLength: 3 }) },
    { weight: 1, arbitrary: members(leaf) },
  ),
  1,
);

const markerOf = (name: string) => `{{param.${name}}}`;
const written = (some: Parts) => some.map((part) => ('param' in part ? markerOf(part.param) : part.literal)).join('');

function bodyText(node: Node): string {
  if (Array.isArray(node)) return `[${node.map(bodyText).join(', ')}]`;
  const one = node as Exclude<Node, readonly Node[]>;
  if ('marker' in one) return markerOf(one.marker);
  if ('literal' in one) return JSON.stringify(one.literal);
  if ('members' in one)
    return `{ ${Object.entries(one.members)
      .map(([name, value]) => `${JSON.stringify(name)}:${bodyText(value)}`)
      .join(', ')} }`;
  return `"${one.text.map((part) => ('param' in part ? markerOf(part.param) : JSON.stringify(part.literal).slice(1, -1))).join('')}"`;
}

function urlText(origin: string, { path, query }: Pick<Plan, 'path' | 'query'>): string {
  const pairs = query.map(({ name, value }) => written(name) + (value === null ? '' : `=${written(value)}`));
  return `${origin}${path.map((one) => `/${written(one)}`).join('')}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`;
}

const auth = fc.constantFrom(undefined, 'header:X-Token', 'query:t_', 'cookie:sid');
const needsKey = fc.constantFrom(undefined, { kind: 'bearer' }, { kind: 'header', name: 'X-Key' }, { kind: 'query', name: 'k_' });

/** Actions that the service's own rules accept at `origin`, with parameters that pass for them. */
export function fuzzedAction(origin: string): fc.Arbitrary<FuzzedAction> {
  return fc
    .record({
      path: fc.array(segment, { maxLength: 4 }),
      query: fc.array(pair, { maxLength: 3 }),
      body: fc.option(body, { freq: 2 }),
      method: fc.constantFrom('POST', 'PUT', 'PATCH'),
      auth_name: auth,
      needs_key: needsKey,
      values,
    })
    .map((made): FuzzedAction | undefined => {
      const { path, query, method, auth_name, needs_key } = made;
      const params = made.values.map(({ param }, index) => ({ name: NAMES[index] as string, ...param }));
      const item = {
        ...{ external_key: 'k', name: 'act', description: 'Acts.', method, risk: 'write', confirm_template: 'Sure?', auth: 'user' },
        ...{ url_template: urlText(origin, made), params },
        ...(auth_name === undefined ? {} : { auth_name }),
        ...(needs_key === undefined ? {} : { needs_key }),
        ...(made.body === null ? {} : { body_template: bodyText(made.body) }),
      };
      const judged = judgeHttpAction(item, 'development');
      if (judged.form !== 'action') return undefined;
      const given = made.values.flatMap(({ value }, index) => (value === null ? [] : [[NAMES[index] as string, value] as const]));
      const checked = checkParams(asAction(judged.item).params, JSON.stringify(Object.fromEntries(given)));
      if (!checked.ok) throw new Error('parameters of the declared types pass');
      return { definition: judged.item, params: checked.params, plan: { path, query, body: made.body } };
    })
    .filter((action) => action !== undefined);
}

const whole = (text: string) => Buffer.from(text, 'utf8').toString('utf8');

/** The text of a value inside of other text; undefined when it was left out. */
function valueText(params: FuzzedAction['params'], name: string): string | undefined {
  if (!Object.hasOwn(params, name)) return undefined;
  const value = params[name];
  return Array.isArray(value) ? value.map((item) => whole(String(item))).join(',') : whole(String(value));
}

const unescaped = (text: string) => decodeURIComponent(text.replaceAll(/%(?![0-9A-Fa-f]{2})/g, '%25'));

/** Adjoining literals as one, so that `%2` beside `%20` is read as it is written. */
function merged(some: Parts): Part[] {
  const out: Part[] = [];
  for (const part of some) {
    const last = out.at(-1);
    if (last !== undefined && 'literal' in last && 'literal' in part) out[out.length - 1] = { literal: last.literal + part.literal };
    else out.push(part);
  }
  return out;
}

/** What the parts mean once they are decoded; undefined when a value is missing. */
export function meaning(some: Parts, params: FuzzedAction['params']): string | undefined {
  const texts = merged(some).map((part) => ('param' in part ? valueText(params, part.param) : unescaped(part.literal)));
  return texts.includes(undefined) ? undefined : texts.join('');
}

/** The pairs of the query that are meant, in their order. */
export function meantQuery({ plan, params }: FuzzedAction): [string, string][] {
  return plan.query.flatMap(({ name, value }): [string, string][] => {
    const names = meaning(name, params);
    // A literal `+` stands for a blank in a query; these templates have none.
    const rest = value === null ? '' : meaning(value, params);
    if (names === undefined || rest === undefined || (names === '' && value === null)) return [];
    return [[names, rest]];
  });
}

const GONE = Symbol('gone');

function meantNode(node: Node, params: FuzzedAction['params']): unknown {
  if (Array.isArray(node)) {
    return node.map((item) => {
      const value = meantNode(item, params);
      return value === GONE ? null : value;
    });
  }
  const one = node as Exclude<Node, readonly Node[]>;
  if ('literal' in one) return one.literal;
  if ('members' in one) {
    const kept = Object.entries(one.members).map(([name, member]) => [name, meantNode(member, params)] as const);
    return Object.fromEntries(kept.filter(([, value]) => value !== GONE));
  }
  if ('text' in one) {
    const [only] = one.text;
    if (one.text.length === 1 && only !== undefined && 'param' in only && !Object.hasOwn(params, only.param)) return GONE;
    return one.text.map((part) => ('param' in part ? (valueText(params, part.param) ?? '') : part.literal)).join('');
  }
  if (!Object.hasOwn(params, one.marker)) return GONE;
  const value = params[one.marker];
  if (Array.isArray(value)) return value.map((item) => (typeof item === 'string' ? whole(item) : item));
  return typeof value === 'string' ? whole(value) : value;
}

/** The JSON value that the body is meant to be; null when there is no body. */
export function meantBody({ plan, params }: FuzzedAction): unknown {
  return plan.body === null ? null : meantNode(plan.body, params);
}

const markers = (some: Parts) => some.filter((part) => 'param' in part);

/** Segments with values in them that no path can hold: nothing at all, or a step to another folder. */
export function hasNoPath({ plan, params }: FuzzedAction): boolean {
  return plan.path.some((some) => {
    if (markers(some).length === 0) return false;
    const text = meaning(some, params);
    if (text === undefined || text === '') return true;
    return /(?:^|[\\/]|%2f|%5c)(?:\.|%2e){1,2}(?:$|[\\/]|%2f|%5c)/i.test(text);
  });
}

/** Whether the template itself steps to another folder, which the URL's parser then does before anything is sent. */
export function climbs({ plan }: FuzzedAction): boolean {
  return plan.path.some((some) => markers(some).length === 0 && /^(?:\.|%2e){1,2}$/i.test(written(some)));
}
