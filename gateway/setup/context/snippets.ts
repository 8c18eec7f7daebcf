/** What GET /context hands out, ready to use (SETUP-42, SETUP-43): browser JavaScript; other platforms send the same requests. */

import { USER_TOKEN_HEADER } from '../../../protocol/headers.ts';
import { CATALOG_VERSION, PROTOCOL_VERSION } from '../../../protocol/limits.ts';
import { MOBILE_PAGE_PATH, WEB_SDK_VERSION, webSdkFolder } from '../../../protocol/runtime/web-sdk.ts';
import { sdkFiles } from '../../sdk.ts';

/** The blocks that the snippets draw, and the worked turn of the setup file names. */
export const DRAWN_COMPONENTS = ['text', 'screens', 'confirm_card'] as const;

/** A value as JavaScript that stays what it is inside a script element, too. */
function literal(value: string): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}

/** Module `assistant.js`: reads the configuration, registers the manifest, sends turns and reads their streams. */
function clientSnippet(apiUrl: string, testKey: string): string {
  const components = DRAWN_COMPONENTS.map((name) => `'${name}'`).join(', ');
  return `const API = ${literal(apiUrl)};
const KEY = ${literal(testKey)}; // what ships sends the live key: choose by build, in a page without one by location.hostname
const SDK = 'web/1.0.0'; // platform and version of your build
const device = (localStorage.assistantDevice ??= crypto.randomUUID().replaceAll('-', ''));
const headers = { 'Content-Type': 'application/json', 'X-Service-Key': KEY, 'X-Service-Device': device };
const client = { protocol: ${PROTOCOL_VERSION}, sdk: SDK, catalog_version: ${literal(CATALOG_VERSION)}, components: [${components}] }; // components: the blocks you draw
let registered;

async function call(path, body, more) {
  const sent = { ...headers, ...more };
  const answer = await fetch(API + path, body === undefined ? { headers: sent } : { method: 'POST', headers: sent, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error((await answer.json()).error.message);
  return answer;
}

// How to draw the assistant: { available, config: { theme, themeDark, copilot } }.
export async function configuration() {
  return (await call('/v1/apps/config')).json();
}

// Call it when the app starts. manifest: { version, actions: [], routes: [] }
export async function register(manifest) {
  registered = manifest;
  const answer = await call('/v1/apps/manifest', { sdk: SDK, manifest });
  client.manifest_hash = (await answer.json()).manifest_hash;
}

// What a person answered to a card. decision: confirm or decline. Answers what counts: confirmed, declined or expired.
export async function decide(invocationId, decision) {
  return (await (await call('/v1/invocations/' + invocationId + '/confirm', { decision })).json()).status;
}

// turn: { turn_id, conversation_id?, message | tool_results, user? }. Calls onEvent with every event of the stream.
// userToken: the signed-in person's own token, as your backend knows it. HTTP actions with auth user are called with it.
export async function send(turn, onEvent, userToken, isSecond = false) {
  const more = userToken ? { '${USER_TOKEN_HEADER}': userToken } : {};
  const reader = (await call('/v1/chat', { ...turn, client }, more)).body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  let isUnknown = false;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const frames = (rest + value).split('\\n\\n');
    rest = frames.pop();
    for (const frame of frames) {
      const data = frame.split('\\n').find((line) => line.startsWith('data: '));
      const event = data && JSON.parse(data.slice(6));
      if (event?.code === 'manifest_unknown' && !isSecond) isUnknown = true;
      if (event && !isUnknown) onEvent(event);
    }
  }
  if (!isUnknown) return;
  await register(registered); // the service no longer has it
  await send(turn, onEvent, userToken, true);
}
`;
}

/** Module `usage.js`: what the app does with it. One question, drawn, with its actions; those that change something are asked about. */
const USAGE = `import { configuration, decide, register, send } from './assistant.js';

const actions = { list_orders: (params) => fetchOrders(params), cancel_order: (params) => cancelOrder(params) }; // by name
const manifest = {
  version: '1',
  actions: [
    { name: 'list_orders', description: 'Lists the orders of the person.', params: {} },
    {
      name: 'cancel_order', description: 'Cancels an order.', risk: 'write', confirm_template: 'Cancel order {order_id}?',
      params: { order_id: { type: 'string', required: true } },
    },
  ],
  routes: [{ name: 'orders', title: 'Your orders' }],
};

// Call it when the app starts. Null: hide the assistant.
export async function start() {
  const { available, config } = await configuration();
  await register(manifest);
  return available ? config : null;
}

async function run({ invocation_id, name, params, executor }, agreed) {
  if (executor === 'server') return { invocation_id, status: 'ok', ...agreed }; // an HTTP action: the service runs it
  try {
    return { invocation_id, status: 'ok', result: await actions[name](params), ...agreed };
  } catch (error) {
    return { invocation_id, status: 'error', error: String(error).slice(0, 500), ...agreed };
  }
}

let conversation_id;
const cards = {}; // what was asked, by the block that asks it
// You write page: begin() a new answer, text(index, markdown) and screens(index, items) put a block in its place (a tap opens
// item.route with item.params), error(message), and confirm(card) answers a promise of true or false: card has title, summary,
// confirm_label, decline_label. person, for signed-in people: { id, hmac, token }. Throws when the service cannot be reached.
export async function ask(text, page, person) {
  const user = person && { id: person.id, hmac: person.hmac };
  let next = { message: { text } };
  while (next) {
    const texts = {};
    let pending = [];
    await send({ turn_id: crypto.randomUUID(), conversation_id, user, ...next }, (event) => {
      const { type, index, block } = event;
      if (type === 'turn.start') {
        conversation_id = event.conversation_id;
        page.begin();
      } else if (type === 'block.delta') page.text(index, (texts[index] = (texts[index] ?? '') + event.text_delta));
      else if (type === 'error') page.error(event.message);
      else if (type === 'turn.end') pending = event.pending ?? [];
      else if (type !== 'block.ready') return;
      else if (block.block_type === 'text') page.text(index, block.body.md);
      else if (block.block_type === 'screens') page.screens(index, block.body.items);
      else if (block.block_type === 'confirm_card') cards[block.id] = block.body;
      else page.text(index, block.fallback_text ?? '');
    }, person?.token);
    const reads = pending.filter(({ risk }) => risk === 'read'); // first: they do not wait for the person
    const results = await Promise.all(reads.map((call) => run(call)));
    for (const call of reads.length > 0 ? [] : pending) {
      const answer = (await page.confirm(cards[call.block_id])) ? 'confirm' : 'decline';
      const yes = (await decide(call.invocation_id, answer)) === 'confirmed';
      results.push(yes ? await run(call, { confirmed: true }) : { invocation_id: call.invocation_id, status: 'declined' });
    }
    next = results.length > 0 && { tool_results: results };
  }
}
`;

const NOTE = `Web pages embed the widget as embed.html does, and need neither assistant.js nor usage.js; docs/sdk.md has every option. web.url with web.integrity is one release's script, for pages that are updated together with the service. Mobile apps show mobile.page in a web view and drive it as mobile.docs says, with snippets for Swift, Kotlin and Flutter; or they call the runtime interface directly, as assistant.js and usage.js do: write the same in the language of the app. HTTP actions with auth user need the person's own token: the app sends it in ${USER_TOKEN_HEADER} with POST /v1/chat. These two leave out Retry and coming back to a stream that broke (docs), Stop, editing a confirmation card, words to type before one is confirmed, and all blocks but text, screens and confirm_card: of others they show fallback_text.`;

/** Where the widget's script lies, and what it must be; nulls in an installation that was not built. */
function webSdk(apiUrl: string) {
  const script = sdkFiles().find(({ name }) => name === 'assistant.js');
  if (script === undefined) return { version: null, url: null, integrity: null };
  return { version: WEB_SDK_VERSION, url: `${apiUrl}${webSdkFolder(WEB_SDK_VERSION)}${script.name}`, integrity: script.integrity };
}

/** An address as the value of an attribute. */
export function attribute(address: string): string {
  return address.replaceAll('<', '%3C').replaceAll('"', '%22');
}

/** Two elements at the end of a page. */
function embedSnippet(apiUrl: string, key: string): string {
  return `<script src="${attribute(`${apiUrl}${webSdkFolder('latest')}assistant.js`)}" crossorigin="anonymous" defer></script>
<script type="module">
  Assistant.init({ key: ${literal(key)} }); // in what ships the live key
</script>
`;
}

/** Key `sdk` of GET /context. `testKey` null: the app has none, the code says where one goes. */
export function sdkSection(apiUrl: string, testKey: string | null, docsUrl: string) {
  const web = webSdk(apiUrl);
  const key = testKey ?? 'rd_pk_test_…';
  return {
    note: NOTE,
    web,
    // There is no repository to name: the page is served here, and needs no build of its own.
    mobile: { git: null, ref: null, version: web.version, page: `${apiUrl}${MOBILE_PAGE_PATH}`, docs: new URL('mobile.md', docsUrl).href },
    snippets: { 'embed.html': embedSnippet(apiUrl, key), 'assistant.js': clientSnippet(apiUrl, key), 'usage.js': USAGE },
    docs: docsUrl,
  };
}
