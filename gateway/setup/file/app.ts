/** The part of the setup file about code in the app: the widget of web pages, and how other apps talk to the runtime interface (SETUP-35). */

import type { AppForm } from '../../../protocol/console/apps.ts';
import { USER_TOKEN_HEADER } from '../../../protocol/headers.ts';
import { MANIFEST_ACTIONS_MAX, MANIFEST_ROUTES_MAX, TOOL_ERROR_MAX_CHARS } from '../../../protocol/limits.ts';
import { webSdkFolder } from '../../../protocol/runtime/web-sdk.ts';
import { attribute } from '../context/snippets.ts';
import { WORKED_CHAT, WORKED_MANIFEST } from './requests.ts';
import { dataArgument, shellBlock } from './shell.ts';

const VARIABLES = [
  'API=$(dirname "$SETUP")',
  `KEY=$(curl -sS "$SETUP/context" -H "$AUTH" | grep -o '"test":"rd_pk_test_[a-z0-9]*' | head -n 1 | cut -d '"' -f 4)`,
  'DEVICE=0123456789abcdef0123456789abcdef',
];

const RUNTIME_HEADERS = '-H "X-Service-Key: $KEY" -H "X-Service-Device: $DEVICE"';

const HOW = `The app sends two headers with every request: its publishable key (\`keys\` of GET /context, both public: \`test\` in development builds, \`live\` in what ships, answered once the app is live; a page without a build chooses by its host name) and a device id, 32 hex characters, minted once per installation and kept. \`sdk.snippets\` does 1 to 5 in JavaScript; \`sdk.note\` says what it leaves out.

1. At start-up: GET /v1/apps/config answers \`{ available, config { theme, themeDark, copilot } }\`: how to draw the assistant; not available, hide it. Themes have every colour, \`copilot\` also holds assistantName, languages, welcomeTitle, welcomeBody, suggestions; what nobody configured is missing. POST /v1/apps/manifest registers what this build can do and answers \`{ manifest_hash }\`. \`actions\` (≤${MANIFEST_ACTIONS_MAX}) run in the app; those with \`risk\` write or destructive need a \`confirm_template\`. \`routes\` (≤${MANIFEST_ROUTES_MAX}) are the screens it opens.
2. A message: POST /v1/chat. Add \`turn_id\` (a UUID for each turn, the same on its retry), \`conversation_id\` (from \`turn.start\`, to go on) and \`client.manifest_hash\`. \`client.components\` names the blocks you draw; no others are sent.
3. The answer is server-sent events, each a \`data:\` line of JSON with \`type\`. Skip types you do not know.
   - \`turn.start { conversation_id }\`: a new answer, its blocks count from index 0.
   - \`block.delta { index, text_delta }\`: append. \`block.ready { index, block { id, block_type, body, fallback_text? } }\`: replaces it. \`text\`: \`body.md\`, Markdown; draw no HTML and no images of it. \`screens\`: \`body.items[] { route, title, params? }\`, each a button that opens that route of the manifest. \`confirm_card\`: the question about a call that waits. Show \`fallback_text\` for what you cannot draw.
   - \`error { code, message, retryable }\`: show the message. \`manifest_unknown\`: register again, send once more.
   - \`turn.end { status, pending? }\`: \`pending[] { invocation_id, name, params, risk, executor, block_id? }\` are calls that wait for the app. Run those with \`risk\` read. Ask the person about the others (\`block_id\`: of the confirm_card), POST /v1/invocations/{invocation_id}/confirm \`{ "decision": "confirm" }\` (or decline), and run them when its \`status\` is confirmed. Those with \`executor\` server, of POST /actions, the service runs itself: you send their result without \`result\`.
4. Results: POST /v1/chat with the \`conversation_id\`, a new \`turn_id\` and, in place of \`message\`, \`"tool_results": [{ "invocation_id": "…", "status": "ok", "result": { } }]\`, with \`"confirmed": true\` after a yes. After a no: \`declined\`. Failed: status \`error\` and \`error\`, why (≤${TOOL_ERROR_MAX_CHARS}). The answer goes on in its stream.
5. Signed-in people: \`"user": { "id": "…", "hmac": "…" }\` in POST /v1/chat, hmac the lowercase hex HMAC-SHA256 of the id, made by the app's backend with the identity secret that a person copies there from the console (\`human_todos\`). Actions of POST /actions with \`auth\` user are called with the person's own token: send it, as the backend takes it from the app today, in the header \`${USER_TOKEN_HEADER}\` with every POST /v1/chat, results too. Without it they fail. It is not stored.
6. A web page's domain must be in the app's Allowed domains (\`human_todos\`); on the developer's own machine the test key needs none.`;

/** The widget in one tag and the lines behind it. */
function widgetPart(docsUrl: string, apiUrl: string): string {
  const address = attribute(`${apiUrl}${webSdkFolder('latest')}assistant.js`);
  return `A web page embeds the widget, which draws the assistant, asks before it changes something, and takes up streams that broke: there is no client to write. Every option, React, policies and what the log says: ${besides(docsUrl, 'sdk.md')}

\`\`\`html
<script src="${address}" crossorigin="anonymous" defer></script>
<script type="module">
  const isLocal = ['localhost', '127.0.0.1'].includes(location.hostname);
  const person = null; // who is signed in: { id, hmac, token }; null: nobody
  Assistant.init({
    key: isLocal ? 'rd_pk_test_…' : 'rd_pk_live_…', // keys of GET /context, both public; live is answered once the app is live
    user: person && { id: person.id, hmac: person.hmac },
    userToken: person?.token, // sent as ${USER_TOKEN_HEADER}, for actions of POST /actions with auth user
  });
  Assistant.registerAction({ name: 'list_orders', description: 'Lists the orders of the person.', params: {} }, () => fetchOrders());
  Assistant.registerAction(
    { name: 'cancel_order', description: 'Cancels an order.', risk: 'write', confirm_template: 'Cancel order {order_id}?',
      params: { order_id: { type: 'string', required: true } } },
    ({ order_id }) => cancelOrder(order_id),
  );
  Assistant.registerScreen({ name: 'orders', title: 'Your orders' }, (params) => router.push('/orders'));
</script>
\`\`\`

- The first element goes into every page that shows the assistant, in a bundled app into its \`index.html\`; the lines of the second one may stand in the app's own code, after it. Actions and screens that are registered are \`actions\` and \`routes\` of the manifest, which the widget sends by itself.
- \`hmac\`: the lowercase hex HMAC-SHA256 of the id, made by the app's backend with the identity secret that a person copies there from the console (\`human_todos\`). The secret is never in the page. Without an hmac leave \`user\` out.
- The page's domain must be in the app's Allowed domains (\`human_todos\`, before it goes live: until then no page shows the assistant); on the developer's own machine the test key needs none.
- In another language than English: \`words\` of init holds the widget's own texts ({ send: 'Senden' }), and \`confirm_labels: { de: { confirm: 'Ja', cancel: 'Nein' } }\` of an action the buttons of its card. Times and numbers follow the page's \`lang\`.
- The address follows the service: \`latest\` is what it serves now. Pin \`sdk.web.url\` with its \`integrity\` only where page and service are updated together.
- A content security policy of the page must allow this address in \`script-src\` and \`connect-src\`.
- \`verify\` closes when the page is opened in a browser.`;
}

/** A document that lies beside runtime.md. */
function besides(docsUrl: string, name: string): string {
  return docsUrl.slice(0, docsUrl.lastIndexOf('/') + 1) + name;
}

/** Markdown from the variables to what ships. `docsUrl` is the address of runtime.md, and the other documents lie beside it. */
export function renderAppPart({ docsUrl, apiUrl, form }: { docsUrl: string; apiUrl: string; form: AppForm }): string {
  if (form === 'native') return requestsPart(docsUrl);
  const widget = widgetPart(docsUrl, apiUrl);
  return form === 'web' ? widget : `${widget}\n\n### Other platforms\n\n${requestsPart(docsUrl)}`;
}

/** How an app without the widget does it. */
function requestsPart(docsUrl: string): string {
  const manifest = `curl -sS "$API${WORKED_MANIFEST.path}" ${RUNTIME_HEADERS}${dataArgument(WORKED_MANIFEST.body)}`;
  const chat = `curl -sSN "$API${WORKED_CHAT.path}" ${RUNTIME_HEADERS}${dataArgument(WORKED_CHAT.body)}`;
  const documents = `In full: ${docsUrl} ; every block: ${besides(docsUrl, 'catalog.md')}`;
  const caution = 'As requests. Send neither by hand: it would close `verify` for an app that never called.';
  return `${HOW}\n\n${documents}\n\n${caution}\n\n${shellBlock(...VARIABLES, manifest, chat)}`;
}
