/** The part of the setup file about code in the app: how it talks to the runtime interface (service.md "Runtime interface"). */
import { MANIFEST_ACTIONS_MAX, MANIFEST_ROUTES_MAX } from '../../protocol/limits.ts';
import { WORKED_CHAT, WORKED_MANIFEST } from './setup-file-requests.ts';
import { dataArgument, shellBlock } from './setup-file-shell.ts';

const VARIABLES = [
  'API=$(dirname "$SETUP")',
  `KEY=$(curl -sS "$SETUP/context" -H "$AUTH" | grep -o '"test":"rd_pk_test_[a-z0-9]*' | head -n 1 | cut -d '"' -f 4)`,
  'DEVICE=0123456789abcdef0123456789abcdef',
];

const RUNTIME_HEADERS = '-H "X-Service-Key: $KEY" -H "X-Service-Device: $DEVICE"';

const HOW = `The app sends both headers with every request: its publishable key (\`keys.test\` of GET /context in development builds, \`keys.live\` in production builds; both are public, the live one answers once the app is live) and a device id, 32 hex characters that it mints once per installation and keeps. \`sdk.snippets\` of GET /context does the following in JavaScript, with the key filled in.

1. At start-up: GET /v1/apps/config answers \`{ available, config { theme, themeDark, copilot } }\`: how to draw the assistant; not available, hide it. POST /v1/apps/manifest registers what this build can do and answers \`{ manifest_hash }\`. The app's own first manifest closes \`verify\`: send none by hand. \`actions\` (≤${MANIFEST_ACTIONS_MAX}) run in the app; those with \`risk\` write or destructive need a \`confirm_template\`. \`routes\` (≤${MANIFEST_ROUTES_MAX}) are the screens it opens.
2. A message: POST /v1/chat. Add \`turn_id\` (a UUID for each turn, the same on its retry), \`conversation_id\` (from \`turn.start\`, to go on) and \`client.manifest_hash\`. \`client.components\` names the blocks you draw; no others are sent.
3. The answer is server-sent events, each a \`data:\` line of JSON with \`type\`. Skip types you do not know.
   - \`turn.start { conversation_id }\`
   - \`block.delta { index, text_delta }\`: append. \`block.ready { index, block { block_type, body, fallback_text? } }\`: replaces it; a \`text\` block is \`body.md\`, Markdown without HTML. Show \`fallback_text\` for what you cannot draw.
   - \`action.execute { invocation_id, name, params }\`: run this read action.
   - \`error { code, message, retryable }\`: show the message. \`manifest_unknown\`: post the manifest again.
   - \`turn.end { status, pending? }\`. \`awaiting_tool_results\`: POST /v1/chat with the \`conversation_id\`, a new \`turn_id\` and, in place of \`message\`, \`"tool_results": [{ "invocation_id": "…", "status": "ok", "result": { } }]\` (or status \`error\`); the answer goes on in its stream. \`awaiting_confirmation\`: ask the person about each \`pending { invocation_id, name, params, executor }\`. Yes: run it if \`executor\` is client, send status \`ok\` with \`"confirmed": true\`. No: send status \`declined\`.
4. Signed-in people: \`"user": { "id": "…", "hmac": "…" }\` in POST /v1/chat, hmac the lowercase hex HMAC-SHA256 of the id, made by the app's backend with the identity secret that a person copies there from the console (\`human_todos\`). HTTP actions with auth \`user\` also need the person's own token in the header \`X-Service-User-Token\`.
5. A web page's domain must be in the app's Allowed domains (\`human_todos\`); on the developer's own machine the test key needs none.`;

/** Markdown from the variables to what ships. */
export function renderAppPart(): string {
  const manifest = `curl -sS "$API${WORKED_MANIFEST.path}" ${RUNTIME_HEADERS}${dataArgument(WORKED_MANIFEST.body)}`;
  const chat = `curl -sSN "$API${WORKED_CHAT.path}" ${RUNTIME_HEADERS}${dataArgument(WORKED_CHAT.body)}`;
  return `${HOW}\n\n${shellBlock(...VARIABLES, manifest, chat)}`;
}
