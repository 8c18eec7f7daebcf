import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { FrameSource } from '../../../actors/frame-source.ts';
import { TurnLog } from '../../../actors/turns/log.ts';
import { createClient, createOperator, type StreamedEvent, spoken } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import {
  type AnsweredApp,
  assertRefused,
  type Conversed,
  converse,
  DEVICE,
  OPERATOR_TOKEN,
  START,
  serveAnsweredApp,
} from '../answered-app.ts';
import { startScriptedChat } from '../runtime/scripted-chat.ts';

const TWO_HOURS_MS = 2 * 3_600_000;

interface Pairing {
  readonly pairing_id: string;
  readonly code: string;
  readonly expires_at: string;
}

interface Frame {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: Record<string, unknown>;
}

/** A console page that reads a stream as it comes. */
interface Page {
  readonly frames: readonly Frame[];
  readonly ended: boolean;
  leave(): void;
}

async function openPairing(app: AnsweredApp): Promise<Pairing> {
  return (await app.console('POST', `/apps/${app.appId}/pairings`)).json as unknown as Pairing;
}

async function paired(app: AnsweredApp): Promise<Pairing> {
  const pairing = await openPairing(app);
  const claimed = await app.sdk('POST', '/v1/pairings/claim', { code: pairing.code });
  assert.equal(claimed.status, 200, claimed.text);
  return pairing;
}

function framesOf(text: string): Frame[] {
  return text.split('\n\n').flatMap((frame) => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(frame)?.[1];
    const data = field('data');
    return data === undefined ? [] : [{ id: field('id'), event: field('event'), data: JSON.parse(data) }];
  });
}

function look(t: TestContext, app: AnsweredApp, id: string, headers: Record<string, string> = {}): Promise<Page> {
  return lookAt(t, app.base, id, { Authorization: `Bearer ${OPERATOR_TOKEN}`, ...headers });
}

async function lookAt(t: TestContext, base: string, id: string, headers: Record<string, string>): Promise<Page> {
  const leaving = new AbortController();
  t.after(() => leaving.abort());
  const response = await fetch(`${base}/console/api/pairings/${id}/stream`, { headers, signal: leaving.signal });
  assert.equal(response.status, 200);
  assert.match(String(response.headers.get('content-type')), /^text\/event-stream/);
  const page = { frames: [] as Frame[], ended: false, leave: () => leaving.abort() };
  let text = '';
  const read = async () => {
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString();
      page.frames = framesOf(text.slice(0, text.lastIndexOf('\n\n') + 2));
    }
    page.ended = true;
  };
  read().catch(() => {});
  return page;
}

/** Tells those who watch DEVICE of the turn, as the actors do. */
function tell(app: AnsweredApp, { turnId, conversationId }: Conversed, source: FrameSource, fromSeq = 0): void {
  for (const watcher of [...app.watchers]) watcher.tell({ turnId, conversationId, position: { source, fromSeq } });
}

const states = (page: Page) => page.frames.filter((frame) => frame.event === 'pairing').map((frame) => frame.data.state);
const events = (page: Page) =>
  page.frames.filter((frame) => frame.event === 'turn').map((frame) => frame.data.event as { type: string; seq: number });

test('PAIRING-1: POST /apps/:app/pairings: 201 { pairing_id, code, expires_at }: eight characters, fifteen minutes', async (t) => {
  const app = await serveAnsweredApp(t);
  const answer = await app.console('POST', `/apps/${app.appId}/pairings`);
  assert.equal(answer.status, 201);
  const { pairing_id, code, expires_at } = answer.json as unknown as Pairing;
  assert.match(pairing_id, /^pai_[0-9a-z]{24}$/);
  assert.match(code, /^[2-9A-HJKMNP-TV-Z]{8}$/);
  assert.equal(expires_at, new Date(START + 15 * 60_000).toISOString());
  assertRefused(await app.console('POST', '/apps/app_missing/pairings'), 404, 'not_found', /no app app_missing/);
});

test('PAIRING-7: a pairing is open, claimed, over or expired as the clock has it; of the device its last four characters are shown', async (t) => {
  const app = await serveAnsweredApp(t);
  const { pairing_id, code } = await openPairing(app);
  const shown = async (id = pairing_id) => (await app.console('GET', `/pairings/${id}`)).json.pairing as Record<string, unknown>;
  assert.deepEqual(await shown(), {
    id: pairing_id,
    app_id: app.appId,
    state: 'open',
    device: null,
    created_at: new Date(START).toISOString(),
    code_expires_at: new Date(START + 15 * 60_000).toISOString(),
    claimed_at: null,
    watched_until: null,
  });
  app.clock.nowMs += 1_000;
  await app.sdk('POST', '/v1/pairings/claim', { code }, { 'X-Service-Device': `${'0'.repeat(28)}beef` });
  const claimed = await shown();
  assert.deepEqual([claimed.state, claimed.device], ['claimed', 'beef']);
  assert.equal(claimed.watched_until, new Date(START + 1_000 + TWO_HOURS_MS).toISOString());
  const { pairing_id: late } = await openPairing(app);
  app.clock.nowMs = START + 1_000 + TWO_HOURS_MS;
  assert.deepEqual([(await shown()).state, (await shown(late)).state], ['over', 'expired']);
  assertRefused(await app.console('GET', '/pairings/pai_missing'), 404, 'not_found', /no pairing pai_missing/);
  assertRefused(await app.console('GET', '/pairings/pai_missing/stream'), 404, 'not_found', /no pairing pai_missing/);
});

test('PAIRING-8: the stream sends the claim, then each turn of the paired device as it happens, in placeholder form', async (t) => {
  const app = await serveAnsweredApp(t);
  const { pairing_id, code } = await openPairing(app);
  const page = await look(t, app, pairing_id);
  await eventually(() => states(page).length === 1);
  assert.deepEqual([states(page), app.watchers.length], [['open'], 0]);
  await app.sdk('POST', '/v1/pairings/claim', { code });
  await eventually(() => states(page).length === 2);
  assert.deepEqual(
    [states(page), app.watchers.map(({ deviceId, appId }) => [deviceId, appId])],
    [['open', 'claimed'], [[DEVICE, app.appId]]],
  );
  const turn = converse(app, { question: 'I am ⟦email_1⟧. How long?' });
  const log = new TurnLog(0, null);
  log.say({ type: 'turn.start', conversation_id: turn.conversationId, message_id: turn.messageId, model: 'm', request_id: 'r' });
  tell(app, turn, log);
  log.sayText(0, 'blk_x', 'Two ⟦email_1⟧ "days".\n');
  await eventually(() => events(page).length === 2);
  log.say({ type: 'ping' });
  log.say({ type: 'turn.end', status: 'completed' });
  log.end();
  await eventually(() => events(page).length === 3);
  const [opened, ...others] = page.frames.filter((frame) => frame.event === 'turn.opened');
  assert.deepEqual(others, []);
  assert.equal(opened?.data.turn_id, turn.turnId);
  const message = opened?.data.message as { id: string; blocks: { body: unknown }[] };
  assert.deepEqual([message.id, message.blocks[0]?.body], [turn.userMessageId, { md: 'I am ⟦email_1⟧. How long?' }]);
  assert.deepEqual(
    events(page).map(({ type, seq }) => [type, seq]),
    [
      ['turn.start', 0],
      ['block.delta', 1],
      ['turn.end', 3],
    ],
  );
  assert.equal((events(page)[1] as unknown as { text_delta: string }).text_delta, 'Two ⟦email_1⟧ "days".\n');
  assert.deepEqual(
    page.frames.flatMap((frame) => (frame.id === undefined ? [] : [Number(frame.id)])),
    [1, 2, 3, 4],
  );
  assert.equal(page.frames.find((frame) => frame.event === 'turn')?.data.conversation_id, turn.conversationId);
});

test('PAIRING-9: a turn that is attached to again is not told twice; its next attempt is told', async (t) => {
  const app = await serveAnsweredApp(t);
  const { pairing_id } = await paired(app);
  const page = await look(t, app, pairing_id);
  await eventually(() => app.watchers.length === 1);
  const turn = converse(app);
  const first = new TurnLog(0, null);
  first.say({ type: 'turn.end', status: 'error' });
  first.end();
  tell(app, turn, first);
  tell(app, turn, first);
  const replay = new TurnLog(0, null);
  replay.say({ type: 'turn.end', status: 'error' });
  replay.end();
  tell(app, turn, replay);
  const again = new TurnLog(7, first);
  again.say({ type: 'turn.end', status: 'completed' });
  again.end();
  tell(app, turn, again, 7);
  await eventually(() => events(page).length === 2);
  assert.deepEqual(
    events(page).map(({ seq }) => seq),
    [0, 7],
  );
  assert.equal(page.frames.filter((frame) => frame.event === 'turn.opened').length, 1);
});

test('PAIRING-10: a page that comes back goes on after its Last-Event-ID; one from elsewhere begins anew', async (t) => {
  const app = await serveAnsweredApp(t);
  const { pairing_id } = await paired(app);
  const first = await look(t, app, pairing_id);
  await eventually(() => app.watchers.length === 1);
  const turn = converse(app);
  const log = new TurnLog(0, null);
  log.say({ type: 'turn.end', status: 'completed' });
  log.end();
  tell(app, turn, log);
  await eventually(() => first.frames.some((frame) => frame.id === '2'));
  first.leave();
  const second = await look(t, app, pairing_id, { 'Last-Event-ID': '1' });
  const third = await look(t, app, pairing_id, { 'Last-Event-ID': '900' });
  await eventually(() => second.frames.length === 2 && third.frames.length === 3);
  assert.deepEqual(
    [second.frames.map((frame) => frame.id), third.frames.map((frame) => frame.id)],
    [
      [undefined, '2'],
      [undefined, '1', '2'],
    ],
  );
});

test('PAIRING-11: the stream ends when the pairing does, and nobody is watched any more', async (t) => {
  const app = await serveAnsweredApp(t);
  const watched = await paired(app);
  app.clock.nowMs = START + TWO_HOURS_MS - 50;
  const page = await look(t, app, watched.pairing_id);
  const waiting = await look(t, app, (await openPairing(app)).pairing_id);
  await eventually(() => states(page)[0] === 'claimed' && app.watchers.length === 1);
  app.clock.nowMs = START + TWO_HOURS_MS + 3_600_000;
  await eventually(() => page.ended);
  assert.deepEqual([states(page), app.watchers.length], [['claimed', 'over'], 0]);
  waiting.leave();
  const late = await look(t, app, watched.pairing_id);
  await eventually(() => late.ended);
  assert.deepEqual(states(late), ['over']);
});

test('PAIRING-12: what is kept is bounded, and a source that fails takes nobody with it', async (t) => {
  const app = await serveAnsweredApp(t);
  const { pairing_id } = await paired(app);
  const page = await look(t, app, pairing_id);
  await eventually(() => app.watchers.length === 1);
  const long = new TurnLog(0, null);
  for (let n = 0; n < 100; n++) long.say({ type: 'error', code: 'internal', message: 'x'.repeat(10_000), retryable: false });
  long.end();
  tell(app, converse(app), long);
  await eventually(() => events(page).length === 100);
  const broken: FrameSource = {
    read: () => {
      throw new Error('the disk is gone');
    },
    subscribe: () => () => {},
  };
  tell(app, converse(app), broken);
  const next = new TurnLog(0, null);
  next.say({ type: 'turn.end', status: 'completed' });
  tell(app, converse(app), next);
  await eventually(() => events(page).length === 101);
  const late = await look(t, app, pairing_id);
  await eventually(() => events(late).at(-1)?.type === 'turn.end');
  assert.ok(events(late).length < 30, 'the oldest frames are gone');
});

test('PAIRING-13: eight pages look at one pairing; one more is 429', async (t) => {
  const app = await serveAnsweredApp(t);
  const { pairing_id } = await openPairing(app);
  const pages = await Promise.all([...Array(8)].map(() => look(t, app, pairing_id)));
  await eventually(() => pages.every((page) => page.frames.length === 1));
  assertRefused(await app.console('GET', `/pairings/${pairing_id}/stream`), 429, 'rate_limited', /Too many pages/);
  pages[0]?.leave();
  await eventually(() => app.openStreams() === 7);
  const another = await look(t, app, pairing_id);
  await eventually(() => another.frames.length === 1);
});

test('PAIRING-8: the console page watches that build’s conversation, and never sees personal data', async (t) => {
  const chat = await startScriptedChat(t);
  const { service, app } = chat;
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const { pairing_id, code } = (await operator('POST', `/apps/${app.appId}/pairings`)).json as Pairing;
  const page = await lookAt(t, service.baseUrl, pairing_id, { Authorization: `Bearer ${service.operatorToken}` });
  const build = createClient(service.baseUrl, app.testKey);
  assert.equal((await build.send('POST', '/v1/pairings/claim', { code })).status, 200);
  await eventually(() => states(page).length === 2);
  chat.script([{ text: 'Written to ⟦email_1⟧.' }], [{ text: 'Not watched.' }], [{ text: 'Not watched.' }]);
  const answer = await build.say('Write to ada@example.com');
  assert.equal(spoken(answer.events), 'Written to ada@example.com.');
  await createClient(service.baseUrl, app.testKey, 'e'.repeat(32)).say('From another device');
  await createClient(service.baseUrl, app.liveKey).say('On the live side');
  await eventually(() => events(page).at(-1)?.type === 'turn.end');
  const [opened, ...others] = page.frames.filter((frame) => frame.event === 'turn.opened');
  assert.deepEqual(others, []);
  assert.match(JSON.stringify(opened?.data.message), /"md":"Write to ⟦email_1⟧"/);
  assert.deepEqual(
    events(page).map(({ type, seq }) => [type, seq]),
    answer.events.map(({ type, seq }) => [type, seq]),
  );
  assert.equal(spoken(events(page) as unknown as StreamedEvent[]), 'Written to ⟦email_1⟧.');
  assert.doesNotMatch(JSON.stringify(page.frames), /ada@example/);
});
