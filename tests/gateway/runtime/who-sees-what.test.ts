/**
 * Who sees what: two devices, two people (not signed in, by name
 * alone, with a signature), two apps, two kinds of key. Every conversation that they hold meets every caller that they make,
 * and each cell is worked out here, from what people did, by a model that knows nothing of the service's own rule.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { mintId } from '../../../protocol/ids.ts';
import { type Client, createTestApp, HANDSHAKE } from '../../support/client.ts';
import { startService } from '../../support/service.ts';
import { startUpstream, upstreamEnv } from '../../support/upstream.ts';
import { FILE } from '../../support/whole-file.ts';
import { CHANNELS, DEVICES, type Held, nameOf, PEOPLE, type Person, type Place, type User, World } from './people-world.ts';
import { conversationOf, type SignedApp, signedApp } from './signed-app.ts';

const PLACES: readonly Place[] = [0, 1].flatMap((app) =>
  CHANNELS.flatMap((channel) => DEVICES.map((device) => ({ app, channel, device }))),
);
const UNSIGNED: readonly User[] = [null, ...PEOPLE.map((name) => ({ name, signed: false }))];
const SIGNED: readonly User[] = PEOPLE.map((name) => ({ name, signed: true }));

const MANIFEST = {
  version: '1',
  actions: [{ name: 'ring_bell', description: 'Rings.', risk: 'write', confirm_template: 'Ring?', params: {} }],
};

let manifestHash: string;
const world = new World();

/** The device of a place, whose requests `signer` signs in their header. */
const clientOf = ({ app: index, channel, device }: Place, signer: Person | null = null): Client => {
  const it = apps[index] as SignedApp;
  const client = it.device(device, channel === 'live' ? it.app.liveKey : it.app.testKey);
  if (signer === null) return client;
  const send: Client['send'] = (method, path, body) =>
    client.send(method, path, body, { 'X-Service-User': `${signer}:${it.sign(signer)}` });
  return { ...client, send };
};

function userField({ app }: Place, user: User): Record<string, unknown> {
  if (user === 'omitted') return {};
  if (user === null) return { user: null };
  const { name, signed } = user;
  return { user: signed ? { id: name, hmac: (apps[app] as SignedApp).sign(name) } : { id: name } };
}

const turnFields = (place: Place, user: User) => ({
  client: { ...HANDSHAKE, manifest_hash: manifestHash },
  ...userField(place, user),
});

async function hold(place: Place, user: User): Promise<void> {
  const turnId = randomUUID();
  const answer = await clientOf(place).say('Ring the bell', { ...turnFields(place, user), turn_id: turnId });
  const end = answer.events.at(-1) as unknown as { status: string; pending: { invocation_id: string }[] };
  assert.equal(end.status, 'awaiting_confirmation', answer.text);
  const owner = world.acting(place, user);
  world.noteTurn(place, user);
  world.held.push({
    place,
    owner,
    id: conversationOf(answer),
    turnId,
    messageId: String(answer.events[0]?.message_id),
    invocationId: String(end.pending[0]?.invocation_id),
    step: world.step,
  });
}

async function identify(place: Place, name: Person, proven: boolean): Promise<void> {
  const body = { external_user_id: name, ...(proven ? { user_hmac: (apps[place.app] as SignedApp).sign(name) } : {}) };
  const answer = await clientOf(place).send('POST', '/v1/identify', body);
  assert.equal(answer.status, 200, answer.text);
  world.noteIdentify(place, name, proven);
}

/** A way to a conversation: what the model expects of a cell, and what the service does in it. */
interface Column {
  readonly name: string;
  expected(place: Place, held: Held): boolean;
  actual(place: Place, held: Held): Promise<boolean>;
}

/** 200 is yes; no is 404 with one body for everything that is not there. */
async function found(client: Client, method: string, path: string, body?: unknown): Promise<boolean> {
  const answer = await client.send(method, path, body);
  if (answer.status === 200) return true;
  assert.equal(answer.status, 404, answer.text);
  refusals.add(`${method} ${path.replace(/[0-9a-f-]{36}|inv_\w+/, ':id')} ${answer.text}`);
  return false;
}
const refusals = new Set<string>();

const reads = (signer: Person | null): readonly Column[] => [
  {
    name: `GET messages signed by ${signer}`,
    expected: (place, held) => world.sees(place, held, signer),
    async actual(place, { id, messageId, invocationId }) {
      const { text, json } = await clientOf(place, signer).send('GET', `/v1/conversations/${id}/messages`);
      if (text === `{"conversation_id":"${id}","messages":[],"has_more":false,"open":{"pending":[]}}`) return false;
      const { messages, open } = json as { messages: { id: string }[]; open: { pending: { invocation_id: string }[] } };
      assert.equal(messages.at(-1)?.id, messageId);
      assert.deepEqual(
        open.pending.map((call) => call.invocation_id),
        [invocationId],
      );
      return true;
    },
  },
  {
    name: `GET /v1/chat/:turn_id signed by ${signer}`,
    expected: (place, held) => world.attaches(place, held, signer),
    actual: (place, { turnId }) => found(clientOf(place, signer), 'GET', `/v1/chat/${turnId}`),
  },
  {
    name: `POST stop signed by ${signer}`,
    expected: (place, held) => world.attaches(place, held, signer),
    actual: (place, { turnId }) => found(clientOf(place, signer), 'POST', `/v1/chat/${turnId}/stop`),
  },
];

/** Declining settles the call, so these come last. A repeated decline is answered like the first one. */
const answers = (signer: Person | null): readonly Column[] => {
  const expected: Column['expected'] = (place, held) => world.answers(place, held, signer);
  return [
    {
      name: `POST feedback signed by ${signer}`,
      expected,
      actual: (place, { messageId }) => found(clientOf(place, signer), 'POST', '/v1/feedback', { message_id: messageId, rating: 1 }),
    },
    {
      name: `POST confirm signed by ${signer} in its body`,
      expected,
      actual(place, { invocationId }) {
        const body = { decision: 'decline', ...(signer === null ? {} : userField(place, { name: signer, signed: true })) };
        return found(clientOf(place), 'POST', `/v1/invocations/${invocationId}/confirm`, body);
      },
    },
  ];
};
const READS = reads(null);

/** Answering a call of the conversation is told apart by the reason of its refusal: nothing is opened, and no model is asked. */
function continuing(user: User): Column {
  return {
    name: `POST /v1/chat as ${JSON.stringify(user)}`,
    expected: (place, held) => world.continues(place, user, held),
    async actual(place, { id }) {
      const tool_results = [{ invocation_id: 'inv_none', status: 'ok' }];
      const { text } = await clientOf(place).chat({ ...turnFields(place, user), conversation_id: id, tool_results });
      if (text.includes('conversation_id names no conversation of this caller')) return false;
      assert.match(text, /tool_results\[0\]\.invocation_id names no call/);
      return true;
    },
  };
}

/** Cells asked at a time. */
const PARALLEL = 16;

/** Every caller meets every conversation by every column; returns how many cells said yes. */
async function check(columns: readonly Column[]): Promise<number> {
  const cells = PLACES.flatMap((place) => world.held.flatMap((held) => columns.map((column) => ({ place, held, column }))));
  const wrong: string[] = [];
  let yes = 0;
  const next = cells.values();
  const work = async () => {
    for (const { place, held, column } of next) {
      const expected = column.expected(place, held);
      if (expected) yes += 1;
      if ((await column.actual(place, held)) === expected) continue;
      wrong.push(`${column.name} from ${nameOf(place)} of ${held.owner}'s from ${nameOf(held.place)}: expected ${expected}`);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  assert.deepEqual(wrong, []);
  assert.ok(yes > 0 && yes < cells.length, 'both answers were met');
  return yes;
}

const upstream = await startUpstream(FILE, () => [{ call: 'ring_bell', args: {} }]);
const env = { ...upstreamEnv(upstream), DEMO: 'off', LOG_LEVEL: 'silent' };
const service = await startService(FILE, { env });
const made = await Promise.all([0, 1].map(() => createTestApp(service.baseUrl, service.operatorToken)));
const apps = await Promise.all(made.map((app) => signedApp(service, app)));
for (const it of apps) manifestHash = await it.device('').register(MANIFEST);

test('PERSON-6, PERSON-9, KEY-5: who sees what where nobody was signed for', async () => {
  for (const place of PLACES) for (const user of UNSIGNED) await hold(place, user);
  await check([...READS, ...[...UNSIGNED, 'omitted' as const].map(continuing)]);
});

test('PERSON-2, HISTORY-8: who sees what where a device is bound to a person by name alone', async () => {
  for (const place of PLACES) if (place.device === DEVICES[0]) await identify(place, 'ann', false);
  await hold({ app: 0, channel: 'live', device: DEVICES[0] }, 'omitted');
  await hold({ app: 0, channel: 'live', device: DEVICES[0] }, null);
  await check([...READS, ...UNSIGNED.map(continuing), continuing('omitted')]);
});

test('PERSON-3, PERSON-10: who sees what where both people were signed for, so that a name alone is nobody', async () => {
  for (const place of PLACES) if (place.device === DEVICES[1]) for (const user of SIGNED) await hold(place, user);
  await check([...READS, ...[...UNSIGNED, ...SIGNED, 'omitted' as const].map(continuing)]);
});

test('PERSON-1, PERSON-9: who sees what where devices are bound with a signature, to a person and then to another', async () => {
  for (const place of PLACES) await identify(place, place.device === DEVICES[0] ? 'ann' : 'ben', true);
  await check([...READS, ...reads('ann'), ...SIGNED.map(continuing), continuing(null), continuing('omitted')]);
  const turned: Place = { app: 0, channel: 'live', device: DEVICES[0] };
  await identify(turned, 'ben', true);
  await check([...READS, ...reads('ben'), continuing('omitted')]);
  // A turn that names somebody else than the device stands for is answered where it was sent.
  for (const user of SIGNED) await hold(turned, user);
  await identify(turned, 'ben', true);
  // A thumb settles nothing, so the cards are still there to be read.
  await check([...READS, ...answers(null).slice(0, 1)]);
  await identify(turned, 'ann', false);
  assert.equal(world.bound(turned), null);
  await check([...READS, continuing('omitted')]);
});

test('PERSON-17: who reads a conversation or sent a turn may answer its cards and rate its answers, and nobody else', async () => {
  await check([...answers(null), ...answers('ann'), ...answers('ben')]);
});

test('KEY-7, CHAT-14: what is not there and what is somebody else’s are told in the same bytes', async () => {
  const client = clientOf(PLACES[0] as Place);
  await found(client, 'GET', `/v1/chat/${randomUUID()}`);
  await found(client, 'POST', `/v1/chat/${randomUUID()}/stop`);
  await found(client, 'POST', `/v1/invocations/${mintId('inv', 0)}/confirm`, { decision: 'decline' });
  await found(client, 'POST', '/v1/feedback', { message_id: mintId('msg', 0), rating: 1 });
  const kinds = new Set([...refusals].map((refusal) => refusal.split(' ', 2).join(' ')));
  assert.deepEqual([refusals.size, kinds.size], [4, 4], [...refusals].join('\n'));
  const missing = await client.send('GET', '/v1/conversations/cnv_missing/messages');
  assert.equal(missing.text, '{"conversation_id":"cnv_missing","messages":[],"has_more":false,"open":{"pending":[]}}');
});
