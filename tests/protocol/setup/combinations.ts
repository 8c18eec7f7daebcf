/** HTTP actions whose fields are each in order and go together by chance only: what the rules across fields are about. */
import fc from 'fast-check';

type Arb = fc.Arbitrary<unknown>;

const maybe = (arbitrary: Arb): Arb => fc.oneof(fc.constant(undefined), arbitrary);
/** As it arrives: what is undefined is not there. */
const asSent = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const word = fc.constantFrom('a', 1, true, ['a'], [1], [false], []);
const param = fc.record({
  name: fc.constantFrom('id', 'q'),
  type: maybe(fc.constantFrom('string', 'number', 'boolean', 'array')),
  items: maybe(fc.constantFrom('string', 'number', 'boolean')),
  enum: maybe(fc.constantFrom(['a'], [1, 2], [true], ['a', 1], ['a', 'a'], [1, 1])),
  example: maybe(word),
});

const key = fc.record({
  kind: fc.constantFrom('bearer', 'header', 'query'),
  name: maybe(fc.constantFrom('X-Key', 'authorization', 'Authorization', 'k', 'Host', 'content-type', 'a b', 'q')),
});

const urls = [
  'https://api.example.com/v1/{{param.id}}',
  'https://api.example.com/?q={{param.q}}&key={{param.id}}',
  'https://api.example.com/?key=abc',
  'https://api.example.com/?Api-Key=1',
  'https://user:secret@api.example.com/',
  'https://{{param.id}}.example.com/',
  'http://api.example.com/',
  'https://localhost/',
  'https://10.0.0.1/',
];

const action = fc.record({
  external_key: fc.constant('a'),
  name: fc.constant('a'),
  description: fc.constant('A'),
  method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE'),
  risk: maybe(fc.constantFrom('read', 'write', 'destructive')),
  confirm_template: maybe(fc.constantFrom('Sure about {id}?', 'Sure?', '{id', '{{param.id}}')),
  url_template: fc.oneof(
    { weight: 3, arbitrary: fc.constant('https://api.example.com/') },
    { weight: 1, arbitrary: fc.constantFrom(...urls) },
  ),
  body_template: maybe(fc.constantFrom('{}', '{"id": {{param.id}}}', '[]', '{]')),
  params: maybe(fc.array(param, { maxLength: 2 })),
  auth: maybe(fc.constantFrom('none', 'user')),
  auth_name: maybe(
    fc.constantFrom('header:X-Key', 'header:Authorization', 'header:authorization', 'header:Host', 'query:k', 'cookie:session', 'bearer'),
  ),
  needs_key: maybe(key),
});

/** Bodies of POST /actions with one such action. */
export const COMBINED_ACTIONS: Arb = action.map((item) => asSent({ items: [item] }));
