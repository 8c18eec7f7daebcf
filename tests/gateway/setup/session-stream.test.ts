/** A setup session live, as the console page watches it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { request } from 'undici';
import { AGENT, agentOf } from '../../support/setup-agent.ts';
import { stepsIn } from '../../support/setup-work.ts';
import { assertRefused, type Line, type SessionView, startSetup, THEME } from './setup-app.ts';

const setup = await startSetup();
const { baseUrl, operatorToken } = setup.service;

type Frame =
  | { readonly type: 'event'; readonly id: string; readonly data: Line }
  | { readonly type: 'session'; readonly id: undefined; readonly data: SessionView['session'] };

function parseFrame(text: string): Frame | undefined {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(text)?.[1];
  const data = field('data');
  return data === undefined ? undefined : ({ type: field('event'), id: field('id'), data: JSON.parse(data) } as Frame);
}

/** The stream's frames as they come, until it ends or is let go. */
async function* watch(sessionId: string, headers: Record<string, string> = {}): AsyncGenerator<Frame, void, undefined> {
  const answer = await request(`${baseUrl}/console/api/sessions/${sessionId}/stream`, {
    headers: { Authorization: `Bearer ${operatorToken}`, ...headers },
  });
  assert.equal(answer.statusCode, 200);
  assert.match(String(answer.headers['content-type']), /^text\/event-stream/);
  let rest = '';
  for await (const chunk of answer.body) {
    rest += String(chunk);
    const frames = rest.split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames.map(parseFrame)) if (frame !== undefined) yield frame;
  }
  assert.equal(rest, '', 'the stream ends with a whole frame');
}

/** Frames up to the first one that `isLast`. */
async function read(frames: AsyncGenerator<Frame, void, undefined>, isLast: (frame: Frame) => boolean): Promise<Frame[]> {
  const seen: Frame[] = [];
  for (let next = await frames.next(); !next.done; next = await frames.next()) {
    seen.push(next.value);
    if (isLast(next.value)) break;
  }
  return seen;
}

const isSession = (frame: Frame) => frame.type === 'session';

/** The session as the last of these frames has it. */
function sessionIn(frames: readonly Frame[]): SessionView['session'] {
  const last = frames.at(-1);
  if (last?.type !== 'session') throw new Error(`the last frame is no session: ${JSON.stringify(last)}`);
  return last.data;
}

const linesOf = (frames: readonly Frame[]) => frames.flatMap((frame) => (frame.type === 'event' ? [frame.data] : []));

test('SETUP-54: the lines so far, then the session; after each change its lines and the session; it ends with the session', async () => {
  const { agent, id, view } = await setup.started();
  const frames = watch(id);
  const opening = await read(frames, isSession);
  const first = await view();
  assert.deepEqual(linesOf(opening), first.events);
  assert.deepEqual(
    opening.map((frame) => frame.id),
    [...first.events.map((event) => String(event.id)), undefined],
  );
  assert.deepEqual(sessionIn(opening), first.session);

  await agent.get('PUT', '/appearance', { theme: THEME });
  const change = await read(frames, isSession);
  assert.deepEqual(
    change.map(({ type }) => type),
    ['event', 'session'],
  );
  assert.deepEqual(stepsIn(sessionIn(change), 'active'), ['appearance']);

  await agent.get('POST', '/complete', { summary: 'Done.' });
  const closing = await read(frames, () => false);
  const last = await view();
  assert.deepEqual(sessionIn(closing), last.session);
  assert.equal(last.session.status, 'completed');
  assert.deepEqual(linesOf([...opening, ...change, ...closing]), last.events);
});

test('SETUP-55: Last-Event-ID skips what was seen, of an open session and of a closed one', async () => {
  const { agent, id, view } = await setup.started();
  await agent.get('POST', '/events', Array(50).fill({ step: 'discover', status: 'progress' }));
  const { events } = await view();
  const resumed = watch(id, { 'Last-Event-ID': '40' });
  assert.deepEqual(linesOf(await read(resumed, isSession)), events.slice(40));
  const upToDate = watch(id, { 'Last-Event-ID': String(events.at(-1)?.id) });
  assert.deepEqual(linesOf(await read(upToDate, isSession)), []);
  await agent.get('POST', '/fail', { reason: 'Enough.' });
  for (const frames of [resumed, upToDate]) {
    const rest = await read(frames, () => false);
    assert.deepEqual([linesOf(rest).map(({ status }) => status), rest.at(-1)?.type], [['failed'], 'session']);
  }
  const late = await read(watch(id, { 'Last-Event-ID': '50' }), () => false);
  assert.deepEqual(linesOf(late), (await view()).events.slice(50));
});

test('SETUP-54: a session that waits for its agent is watched from the start, and Stop ends the stream', async () => {
  const { session, code } = await (await setup.app()).open();
  const frames = watch(session.id);
  assert.equal(sessionIn(await read(frames, isSession)).status, 'open');
  await (await agentOf(baseUrl, code)).get('POST', '/start', AGENT);
  const claimed = await read(frames, isSession);
  assert.deepEqual(stepsIn(sessionIn(claimed), 'done'), ['waiting', 'connected']);
  await setup.operator('POST', `/sessions/${session.id}/stop`);
  const rest = await read(frames, () => false);
  assert.equal(sessionIn(rest).status, 'cancelled');
});

test('SETUP-56: every watcher sees every line, while others come and go and the agent is at work', async () => {
  const { agent, id, view } = await setup.started();
  const watchers: Promise<Frame[]>[] = [];
  const work: Promise<unknown>[] = [];
  for (let n = 0; n < 20; n++) {
    work.push(agent.get('POST', '/events', { step: 'discover', status: 'progress', title: `line ${n}` }));
    watchers.push(read(watch(id), () => false));
    // This one leaves after its first frame.
    const leaving = watch(id);
    work.push(leaving.next().then(() => leaving.return()));
  }
  await Promise.all(work);
  await agent.get('POST', '/complete', { summary: 'Done.' });
  const { events } = await view();
  for (const frames of await Promise.all(watchers)) assert.deepEqual(linesOf(frames), events);
});

test('CONSOLE-7: GET /sessions/:id/stream and /sessions/:id: 404 for a session that is none', async () => {
  for (const path of ['/sessions/ses_none', '/sessions/ses_none/stream']) {
    assertRefused(await setup.operator('GET', path), 404, 'not_found', 'ses_none');
  }
});
