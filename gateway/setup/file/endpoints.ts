/** The endpoints as the setup file tells them: what each takes, a worked request, what it answers (SETUP-33). */

import type { SessionKind } from '../../../protocol/console/sessions.ts';
import { USER_TOKEN_HEADER } from '../../../protocol/headers.ts';
import {
  ACTION_DESCRIPTION_MAX_CHARS,
  ACTION_ENUM_MAX,
  ACTION_NAME_MAX_CHARS,
  ACTION_PARAMS_MAX,
  AGENT_MODEL_MAX_CHARS,
  AGENT_OS_MAX_CHARS,
  COMPOSER_HINT_MAX_CHARS,
  CONFIRM_TEMPLATE_MAX_CHARS,
  DETECTED_FONTS_MAX,
  DETECTED_LOCALES_MAX,
  EVENT_DETAIL_MAX_CHARS,
  EVENT_TITLE_MAX_CHARS,
  FONT_FAMILY_MAX_CHARS,
  FONT_SCALE_MAX,
  FONT_SCALE_MIN,
  HTTP_ACTION_TIMEOUT_DEFAULT_MS,
  HTTP_ACTION_TIMEOUT_MAX_MS,
  HTTP_ACTION_TIMEOUT_MIN_MS,
  KNOWLEDGE_KEY_MAX_CHARS,
  KNOWLEDGE_TITLE_MAX_CHARS,
  LAUNCHER_LABEL_MAX_CHARS,
  LINK_MAX_BYTES,
  MANIFEST_ROUTE_PARAMS_MAX,
  PERSONA_LANGUAGES_MAX,
  PERSONA_NAME_MAX_CHARS,
  PERSONA_TEXT_MAX_CHARS,
  PERSONA_TOPIC_MAX_CHARS,
  PERSONA_TOPICS_MAX,
  RADIUS_MAX_PX,
  RESULT_LIMIT_DEFAULT,
  RESULT_LIMIT_MAX,
  SCREEN_DESCRIPTION_MAX_CHARS,
  SCREEN_TITLE_MAX_CHARS,
  SMOKE_PASS_SHARE,
  SMOKE_QUESTIONS_MAX,
  SMOKE_QUESTIONS_MIN,
  SMOKE_TIMEOUT_MS,
  SUGGESTION_MAX_CHARS,
  SUGGESTIONS_MAX,
  TOOL_NAME_MAX_CHARS,
  WELCOME_BODY_MAX_CHARS,
  WELCOME_TITLE_MAX_CHARS,
} from '../../../protocol/limits.ts';
import { KNOWN_TOOLS } from '../../../protocol/setup/start.ts';
import { EVENT_STATUSES } from '../../../protocol/setup/steps.ts';
import {
  WORKED_ACTIONS,
  WORKED_APPEARANCE,
  WORKED_COMPLETE,
  WORKED_EVENTS,
  WORKED_EXPERIENCE,
  WORKED_FAIL,
  WORKED_KNOWLEDGE,
  WORKED_SCREENS,
  WORKED_START,
} from './requests.ts';
import { grouped, megabytes, setupCurl } from './shell.ts';

export interface FileEndpoint {
  /** `POST /start`. */
  readonly heading: string;
  /** What it takes and what it asks for; Markdown. */
  readonly text: string;
  /** Lines of a shell. */
  readonly example: readonly string[];
  /** What a 200 holds; Markdown. */
  readonly answer: string;
}

const seconds = (ms: number) => ms / 1_000;
const get = (path: string) => [setupCurl({ method: 'GET', path, body: null })];

const START: FileEndpoint = {
  heading: 'POST /start',
  text: `\`tool\` (${KNOWN_TOOLS.join(', ')} or a name of your own, ≤${TOOL_NAME_MAX_CHARS}), \`model?\` ≤${AGENT_MODEL_MAX_CHARS}, \`os?\` ≤${AGENT_OS_MAX_CHARS}, \`detected?\`. The first caller claims the session. After a crash send the same tool, model and os again and go on.`,
  example: [setupCurl(WORKED_START)],
  answer: '`{ ok, session, app, next }`',
};

const CONTEXT: FileEndpoint = {
  heading: 'GET /context',
  text: 'All that is known: `profile` (what the person said, the last `detected`), `intake` (read from their links), `config` (what is configured, with `origin` and `external_key`; 200 sources, those after them with `?sources_after=` and `config.knowledge.next`), `release` (what people get, and when), `proposals` (those that wait, and the last verdicts with their reasons), `schemas` (JSON Schema of every request body).',
  example: get('/context'),
  answer: '`{ app, session, profile, intake, config, keys, sdk, api, steps, facts, release, proposals, schemas }`',
};

const EVENTS: FileEndpoint = {
  heading: 'POST /events',
  text: `One event, an array, or \`{ events, detected? }\`. \`step\` (not waiting, connected), \`status\` (${EVENT_STATUSES.join(', ')}), \`title?\` ≤${EVENT_TITLE_MAX_CHARS}, \`detail?\` ≤${grouped(EVENT_DETAIL_MAX_CHARS)}, \`data?\` (an object). \`detected\`, merged by field: platform, framework, router, http, auth, themeFile, logoFile (text), locales (≤${DETECTED_LOCALES_MAX}), fonts (≤${DETECTED_FONTS_MAX}), screens, apiCalls (counts), darkTheme (boolean).`,
  example: [setupCurl(WORKED_EVENTS)],
  answer: '`{ accepted, ids[], detected }`',
};

const APPEARANCE: FileEndpoint = {
  heading: 'PUT /appearance',
  text: `\`theme\`: surface, onSurface, accent, onAccent, always all four, opaque \`#rrggbb\`. Optional: surfaceRaised, surfaceHigh, surfaceSunk, onSurfaceMuted, outline, danger, onDanger, success, onSuccess (derived when left out), radius 0 to ${RADIUS_MAX_PX}, spacing (compact, cosy, roomy), fontFamily ≤${FONT_FAMILY_MAX_CHARS}, fontScale ${FONT_SCALE_MIN} to ${FONT_SCALE_MAX}, style (flat, soft, outlined), launcherPosition (start, end). \`themeDark?\`: any of them, the rest is derived, without it all. \`copilot?\`: launcherLabel ≤${LAUNCHER_LABEL_MAX_CHARS}, composerHint ≤${COMPOSER_HINT_MAX_CHARS}, feedback (boolean), icons. Replaces the draft's theme, keeps its logo. \`warnings\` are colour pairs that are hard to read, no refusals: set \`fix.token\` to \`fix.suggested\` and send again, unless the brand forbids it.`,
  example: [setupCurl(WORKED_APPEARANCE)],
  answer: '`{ saved, changed[], draft, warnings[] { check, what, ratio, minimum, fix? { token, suggested } } }`',
};

const LOGO: FileEndpoint = {
  heading: 'POST /logo',
  text: "The app's own logo as multipart field `file`: PNG, JPEG, WebP or SVG. After PUT /appearance.",
  example: ['LOGO=logo.svg # path of the file', 'curl -sS "$SETUP/logo" -H "$AUTH" -F "file=@$LOGO"'],
  answer: '`{ saved, draft, logoAssetId }`',
};

const EXPERIENCE: FileEndpoint = {
  heading: 'PUT /experience',
  text: `A patch: what is left out stays, \`""\` and \`[]\` take back. assistantName ≤${PERSONA_NAME_MAX_CHARS}; tone, instructions, guardrails ≤${grouped(PERSONA_TEXT_MAX_CHARS)}; guardrails: a rule a line, each starting \`Always\` or \`Never\`; topics it will not discuss (≤${PERSONA_TOPICS_MAX} of ${PERSONA_TOPIC_MAX_CHARS}); languages (≤${PERSONA_LANGUAGES_MAX}, default first); welcomeTitle ≤${WELCOME_TITLE_MAX_CHARS}, welcomeBody ≤${WELCOME_BODY_MAX_CHARS}; suggestions (≤${SUGGESTIONS_MAX} of ${SUGGESTION_MAX_CHARS}). Offer what the knowledge answers: the smoke test asks the first two.`,
  example: [setupCurl(WORKED_EXPERIENCE)],
  answer: '`{ saved, draft, personaVersion, changed[] }`',
};

const KNOWLEDGE: FileEndpoint = {
  heading: 'POST /knowledge',
  text: `Text: external_key ≤${KNOWLEDGE_KEY_MAX_CHARS}, title ≤${KNOWLEDGE_TITLE_MAX_CHARS}, content (Markdown or plain text). Link: external_key, uri (public http or https; the service fetches it, again when it is sent again, ≤${megabytes(LINK_MAX_BYTES)}), title?. Out of service: \`{ "external_key": "help/returns", "op": "archive" }\`. One subject an item, with its headings; no code, no secrets, no personal data. Text is searchable when the answer comes; a link may be \`pending\` or \`indexing\` until later. Why one \`failed\`: \`config.knowledge\` of GET /context.`,
  example: [setupCurl(WORKED_KNOWLEDGE)],
  answer: '`{ created, updated, unchanged, archived, failed, results[] { external_key, ok, op, id, status, chunks, error? }, note }`',
};

const ACTIONS: FileEndpoint = {
  heading: 'POST /actions',
  text: `HTTP endpoints of the app's backend, copied from the code that calls them. They are called when on, also in the smoke test (no writes, none with \`auth\` \`user\`); a build's own action of the same name goes before.

- \`name\` snake_case ≤${ACTION_NAME_MAX_CHARS}, unique; \`description\` ≤${ACTION_DESCRIPTION_MAX_CHARS}: when to call it; \`method\` GET, POST, PUT, PATCH, DELETE; \`risk\` read (default), write, destructive.
- \`url_template\`: the production https address; \`{{param.x}}\` marks a value in path or query. \`body_template\` (POST, PUT, PATCH): a JSON object as a string, marked likewise. Every mark is one of \`params\`.
- \`params\` ≤${ACTION_PARAMS_MAX}: name, description?, required?, example?, type? (string, number, boolean, array), items? (type of a list's items), enum? ≤${ACTION_ENUM_MAX}.
- \`confirm_template\` ≤${CONFIRM_TEMPLATE_MAX_CHARS}, required for write and destructive: what the person is asked; \`{x}\` marks a value.
- \`auth\` \`none\` (default) may only read. \`user\`: the signed-in person's own token, which the app sends in \`${USER_TOKEN_HEADER}\` ("In the app"), else the call fails; whatever changes data needs it. \`auth_name\` places that token as \`header:<name>\`, \`query:<name>\` or \`cookie:<name>\` in place of Bearer. Only a person moves a saved one to another host.
- \`needs_key { kind, name?, note? }\`, kind bearer, header or query: a shared key, which a person enters in the console (\`human_todos\`), never you; off until then. Key and token share no place: with auth \`user\`, kind bearer needs \`auth_name\` \`header:<name>\`.
- \`result_path\`, \`result_fields\`, \`result_limit\` 1 to ${RESULT_LIMIT_MAX} (${RESULT_LIMIT_DEFAULT}): what of the answer matters. \`timeout_ms\` ${grouped(HTTP_ACTION_TIMEOUT_MIN_MS)} to ${grouped(HTTP_ACTION_TIMEOUT_MAX_MS)} (${grouped(HTTP_ACTION_TIMEOUT_DEFAULT_MS)}). Out of service: \`op\` \`archive\`, as above.`,
  example: [setupCurl(WORKED_ACTIONS)],
  answer: '`{ failed, needs_key[], results[] { external_key, ok, name, needs_key, error? } }`; `needs_key` names those that wait for a key',
};

const SCREENS: FileEndpoint = {
  heading: 'POST /screens',
  text: `Screens worth leading to, all saved or none. \`name\` is their key: the same name replaces the screen whole; \`archive\` takes \`{ name, reason? }\`. name snake_case, title ≤${SCREEN_TITLE_MAX_CHARS}, description ≤${SCREEN_DESCRIPTION_MAX_CHARS}, params? (≤${MANIFEST_ROUTE_PARAMS_MAX}; fromActions: whose results hold the value), file?, deep_link?. A plan until the app's manifest has a route of that name.`,
  example: [setupCurl(WORKED_SCREENS)],
  answer: '`{ planned, added, updated, unchanged, archived, unknown[], note }`; `unknown` was to be archived, but never declared',
};

const STATUS: FileEndpoint = {
  heading: 'GET /status',
  text: 'Where you stand. Checks and steps are two things: `screens` may be done while `screens_missing` is 2. `knowledge_ready`: no source waits, nor when there is none. `go_live[].detail` says what a check that is not ok waits for.',
  example: get('/status'),
  answer: '`{ app_ready, knowledge_ready, screens_missing, facts, go_live[] { key, label, ok, detail }, release, steps[] }`',
};

const RUN_SMOKE: FileEndpoint = {
  heading: 'POST /smoke',
  text: `Asks the assistant ${SMOKE_QUESTIONS_MIN} to ${SMOKE_QUESTIONS_MAX} questions: the first two suggestions, two titles of its knowledge, a read action of the manifest; where one is missing, more of the others. Passes when ${SMOKE_PASS_SHARE * 100}% are \`ok\`: used knowledge, or called the action (nothing runs it here, its answer may be empty). For the others add the knowledge they lacked or change the suggestion. \`platformFailure\`: change nothing, run later. The latest run counts: run it again after later writes.`,
  example: [`${setupCurl({ method: 'POST', path: '/smoke', body: null })} --max-time ${seconds(SMOKE_TIMEOUT_MS) + 20}`],
  answer:
    '`{ id, passed, platformFailure, createdAt, results[] { question, from, answer, actions[], grounded, actionBacked, ok, error } }`',
};

const READ_SMOKE: FileEndpoint = {
  heading: 'GET /smoke',
  text: 'The latest run; runs nothing.',
  example: get('/smoke'),
  answer: 'as above, or `{ run: null }`',
};

const COMPLETE: FileEndpoint = {
  heading: 'POST /complete',
  text: 'The last call: ends the session, revokes the token; open steps do not hinder it. It may take the app live, see "Begin", 5. `summary` (Markdown), `files_changed?`, `human_todos?`: what only a person can do (keys, secrets, domains, release), first what must come before people use it.',
  example: [setupCurl(WORKED_COMPLETE)],
  answer:
    '`{ ok, status, token, live, version, note?, waiting? }`: completed, revoked; whether the app is live, the published version that people get, what is missing, how many proposals wait',
};

const FAIL: FileEndpoint = {
  heading: 'POST /fail',
  text: 'Ends the session when you cannot go on, and takes nothing live: `reason`, `step?`. One failed step is no reason: report it `failed`, do the others.',
  example: [setupCurl(WORKED_FAIL)],
  answer: '`{ ok, status, token }`: failed, revoked',
};

const PROPOSAL: FileEndpoint = {
  heading: 'GET /proposals/{id}',
  text: 'One proposal of a sync session: what it would write and what became of it. `status` pending, approved, rejected (`reason`: why) or replaced (`replaced_by`).',
  example: ['PROPOSAL=pro_000000000000000000000000', setupCurl({ method: 'GET', path: '/proposals/$PROPOSAL', body: null })],
  answer: '`{ proposal { id, kind, summary, status, reason, replaced_by, created_at, decided_at, write } }`',
};

const FILE: FileEndpoint = {
  heading: 'GET /file',
  text: 'How this file came, without a token. Another takes a new code, brings a new token and ends this one.',
  example: ['CODE=00000000000000000000000000000000 # 32 hex characters, from the console', 'curl -sS "$SETUP/file?code=$CODE"'],
  answer: 'this file, `text/markdown`',
};

/** Endpoints of a session of this kind, in the order of use: one that applies its writes proposes nothing. */
export function fileEndpoints(kind: SessionKind): readonly FileEndpoint[] {
  return kind === 'sync' ? ENDPOINTS : ENDPOINTS.filter((endpoint) => endpoint !== PROPOSAL);
}

const ENDPOINTS: readonly FileEndpoint[] = [
  START,
  CONTEXT,
  EVENTS,
  APPEARANCE,
  LOGO,
  EXPERIENCE,
  KNOWLEDGE,
  ACTIONS,
  SCREENS,
  STATUS,
  RUN_SMOKE,
  READ_SMOKE,
  PROPOSAL,
  COMPLETE,
  FAIL,
  FILE,
];
