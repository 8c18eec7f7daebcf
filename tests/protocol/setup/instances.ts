/** Arbitraries of valid request bodies of the setup interface, made from the specification's tables and not from the schemas. */
import fc from 'fast-check';
import type { SetupBody } from '../../../protocol/setup/schemas.ts';

type Arb = fc.Arbitrary<unknown>;

/** Text of 1 to `max` code points that is not blank. */
function words(max: number): fc.Arbitrary<string> {
  return fc.string({ unit: 'grapheme', minLength: 1, maxLength: Math.min(max, 30) }).map((text) => {
    const kept = Array.from(text)
      .slice(0, max - 1)
      .join('');
    return `w${kept}`;
  });
}
const longest = (max: number) => fc.constantFrom('x'.repeat(max), '😀'.repeat(max));
const text = (max: number) => fc.oneof({ weight: 6, arbitrary: words(max) }, { weight: 1, arbitrary: longest(max) });
/** Any of `optional` may be left out. */
const object = (required: Record<string, Arb>, optional: Record<string, Arb> = {}): Arb =>
  fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) });
const list = (item: Arb, min: number, max: number) => fc.array(item, { minLength: min, maxLength: max, size: 'xsmall' });
const distinct = (item: Arb, min: number, max: number) => fc.uniqueArray(item, { minLength: min, maxLength: max, size: 'xsmall' });
const snake = fc.stringMatching(/^[a-z]{1,8}(_[a-z0-9]{1,6}){0,2}$/);
const reason = text(1_000);

const colour = fc.stringMatching(/^#[0-9a-fA-F]{6}$/);
const tokens = {
  surfaceRaised: colour,
  onSurfaceMuted: colour,
  danger: colour,
  radius: fc.double({ min: 0, max: 32, noNaN: true }),
  spacing: fc.constantFrom('compact', 'cosy', 'roomy'),
  fontFamily: fc.constantFrom('Inter', `"Söhne Breit", 'Noto-Sans', serif`, 'Ω'),
  fontScale: fc.double({ min: 0.8, max: 1.4, noNaN: true }),
  style: fc.constantFrom('flat', 'soft', 'outlined'),
  launcherPosition: fc.constantFrom('start', 'end'),
  logoAssetId: fc.stringMatching(/^ast_[0-9a-hjkmnp-tv-z]{24}$/),
};
const base = { surface: colour, onSurface: colour, accent: colour, onAccent: colour };
const icon = fc.constantFrom('send', 'plus', 'camera');
const appearance = object(
  { theme: object(base, tokens) },
  {
    themeDark: object({}, { ...base, ...tokens }),
    copilot: object(
      {},
      { launcherLabel: text(24), composerHint: text(60), attachIcon: icon, voiceIcon: icon, sendIcon: icon, feedback: fc.boolean() },
    ),
    reason,
  },
);

const guardrail = fc
  .tuple(fc.constantFrom('Always', ' Never', '\tAlways'), fc.constantFrom(' ask first.', '', ', ever'), fc.constantFrom('', '\r'))
  .map((parts) => parts.join(''));
const experience = object(
  {},
  {
    assistantName: text(40),
    tone: text(4_000),
    instructions: text(4_000),
    guardrails: fc.array(fc.oneof(guardrail, fc.constantFrom('', '  ')), { maxLength: 4 }).map((lines) => lines.join('\n')),
    topics: distinct(text(120), 0, 20),
    languages: distinct(fc.constantFrom('en', 'pt-BR', 'de', 'fil', 'zh-Hant-TW'), 0, 5),
    welcomeTitle: text(80),
    welcomeBody: text(160),
    suggestions: distinct(text(60), 0, 4),
    model: object(
      {},
      {
        use: text(200),
        fallbacks: distinct(text(200), 0, 2),
        temperature: fc.oneof(fc.double({ min: 0, max: 2, noNaN: true }), fc.constant(null)),
        effort: fc.constantFrom('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', null),
        max_output_tokens: fc.oneof(fc.integer({ min: 16, max: 65_536 }), fc.constant(null)),
      },
    ),
    reason,
  },
);

const finding = text(200);
const count = fc.nat({ max: 1_000_000 });
const detected = object(
  {},
  {
    platform: finding,
    framework: finding,
    router: finding,
    http: finding,
    auth: finding,
    locales: list(fc.constantFrom('en', 'de-CH'), 0, 40),
    screens: count,
    apiCalls: count,
    themeFile: finding,
    darkTheme: fc.boolean(),
    fonts: list(words(200), 0, 10),
    logoFile: finding,
  },
);
const tool = fc.oneof(fc.constantFrom('claude_code', 'cursor', 'codex', 'windsurf', 'copilot', 'gemini'), text(40));
const start = object({ tool }, { model: text(80), os: text(40), detected });

const reportable = [
  'discover',
  'install',
  'identity',
  'appearance',
  'experience',
  'knowledge',
  'screens',
  'actions',
  'verify',
  'test',
  'done',
];
const step = fc.constantFrom(...reportable);
const event = object(
  { step, status: fc.constantFrom('started', 'progress', 'done', 'skipped', 'failed', 'waiting') },
  { title: text(120), detail: text(2_000), data: fc.dictionary(words(8), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 }) },
);
const events = fc.oneof(event, list(event, 1, 50), object({ events: list(event, 1, 50) }, { detected }));

const key = text(200);
const address = fc.constantFrom(
  'https://example.com/guide',
  'http://docs.example.com:8080/a?b=c#d',
  'HTTPS://EXAMPLE.com',
  'https://münchen.example/straße',
  'https://93.184.216.34/',
  'http://[2001:db8::1]:3000/x',
  'http://localhost:9/',
);
const knowledge = object({
  items: list(
    fc.oneof(
      object({ external_key: key, kind: fc.constant('text'), title: text(160), content: words(400) }, { reason }),
      object({ external_key: key, kind: fc.constant('url'), uri: address }, { title: text(160), reason }),
      object({ external_key: key, op: fc.constant('archive') }, { reason }),
    ),
    1,
    25,
  ),
});

const screenParam = object(
  { type: fc.constantFrom('string', 'number', 'boolean', 'array') },
  { required: fc.boolean(), fromActions: distinct(snake, 0, 10) },
);
const screen = object(
  { name: snake, title: text(60), description: text(300) },
  {
    params: fc.dictionary(fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,9}$/), screenParam, { maxKeys: 8, noNullPrototype: true }),
    file: text(300),
    deep_link: text(500),
  },
);
const archived = object({ name: snake }, { reason });
const screens = fc.oneof(
  object({ screens: list(screen, 1, 50) }, { archive: list(archived, 0, 50) }),
  object({ archive: list(archived, 1, 50) }, { screens: list(screen, 0, 50) }),
);

const values: Readonly<Record<string, fc.Arbitrary<string | number | boolean>>> = {
  string: words(20),
  number: fc.integer(),
  boolean: fc.boolean(),
};
function paramNamed(name: string): Arb {
  return fc
    .tuple(fc.constantFrom('string', 'number', 'boolean', 'array', undefined), fc.constantFrom('string', 'number', 'boolean', undefined))
    .chain(([type, items]) => {
      const value = values[(type === 'array' ? items : type) ?? 'string'] ?? words(20);
      const typed = { ...(type && { type: fc.constant(type) }), ...(type === 'array' && items && { items: fc.constant(items) }) };
      return object(
        { name: fc.constant(name), ...typed },
        {
          description: text(300),
          required: fc.boolean(),
          enum: distinct(value, 1, 50),
          example: type === 'array' ? list(value, 0, 5) : value,
        },
      );
    });
}
/** Two parameters, `id` and `q`, and the parts of an action that may use them. */
const params = fc.tuple(paramNamed('id'), paramNamed('q'));
const shaped = {
  result_path: fc.constantFrom('data', 'data.items', 'results.0.line-items'),
  result_fields: distinct(fc.constantFrom('id', 'title', 'price.amount'), 0, 3),
  result_limit: fc.integer({ min: 1, max: 50 }),
  timeout_ms: fc.integer({ min: 1_000, max: 30_000 }),
  reason,
};
const url = fc.constantFrom(
  'https://api.example.com/v1/orders/{{param.id}}?q={{param.q}}',
  'https://api.example.com',
  'https://Shop.example.com:8443/a?x=1#{{param.q}}',
);
const body = fc.constantFrom(
  '{}',
  '{"id":"{{param.id}}","n":{{param.q}},"list":[{{param.q}}]}',
  ' {"note":"for {{param.q}}: {{param.id}}"}\n',
);
const asks = { external_key: key, name: snake, description: text(500), url_template: url, params };
const confirm = fc.constantFrom('Cancel {id}?', 'Go on?', '{q} and {id}');
const bearer = object({ kind: fc.constant('bearer') }, { note: text(300) });
const header = object({ kind: fc.constant('header'), name: fc.constantFrom('X-Api-Key', 'Api-Token') }, { note: text(300) });
const query = object({ kind: fc.constant('query'), name: fc.constantFrom('api_key', 'k') }, { note: text(300) });
const authName = fc.constantFrom('header:X-User-Token', 'query:user_token', 'cookie:session');

const readAction = object(
  { ...asks, method: fc.constantFrom('GET') },
  { ...shaped, risk: fc.constant('read'), auth: fc.constant('none'), needs_key: fc.oneof(bearer, header, query) },
);
const search = object({ ...asks, method: fc.constant('POST') }, { ...shaped, body_template: body, confirm_template: confirm });
const change = object(
  {
    ...asks,
    method: fc.constantFrom('POST', 'PUT', 'PATCH'),
    risk: fc.constantFrom('write', 'destructive'),
    confirm_template: confirm,
    auth: fc.constant('user'),
  },
  { ...shaped, body_template: body, needs_key: fc.oneof(header, query), auth_name: authName },
);
const removal = object(
  {
    ...asks,
    method: fc.constant('DELETE'),
    risk: fc.constant('destructive'),
    confirm_template: confirm,
    auth: fc.constant('user'),
    auth_name: authName,
  },
  { ...shaped, needs_key: fc.oneof(bearer, header) },
);
const actions = object({
  items: list(fc.oneof(readAction, search, change, removal, object({ external_key: key, op: fc.constant('archive') }, { reason })), 1, 50),
});

const line = text(500);
const complete = object({ summary: text(20_000) }, { files_changed: list(line, 0, 500), human_todos: list(line, 0, 50) });
const fail = object({ reason: text(2_000) }, { step });

export const VALID_BODIES: Readonly<Record<SetupBody, Arb>> = {
  start,
  events,
  appearance,
  experience,
  knowledge,
  actions,
  screens,
  complete,
  fail,
};
