/** Viewers of statecharts at the running program: who may look, and what they are told while a turn goes on. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { WebSocket } from 'undici';
import { HANDSHAKE } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { FILE } from '../support/whole-file.ts';
import { pendingOf, type ScriptedChat, startScriptedChat, thread } from './runtime/scripted-chat.ts';

const TOKEN = 'a-token-of-viewers-in-a-test';
const VIEWER = 'https://viewer.example';
const CANARY = 'ann.canary@example.com';
const MANIFEST = {
  version: '1',
  actions: [
    {
      name: 'cancel_order',
      description: 'Cancels an order.',
      risk: 'write',
      confirm_template: 'Cancel order {id}?',
      params: { id: { type: 'string', required: true } },
    },
  ],
};

interface Frame {
  readonly type: string;
  readonly sessionId: string;
  readonly rootId: string;
  readonly parentId?: string;
  readonly event?: { readonly type: string };
  readonly snapshot?: { readonly value: unknown; readonly status: string };
  readonly definition?: string;
}

interface Viewer {
  readonly frames: readonly Frame[];
  readonly texts: readonly string[];
}

function view(t: TestContext, { service }: ScriptedChat, query: string): Viewer {
  const socket = new WebSocket(`${service.baseUrl.replace('http', 'ws')}/inspect?token=${TOKEN}&${query}`);
  t.after(() => socket.close());
  const texts: string[] = [];
  socket.addEventListener('message', ({ data }) => texts.push(String(data)));
  return {
    texts,
    get frames() {
      return texts.map((text) => JSON.parse(text) as Frame);
    },
  };
}

/** The first bytes that the server says to `head`. */
function saidTo(port: number, head: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(head));
    socket.once('data', (data) => {
      socket.destroy();
      resolve(String(data));
    });
    socket.once('error', reject);
  });
}

/** What an upgrade is answered, without upgrading. */
async function answered(baseUrl: string, query: string, headers: Record<string, string> = {}): Promise<readonly [number, string]> {
  const { request } = await import('node:http');
  const upgrade = {
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  };
  return new Promise((resolve, reject) => {
    const sent = request(`${baseUrl}/inspect?${query}`, { headers: { ...upgrade, ...headers } });
    sent.on('upgrade', (_, socket) => {
      socket.destroy();
      resolve([101, '']);
    });
    sent.on('response', (answer) => {
      let text = '';
      answer.on('data', (piece) => {
        text += String(piece);
      });
      answer.on('end', () => resolve([answer.statusCode ?? 0, (JSON.parse(text) as { error: { code: string } }).error.code]));
    });
    sent.on('error', reject);
    sent.end();
  });
}

const it = await startScriptedChat(FILE, { env: { INSPECTOR_TOKEN: TOKEN, INSPECTOR_ORIGINS: VIEWER } });

test('INSPECT-1: without a token in the environment there is nothing at this path', async (t) => {
  const { service, app } = await startScriptedChat(t);
  assert.deepEqual(await answered(service.baseUrl, `token=${TOKEN}&app=${app.appId}`), [404, 'not_found']);
});

test('INSPECT-2, INSPECT-3, INSPECT-4: who has the token sees a turn and its call move, and nobody else does', async (t) => {
  const { baseUrl } = it.service;
  const app = `app=${it.app.appId}`;
  for (const [query, headers, expected] of [
    [app, {}, [401, 'missing_token']],
    [`${app}&token=${TOKEN}x`, {}, [401, 'invalid_token']],
    [app, { Authorization: `Bearer ${it.service.operatorToken}` }, [401, 'invalid_token']],
    [app, { Authorization: `Bearer ${TOKEN}` }, [101, '']],
    [`${app}&token=${TOKEN}`, { Origin: VIEWER }, [101, '']],
    [`${app}&token=${TOKEN}`, { Origin: baseUrl }, [101, '']],
    [`${app}&token=${TOKEN}`, { Origin: 'https://evil.example' }, [403, 'origin_not_allowed']],
    [`${app}&token=${TOKEN}`, { Origin: 'null' }, [403, 'origin_not_allowed']],
    [`app=app_none&token=${TOKEN}`, {}, [404, 'not_found']],
    [`${app}&token=${TOKEN}&turn_id=${randomUUID()}`, {}, [404, 'not_found']],
  ] as const) {
    assert.deepEqual(await answered(baseUrl, query, headers), expected, query);
  }
  const more = { client: { ...HANDSHAKE, manifest_hash: await it.client.register(MANIFEST) } };
  it.script([{ call: 'cancel_order', args: { id: CANARY }, id: 'call_cancel' }], [{ text: 'It is cancelled.' }]);
  const turnId = randomUUID();
  const asked = await it.say(`Cancel the order of ${CANARY}.`, { ...more, turn_id: turnId });
  const named = view(t, it, `${app}&turn_id=${turnId}`);
  const newest = view(t, it, app);
  // The app itself is an instance, too: it went live.
  await eventually(() => named.frames.length === 2 && newest.frames.length === 3);
  const [turn, call] = named.frames;
  assert.deepEqual([turn?.type, turn?.snapshot?.value], ['@xstate.actor', 'awaiting_confirmation']);
  assert.deepEqual([call?.type, call?.parentId, call?.rootId], ['@xstate.actor', turn?.sessionId, turn?.sessionId]);
  assert.ok(turn?.definition?.includes('awaiting_confirmation'));
  const result = { invocation_id: pendingOf(asked)[0]?.invocation_id, status: 'ok', confirmed: true, result: { cancelled: true } };
  await it.chat({ ...more, conversation_id: thread(asked), tool_results: [result] });
  const told = (viewer: Viewer, sessionId: string | undefined) => viewer.frames.filter((frame) => frame.sessionId === sessionId).at(-1);
  await eventually(() => told(named, call?.sessionId)?.snapshot?.value === 'succeeded');
  await eventually(() => told(newest, turn?.sessionId)?.snapshot?.status === 'done');
  assert.ok(named.frames.some(({ type, event }) => type === '@xstate.event' && event?.type === 'turn.resumed'));
  // The second turn was not there when the viewer of the app came.
  await eventually(() => newest.frames.filter(({ type }) => type === '@xstate.actor').length === 4);
  for (const text of [...named.texts, ...newest.texts]) assert.ok(!text.includes('canary'), text);
});

// The last one: none from this address is compared any more.
test('INSPECT-2, SAFE-5, HTTP-11: wrong tokens of viewers are counted, and an upgrade whose length or host is ambiguous is refused', async () => {
  const { baseUrl } = it.service;
  const query = (token: string) => `app=${it.app.appId}&token=${token}`;
  const { port } = new URL(baseUrl);
  for (const lines of ['Host: x\r\nHost: y', 'Host: x\r\nContent-Length: 0\r\nContent-Length: 0']) {
    const head = `GET /inspect?${query(TOKEN)} HTTP/1.1\r\n${lines}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`;
    assert.match(await saidTo(Number(port), head), /^HTTP\/1\.1 400 /, lines);
  }
  const guesses = await Promise.all(Array.from({ length: 80 }, () => answered(baseUrl, query('x'.repeat(24)))));
  const refused = guesses.filter(([status]) => status === 429).length;
  assert.ok(refused >= 10, `${refused} of 80`);
  const right = await Promise.all([answered(baseUrl, query('y')), answered(baseUrl, query('z')), answered(baseUrl, query(TOKEN))]);
  assert.equal(right[2]?.[0], 429, 'the answer must not tell the right one from a wrong one');
});
