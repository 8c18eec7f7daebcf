/** What no other file shows of a stream as a client sees it. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, type TestContext, test } from 'node:test';
import { HANDSHAKE, parseEvents } from '../../support/client.ts';
import { gate, readies, type ScriptedChat, startScriptedChat } from './scripted-chat.ts';

let it: ScriptedChat;

before(async (t) => {
  it = await startScriptedChat(t as TestContext);
});

/** Reads the stream of a turn until this event has come. */
async function followUntil(turnId: string, type: string): Promise<string> {
  let answer: Response;
  do answer = await fetch(`${it.service.baseUrl}/v1/chat/${turnId}`, { headers: it.client.headers });
  while (answer.status === 404);
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of answer.body as ReadableStream<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes(`event: ${type}\n`) && text.endsWith('\n\n')) break;
  }
  return text;
}

test('STREAM-5: while the model is at work a ping comes within 15 seconds, with v and seq as every event', async () => {
  const held = gate();
  it.script([{ text: 'One moment. ' }, { wait: held.wait }, { text: 'Here it is.' }]);
  const turn_id = randomUUID();
  const startedMs = performance.now();
  const whole = it.say('Think hard', { turn_id });
  const seen = parseEvents(await followUntil(turn_id, 'ping'));
  const tookMs = performance.now() - startedMs;
  held.open();
  const ping = seen.find(({ type }) => type === 'ping');
  assert.deepEqual(Object.keys(ping ?? {}), ['type', 'v', 'seq']);
  assert.ok(tookMs < 17_000, `${tookMs} ms`);
  assert.equal((await whole).events.at(-1)?.status, 'completed');
});

for (const capabilities of [[], ['answer_pages']]) {
  test(`STREAM-15: follow-up questions are the last block of the page, for a build that declares ${capabilities[0] ?? 'nothing'}`, async () => {
    const replies = { replies: [{ id: 'more', label: 'Tell me more' }] };
    const points = { points: [{ text: 'Two days.' }] };
    it.script([{ text: 'Shipping.' }, { call: 'quick_replies', args: replies }, { call: 'key_points', args: points }]);
    const { events } = await it.say('How long?', { client: { ...HANDSHAKE, capabilities } });
    const page = [...readies(events)].sort((one, other) => one.index - other.index).map(({ block_type }) => block_type);
    assert.deepEqual(page, ['text', 'key_points', 'quick_replies']);
    const stored = await it.stored(String(events[0]?.conversation_id));
    assert.deepEqual(
      stored.at(-1)?.blocks.map(({ block_type }) => block_type),
      page,
    );
  });
}

test('STREAM-6: a capability that nobody knows changes nothing', async () => {
  it.script([{ text: 'Hello.' }], [{ text: 'Hello.' }]);
  const [plain, later] = [await it.say('Hi'), await it.say('Hi', { client: { ...HANDSHAKE, capabilities: ['holograms'] } })];
  const types = (events: readonly { type: string }[]) => events.map(({ type }) => type).filter((type) => type !== 'block.delta');
  assert.deepEqual(types(later.events), types(plain.events));
});

test('CHAT-20: a model that says nothing ends the turn as an error: no answer, try again', async () => {
  it.script([]);
  const { events } = await it.say('Say something');
  assert.deepEqual([events.map(({ type }) => type), events.at(-1)?.status], [['turn.start', 'error', 'turn.end'], 'error']);
  assert.deepEqual([events[1]?.code, events[1]?.retryable], ['internal', true]);
});
