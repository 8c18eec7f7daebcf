import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import * as v from 'valibot';
import { smokeQuestions } from '../../../../actors/smoke/questions.ts';
import { documentRoutes } from '../../../../gateway/docs.ts';
import { renderSetupFile, type SetupFileInput } from '../../../../gateway/setup/file/file.ts';
import { WORKED, WORKED_CHAT, WORKED_MANIFEST } from '../../../../gateway/setup/file/requests.ts';
import * as limits from '../../../../protocol/limits.ts';
import { chatRequest } from '../../../../protocol/runtime/chat.ts';
import { manifestRequest } from '../../../../protocol/runtime/manifest.ts';
import { acceptDraft } from '../../../../protocol/setup/accept.ts';
import { actionsBody, judgeHttpAction } from '../../../../protocol/setup/actions.ts';
import { appearanceBody } from '../../../../protocol/setup/appearance.ts';
import { completeBody, failBody } from '../../../../protocol/setup/completion.ts';
import { parseEvents } from '../../../../protocol/setup/events.ts';
import { judgeKnowledgeItem, knowledgeBody } from '../../../../protocol/setup/knowledge.ts';
import { experiencePatch } from '../../../../protocol/setup/persona.ts';
import { screensBody } from '../../../../protocol/setup/screens.ts';
import { startBody } from '../../../../protocol/setup/start.ts';
import { type Call, runExamples, TEST_KEY } from './example-shell.ts';

const TOKEN = 'rd_st_0123456789abcdef01234567';

const INPUT: SetupFileInput = {
  baseUrl: 'https://assistant.invalid/setup',
  docsUrl: 'https://assistant.invalid/docs/runtime.md',
  token: TOKEN,
  app: { name: 'Shop', platformHint: 'flutter', live: false },
  release: { auto_go_live: true, publish_on_go_live: true, published_version: null },
  session: { kind: 'setup', expiresAtMs: Date.UTC(2026, 10, 22), writes: 'apply' },
};
const FILE = renderSetupFile(INPUT);
/** An agent reads it whole before it begins. */
const MAX_CHARS = 24_500;

/** Every endpoint of the setup interface. */
const ENDPOINTS = [
  'GET /file',
  'POST /start',
  'GET /context',
  'POST /events',
  'PUT /appearance',
  'POST /logo',
  'PUT /experience',
  'POST /knowledge',
  'POST /actions',
  'POST /screens',
  'GET /status',
  'POST /smoke',
  'GET /smoke',
  'POST /complete',
  'POST /fail',
];

/** The text below a heading, up to the next one of its level. */
function section(heading: string): string {
  const from = FILE.indexOf(`\n## ${heading}\n`);
  assert.notEqual(from, -1, `the file has no section ${heading}`);
  const to = FILE.indexOf('\n## ', from + 1);
  return FILE.slice(from, to < 0 ? undefined : to);
}

const calls = runExamples(FILE);
const setupCalls = calls.filter(({ url }) => url.startsWith(`${INPUT.baseUrl}/`));
const nameOf = ({ method, url }: Call) => `${method} ${new URL(url).pathname.slice('/setup'.length)}`;

test('SETUP-33: every endpoint has a heading and one worked curl that runs when it is copied into a shell', () => {
  const headings = [...FILE.matchAll(/^### (.+)$/gm)].map((match) => match[1]);
  assert.deepEqual(headings.toSorted(), ENDPOINTS.toSorted());
  // GET /context is asked once more, for the key.
  assert.deepEqual(setupCalls.map(nameOf).toSorted(), [...ENDPOINTS, 'GET /context'].toSorted());
});

test('SETUP-12, SETUP-33: examples send the token in the header only, and GET /file sends a code and no token', () => {
  for (const call of setupCalls) {
    const { headers, url } = call;
    assert.deepEqual(
      headers.filter((header) => header.startsWith('Authorization')),
      nameOf(call) === 'GET /file' ? [] : [`Authorization: Bearer ${TOKEN}`],
    );
    assert.equal(headers.includes('Content-Type: application/json'), call.data !== undefined, nameOf(call));
    assert.ok(!url.includes('rd_st_'));
  }
  assert.match(setupCalls.find((call) => nameOf(call) === 'GET /file')?.url ?? '', /\?code=[0-9a-f]{32}$/);
  assert.equal(setupCalls.find((call) => nameOf(call) === 'POST /logo')?.form, 'file=@logo.svg');
});

const VALIDATORS: Readonly<Record<string, (body: unknown) => void>> = {
  '/start': (body) => v.parse(startBody, body),
  '/events': (body) => assert.ok(parseEvents(body).events.length > 0),
  '/appearance': (body) => acceptDraft(appearanceBody, body, 'invalid_appearance'),
  '/experience': (body) => acceptDraft(experiencePatch, body, 'invalid_experience'),
  '/knowledge': (body) =>
    assert.deepEqual(
      v.parse(knowledgeBody, body).items.map((item) => judgeKnowledgeItem(item).form),
      ['text', 'link'],
    ),
  '/actions': (body) => {
    for (const item of v.parse(actionsBody, body).items)
      assert.deepEqual({ ...judgeHttpAction(item, 'production'), item: null }, { form: 'action', item: null });
  },
  '/screens': (body) => v.parse(screensBody, body),
  '/complete': (body) => v.parse(completeBody, body),
  '/fail': (body) => v.parse(failBody, body),
  '/v1/apps/manifest': (body) => v.parse(manifestRequest, body),
  '/v1/chat': (body) => v.parse(chatRequest, body),
};

test('SETUP-33: what the shell sends is the worked body, and the server takes it', () => {
  const requests = [...Object.values(WORKED), WORKED_MANIFEST, WORKED_CHAT];
  assert.equal(requests.length, Object.keys(VALIDATORS).length);
  for (const { method, path, body } of requests) {
    const sent = calls.filter((call) => call.method === method && call.url.endsWith(path) && call.data !== undefined);
    assert.equal(sent.length, 1, path);
    const json: unknown = JSON.parse(sent[0]?.data ?? '');
    assert.deepEqual(json, body);
    VALIDATORS[path]?.(json);
  }
  const withData = calls.filter(({ data }) => data !== undefined);
  assert.equal(withData.length, requests.length, 'no body is sent that is not one of the worked ones');
});

test('SETUP-35: the runtime examples find the address and the test key of GET /context by themselves', () => {
  const runtime = calls.filter(({ url }) => !url.startsWith(INPUT.baseUrl));
  assert.deepEqual(
    runtime.map(({ url }) => url),
    ['https://assistant.invalid/v1/apps/manifest', 'https://assistant.invalid/v1/chat'],
  );
  for (const { headers } of runtime) {
    assert.ok(headers.includes(`X-Service-Key: ${TEST_KEY}`));
    assert.ok(headers.some((header) => /^X-Service-Device: [0-9a-f]{32}$/.test(header)));
    assert.ok(!headers.some((header) => header.includes(TOKEN)));
  }
});

test('SETUP-33: each place of the template that is for a number or a name is filled', () => {
  for (const kind of ['setup', 'sync'] as const) {
    const file = renderSetupFile({ ...INPUT, session: { ...INPUT.session, kind } });
    assert.doesNotMatch(file, /<%|%>|≤(?!\d| is the most)|\| {2}\||\bundefined\b|\(\)/);
  }
});

test('SETUP-34, STEP-1: all thirteen steps, in their order, with who closes each in the words of GET /status and what it needs', () => {
  const rows = [...section('Steps').matchAll(/^\| (\d+) \| (\w+) \| (\w+) \| (\S.{8,}) \|$/gm)].map((match) => match.slice(1, 4).join(' '));
  assert.deepEqual(rows, [
    '1 waiting server',
    '2 connected server',
    '3 discover agent',
    '4 install agent',
    '5 identity agent',
    '6 appearance either',
    '7 experience either',
    '8 knowledge either',
    '9 screens either',
    '10 actions either',
    '11 verify server',
    '12 test server',
    '13 done either',
  ]);
});

/** Every error code of the setup interface, with its status. */
const ERRORS: readonly (readonly [number, string])[] = [
  [400, 'invalid_json'],
  [400, 'invalid_body'],
  [400, 'empty_file'],
  [401, 'missing_token'],
  [401, 'invalid_token'],
  [404, 'unknown_code'],
  [404, 'app_not_found'],
  [409, 'not_started'],
  [409, 'already_claimed'],
  [409, 'app_live'],
  [409, 'draft_invalid'],
  [410, 'code_used'],
  [410, 'code_expired'],
  [410, 'session_closed'],
  [413, 'too_large'],
  [415, 'unsupported_type'],
  [422, 'invalid_appearance'],
  [422, 'invalid_experience'],
  [422, 'none'],
  [429, 'rate_limited'],
  [500, 'internal'],
];

test('SETUP-34: every error code is there once, with its status, what it means and what to do', () => {
  const rows = section('Errors')
    .split('\n')
    .filter((line) => line.startsWith('| 4') || line.startsWith('| 5'))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  for (const [status, code] of ERRORS) {
    const found = rows.filter((row) => row[2]?.split(', ').includes(code));
    assert.equal(found.length, 1, code);
    const [, statuses = '', , meaning = '', action = ''] = found[0] ?? [];
    assert.ok(statuses.split(', ').includes(String(status)), `${code} travels with ${status}`);
    assert.ok(meaning.length > 3 && action.length > 3, code);
  }
});

test('SETUP-34: every limit is the one that the server enforces', () => {
  const text = section('Limits').replaceAll(',', '');
  const mega = (bytes: number) => bytes / (1024 * 1024);
  const stated: readonly (readonly [RegExp, number])[] = [
    [/(\d+) a minute/, limits.SETUP_REQUESTS_PER_MINUTE],
    [/JSON body: (\d+) MB/, mega(limits.JSON_BODY_MAX_BYTES)],
    [/Logo: (\d+) MB/, mega(limits.LOGO_MAX_BYTES)],
    [/(\d+) knowledge items/, limits.KNOWLEDGE_ITEMS_MAX],
    [/text (\d+) characters/, limits.KNOWLEDGE_TEXT_MAX_CHARS],
    [/(\d+) actions/, limits.HTTP_ACTIONS_PER_REQUEST_MAX],
    [/(\d+) screens declared/, limits.SCREENS_PER_REQUEST_MAX],
    [/(\d+) archived/, limits.SCREENS_PER_REQUEST_MAX],
    [/(\d+) events/, limits.EVENTS_PER_REQUEST_MAX],
    [/data (\d+) characters/, limits.EVENT_DATA_MAX_CHARS],
    [/Token: (\d+) hours/, limits.SETUP_SESSION_HOURS],
    [/File code: once (\d+) minutes/, limits.SETUP_CODE_MINUTES],
    [/Smoke test: (\d+) seconds/, limits.SMOKE_TIMEOUT_MS / 1_000],
    [/summary (\d+) characters/, limits.SUMMARY_MAX_CHARS],
    [/(\d+) files_changed/, limits.FILES_CHANGED_MAX],
    [/(\d+) human_todos/, limits.HUMAN_TODOS_MAX],
    [/human_todos (\d+) characters each/, limits.COMPLETION_LINE_MAX_CHARS],
    [/reason (\d+) characters/, limits.FAIL_REASON_MAX_CHARS],
  ];
  for (const [pattern, value] of stated) assert.equal(Number(pattern.exec(text)?.[1]), value, String(pattern));
  assert.equal(text.match(/\d+/g)?.length, stated.length, 'no number of the section is left unchecked');
});

test('SETUP-36: the file says beforehand what POST /complete does, as the app is set', () => {
  const said = (release: Partial<SetupFileInput['release']>, live = false) => {
    const file = renderSetupFile({ ...INPUT, app: { ...INPUT.app, live }, release: { ...INPUT.release, ...release } });
    return /^5\. POST \/complete\. (.*)$/m.exec(file)?.[1] ?? '';
  };
  assert.match(
    said({}),
    /^It takes the app live at once when all four .* drafts of look and persona are published with it, as version 1\./,
  );
  assert.match(said({}), /name in `human_todos`, first of all, what a person must do before that/);
  assert.match(said({ publish_on_go_live: false }), /people get the default look and persona until a person publishes/);
  assert.match(said({ auto_go_live: false }), /^It does not take the app live: a person does that in the console/);
  assert.match(said({ published_version: 3 }), /published version 3/);
  assert.match(said({}, true), /live already/);
  assert.match(FILE, /### POST \/fail\n\nEnds the session when you cannot go on, and takes nothing live/);
  assert.match(FILE, /`\{ ok, status, token, live, version, note\?, waiting\? \}`/);
});

test('SETUP-35: the file names X-Service-User-Token where an action is auth user, and how the app sends it', () => {
  const actions = FILE.slice(FILE.indexOf('### POST /actions'), FILE.indexOf('### POST /screens'));
  assert.match(actions, /`user`: the signed-in person's own token, which the app sends in `X-Service-User-Token`/);
  assert.match(section('In the app'), /in the header `X-Service-User-Token` with every POST \/v1\/chat, results too/);
  assert.match(section('In the app'), /`executor` server, of POST \/actions, the service runs itself/);
  assert.match(section('In the app'), /POST \/v1\/invocations\/\{invocation_id\}\/confirm/);
});

test('SETUP-37: the file names no other place than the service and example hosts, and no secret but its token', () => {
  const addresses = FILE.match(/https?:\/\/[\w.-]+/g) ?? [];
  assert.deepEqual([...new Set(addresses)].toSorted(), ['https://api.example.com', 'https://assistant.invalid', 'https://www.example.com']);
  assert.doesNotMatch(FILE, /localhost|127\.0\.0\.1|\/(?:home|root|tmp|work|usr)\//);
  assert.deepEqual([...new Set(FILE.match(/rd_(?:st|pk_live|pk_test)_[0-9a-z]+/g) ?? [])], [TOKEN]);
  assert.equal(FILE.split(TOKEN).length, 2, 'the token stands in one place');
});

test('SETUP-36: a file of a sync session on a live app says that its writes are proposals; others that they are applied', () => {
  const session = { ...INPUT.session, kind: 'sync', writes: 'propose' } as const;
  const sync = renderSetupFile({ ...INPUT, app: { ...INPUT.app, live: true }, session });
  assert.match(sync, /Session: sync, open until 2026-11-22T00:00:00\.000Z\..* proposals, which a person approves/);
  assert.match(sync, /, live\./);
  assert.doesNotMatch(FILE, /proposals, which a person approves/);
  assert.doesNotMatch(sync, /Wait for `knowledge_ready`|until `passed`/, 'nothing is waited for that waits for a person');
  assert.match(sync, /look and persona are drafts until a person publishes/);
  assert.match(sync, /send all items again/);
  assert.match(FILE, /Wait for `knowledge_ready`/);
  assert.match(sync, /202 `\{ proposed: true/);
  assert.match(sync, /^4\. GET \/status and POST \/smoke tell how the app is now, without what waits/m);
  assert.match(FILE, /^4\. GET \/status until `app_ready`/m);
  assert.match(sync, /To correct it, for its `warnings` too, send the write again/);
  assert.doesNotMatch(sync, /do not wait or send it again/);
  assert.match(sync, /^### GET \/proposals\/\{id\}$/m);
  assert.doesNotMatch(FILE, /proposed|GET \/proposals/, 'what no write of this session meets is not in the way');
  assert.ok(sync.length < MAX_CHARS, `${sync.length} characters`);
});

test('SETUP-37: the file stays short enough to be read at once', () => {
  assert.ok(FILE.length < MAX_CHARS, `${FILE.length} characters`);
  assert.ok(fileFor('web').length < MAX_CHARS, `${fileFor('web').length} characters`);
  assert.ok(fileFor('').length < MAX_CHARS + 3_000, `${fileFor('').length} characters`);
});

const fileFor = (platformHint: string) => renderSetupFile({ ...INPUT, app: { ...INPUT.app, platformHint } });

test('SETUP-35: a web app gets the tag, its actions and screens, and the page of the SDK; others the requests; an unknown one both', () => {
  for (const hint of [
    'web',
    'Next.js static export',
    'community site (React)',
    'Cloud-native web app',
    'mobile-first web shop',
    'Ruby on Rails',
  ]) {
    const file = fileFor(hint);
    assert.match(file, /^\| 4 \| install \| agent \| Embed the widget, see "In the app"/m, hint);
    assert.match(
      file,
      /<script src="https:\/\/assistant\.invalid\/sdk\/web\/latest\/assistant\.js" crossorigin="anonymous" defer><\/script>/,
    );
    assert.match(file, /Assistant\.registerAction\([\s\S]*Assistant\.registerScreen\(/);
    assert.match(file, /https:\/\/assistant\.invalid\/docs\/sdk\.md/);
    assert.doesNotMatch(file, /Write the client|POST \/v1\/chat|no SDK/, hint);
    const manifest = [...file.matchAll(/registerAction\(\s*(\{[\s\S]*?\}),\s*\(/g)].map(([, literal]) =>
      new Function(`return ${literal}`)(),
    );
    const screen = new Function(`return ${/registerScreen\((\{.*?\}),/.exec(file)?.[1]}`)();
    v.parse(manifestRequest, { sdk: 'web/1.0.0', manifest: { version: '1', actions: manifest, routes: [screen] } });
  }
  for (const hint of ['flutter', 'iOS', 'React Native', 'React-Native with Expo', 'Android']) {
    assert.doesNotMatch(fileFor(hint), /Assistant\.init|Embed the widget/, hint);
    assert.match(fileFor(hint), /Write the client/, hint);
  }
  for (const hint of ['', 'kiosk']) assert.match(fileFor(hint), /Assistant\.init[\s\S]*### Other platforms[\s\S]*POST \/v1\/chat/, hint);
});

test('SETUP-37: the file links the documents that are served, the runtime interface and the blocks', async () => {
  const links = section('In the app').match(/https:[^\s;]+/g) ?? [];
  assert.deepEqual(links, ['https://assistant.invalid/docs/runtime.md', 'https://assistant.invalid/docs/catalog.md']);
  for (const link of links) {
    const params = { name: new URL(link).pathname.slice('/docs/'.length) };
    const reply = await documentRoutes[0]?.handle({ params, header: () => '' } as never, {} as never);
    assert.ok(reply !== undefined && 'body' in reply);
    assert.match(Buffer.from(reply.body as Uint8Array).toString(), /^# /);
  }
});

test('SETUP-36: the file says which suggestions, titles and actions a full run asks', () => {
  const many = ['one', 'two', 'three', 'four'];
  const actions = many.map((name) => ({ name, description: '', risk: 'read', params: {} }) as never);
  const origins = smokeQuestions({ suggestions: many, titles: many, actions }).map(({ from }) => from);
  const counts = ['suggestion', 'knowledge', 'action'].map((origin) => origins.filter((from) => from === origin).length);
  assert.deepEqual(counts, [2, 2, 1]);
  assert.match(FILE, /Asks the assistant 3 to 5 questions: the first two suggestions, two titles of its knowledge, a read action/);
  assert.match(FILE, /Offer what the knowledge answers: the smoke test asks the first two\./);
});

test('SETUP-37: a name or an address that holds quotes, back quotes or new lines breaks neither text nor shell', () => {
  const awkward = fc.string({ unit: fc.constantFrom("'", '"', '`', '$', '\\', ';', '\n', '#', ' ', 'a', '(', ')'), maxLength: 20 });
  const outline = (file: string) => file.split('\n').filter((line) => line.startsWith('#') || line.startsWith('```')).length;
  fc.assert(
    fc.property(awkward, (name) => {
      const file = renderSetupFile({ ...INPUT, app: { ...INPUT.app, name, platformHint: name } });
      assert.equal(outline(file), outline(fileFor('')));
    }),
  );
  const baseUrl = "https://it's.invalid/$(exit 9)`exit 9`/setup";
  const [first] = runExamples(renderSetupFile({ ...INPUT, baseUrl }));
  assert.equal(first?.url, `${baseUrl}/start`);
});
