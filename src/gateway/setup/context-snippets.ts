/**
 * Client code that GET /context hands out, ready to use: it calls the runtime interface directly (service.md "GET /context
 * keys", `sdk`). It is browser JavaScript; other platforms send the same requests.
 */
import { CATALOG_VERSION, PROTOCOL_VERSION } from '../../protocol/limits.ts';

/** A value as JavaScript that stays what it is inside a script element, too. */
function literal(value: string): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}

/** Module `assistant.js`: registers the manifest, sends turns and reads their streams. */
function clientSnippet(apiUrl: string, testKey: string): string {
  return `const API = ${literal(apiUrl)};
const KEY = ${literal(testKey)}; // in production builds the live key
const SDK = 'web/1.0.0'; // platform and version of your build
const device = (localStorage.assistantDevice ??= crypto.randomUUID().replaceAll('-', ''));
const headers = { 'Content-Type': 'application/json', 'X-Service-Key': KEY, 'X-Service-Device': device };
const client = { protocol: ${PROTOCOL_VERSION}, sdk: SDK, catalog_version: ${literal(CATALOG_VERSION)}, components: ['text'] }; // components: the blocks you draw

async function post(path, body) {
  const answer = await fetch(API + path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error((await answer.json()).error.message);
  return answer;
}

// Call it when the app starts. manifest: { version, actions: [], routes: [] }
export async function register(manifest) {
  const answer = await post('/v1/apps/manifest', { sdk: SDK, manifest });
  client.manifest_hash = (await answer.json()).manifest_hash;
}

// turn: { turn_id, conversation_id?, message | tool_results, user? }. Calls onEvent with every event of the stream.
export async function send(turn, onEvent) {
  const reader = (await post('/v1/chat', { ...turn, client })).body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const frames = (rest + value).split('\\n\\n');
    rest = frames.pop();
    for (const frame of frames) {
      const data = frame.split('\\n').find((line) => line.startsWith('data: '));
      if (data) onEvent(JSON.parse(data.slice(6)));
    }
  }
}
`;
}

/** What the app does with the module: one question with its read actions. Actions that need a yes are left to the app. */
const USAGE = `import { register, send } from './assistant.js';

const actions = { list_orders: async (params) => fetchOrders(params) }; // read actions of the manifest, by name
await register({
  version: '1',
  actions: [{ name: 'list_orders', description: 'Lists the orders of the person.', params: {} }],
  routes: [{ name: 'orders', title: 'Your orders' }],
});

let conversation_id;
export async function ask(text, draw) {
  let next = { message: { text } };
  while (next) {
    const calls = [];
    await send({ turn_id: crypto.randomUUID(), conversation_id, ...next }, (event) => {
      if (event.type === 'turn.start') conversation_id = event.conversation_id;
      if (event.type === 'action.execute') calls.push(event);
      draw(event); // block.delta, block.ready, error, turn.end
    });
    const results = calls.map(async ({ invocation_id, name, params }) => {
      try {
        return { invocation_id, status: 'ok', result: await actions[name](params) };
      } catch (error) {
        return { invocation_id, status: 'error', error: String(error).slice(0, 500) };
      }
    });
    next = calls.length > 0 && { tool_results: await Promise.all(results) };
  }
}
`;

/** Key `sdk` of GET /context. `testKey` null: the app has none, the code says where one goes. */
export function sdkSection(apiUrl: string, testKey: string | null, docsUrl: string) {
  return {
    note: 'No SDK package is published. The snippets call the runtime interface directly; write the same in the language of the app.',
    web: { version: null, url: null },
    mobile: { git: null, ref: null },
    snippets: { 'assistant.js': clientSnippet(apiUrl, testKey ?? 'rd_pk_test_…'), 'usage.js': USAGE },
    docs: docsUrl,
  };
}
