/** What the running program keeps of the steps of its machines, and what operators read of it. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { MACHINES } from '../../../machines/index.ts';
import { replay } from '../../../machines/replay.ts';
import { readTraceFile } from '../../../machines/trace-file.ts';
import { columns } from '../../../storage/sqlite/columns.ts';
import { openReader } from '../../../storage/sqlite/database.ts';
import { stepsText } from '../../../storage/traces/packed-steps.ts';
import { createClient, DEVICE } from '../../support/client.ts';
import { FILE } from '../../support/whole-file.ts';
import { startConsoleApp } from './console-app.ts';

interface ReadTrace {
  readonly request_id: string | null;
  readonly nodes: readonly string[];
  readonly trace: {
    readonly machine: string;
    readonly instance: string;
    readonly steps: readonly {
      readonly at_ms: number;
      readonly event: { readonly type: string };
      readonly committed?: { readonly commit: number; readonly at_ms: number; readonly frames: readonly FrameRun[] };
    }[];
  };
}

interface FrameRun {
  readonly type: string;
  readonly seq: number;
  readonly count: number;
}

const CANARY = 'ann.canary@example.com';

const it = await startConsoleApp(FILE);
const { client } = it;

async function traces(query: string): Promise<readonly ReadTrace[]> {
  const { status, json, text } = await it.console('GET', `/traces?${query}`);
  assert.equal(status, 200, text);
  return (json as unknown as { traces: readonly ReadTrace[] }).traces;
}

/** The trace, once it is proven that a fresh machine makes the same steps. */
function proven({ trace }: ReadTrace): ReadTrace['trace'] {
  const file = readTraceFile(JSON.stringify(trace));
  const machine = MACHINES.find(({ name }) => name === file.machine)?.machine;
  assert.ok(machine);
  assert.ok(file.definition, 'the definition comes with it');
  const { input, steps } = file;
  assert.deepEqual(replay(machine, input === undefined ? { steps } : { input, steps }), { same: steps.length, difference: null });
  return trace;
}

test('TRACE-1, TRACE-2, TRACE-9: a turn is read by its id and by the request id of its log lines, from its first step to its last', async () => {
  const turnId = randomUUID();
  const answer = await client.say(`Write to ${CANARY}`, { turn_id: turnId });
  assert.equal(answer.status, 200);
  const [turn] = await traces(`turn_id=${turnId}`);
  assert.ok(turn);
  const { machine, steps } = proven(turn);
  assert.deepEqual([machine, steps[0]?.event.type, steps.at(-1)?.event.type], ['chat-turn', 'turn.open', 'round.finished']);
  assert.ok(turn.nodes.every((node) => node !== ''));
  assert.equal(turn.request_id, answer.headers['x-request-id']);
  assert.deepEqual(await traces(`request_id=${turn.request_id}`), [turn]);
  const { words } = (await it.console('GET', `/traces?turn_id=${turnId}`)).json as { words: string };
  assert.equal(words, 'Write to ⟦email_1⟧');
});

test('TRACE-17, CONSOLE-28: a turn tells where the time of its rounds went, what it cost, and its blocks as they were kept', async () => {
  const turnId = randomUUID();
  const before = Date.now();
  const answer = await client.say(`Write to ${CANARY}`, { turn_id: turnId });
  const tookMs = Date.now() - before;
  const [turn] = await traces(`turn_id=${turnId}`);
  assert.ok(turn);
  const last = proven(turn).steps.at(-1);
  assert.ok(last);
  const { cost = {} } = last.event as { cost?: Record<string, number> };
  const { admittedMs = Number.NaN, preparedMs = Number.NaN, firstMs = Number.NaN } = cost;
  for (const ms of [admittedMs, preparedMs, firstMs]) assert.ok(Number.isInteger(ms) && ms >= 0 && ms <= tookMs, JSON.stringify(cost));
  // Each is of a clock of whole milliseconds.
  assert.ok(admittedMs + preparedMs + firstMs <= tookMs + 3, JSON.stringify([cost, tookMs]));
  const { status, json, text } = await it.console('GET', `/turns/${turnId}`);
  assert.equal(status, 200, text);
  const { turn: told } = json as {
    turn: { turn_id: string; conversation_id: string; state: string; said: string | null; blocks: { body: { md?: string } }[] };
  };
  assert.deepEqual(
    [told.turn_id, told.conversation_id, told.state],
    [turnId, answer.headers['x-conversation-id'] ?? told.conversation_id, 'completed'],
  );
  assert.ok(told.blocks.length > 0);
  assert.match(told.said ?? '', /^Write to ⟦email_\d+⟧$/);
  assert.doesNotMatch(text, new RegExp(CANARY.replace('.', '\\.')));
  assert.equal((await it.console('GET', `/turns/${randomUUID()}`)).status, 404);
});

test('TRACE-15: each step tells its commit, and all of them together every frame that left, in their order', async () => {
  const turnId = randomUUID();
  const answer = await client.say('Hello', { turn_id: turnId });
  const [turn] = await traces(`turn_id=${turnId}`);
  assert.ok(turn);
  const { steps } = proven(turn);
  const commits = steps.map(({ committed }) => committed?.commit ?? 0);
  assert.deepEqual([commits[0], [...commits].sort((a, b) => a - b)], [1, commits]);
  assert.ok((commits.at(-1) ?? 0) > 1);
  // A commit is never before the step that it keeps.
  for (const step of steps.slice(1)) assert.ok((step.committed?.at_ms ?? 0) >= step.at_ms);
  const frames = steps.flatMap(({ committed }) => committed?.frames ?? []);
  const told = frames.flatMap(({ type, seq, count }) => Array.from({ length: count }, (_, n) => [type, seq + n]));
  const sent = answer.events.filter(({ type }) => type !== 'ping').map(({ type, seq }) => [type, seq]);
  assert.deepEqual(told, sent);
  assert.deepEqual(steps[0]?.committed?.frames, [{ type: 'turn.start', seq: 0, count: 1 }]);
});

test('TRACE-14: the newest instances are listed, the newest first, each by the id that finds its trace', async () => {
  const ids = [randomUUID(), randomUUID()];
  for (const turnId of ids) await client.say('Hello', { turn_id: turnId });
  const { status, json } = await it.console('GET', '/traces/newest');
  assert.equal(status, 200);
  const { newest } = json as { newest: readonly { machine: string; instance: string; state: string | null }[] };
  assert.deepEqual(
    newest.slice(0, 2).map(({ machine, instance, state }) => [machine, instance, state]),
    [...ids].reverse().map((id) => ['chat-turn', id, 'completed']),
  );
  for (const { instance } of newest.slice(0, 2)) assert.equal((await traces(`turn_id=${instance}`)).length, 1);
});

test('TRACE-12: a stream tells each step once, from the first on', async () => {
  const turnId = randomUUID();
  await client.say('Hello', { turn_id: turnId });
  const [turn] = await traces(`turn_id=${turnId}`);
  const stop = new AbortController();
  const headers = { Authorization: `Bearer ${it.service.operatorToken}` };
  const path = `${it.service.baseUrl}/console/api/apps/${it.app.appId}/traces/stream?turn_id=${turnId}`;
  const { body, status } = await fetch(path, { headers, signal: stop.signal });
  assert.equal(status, 200);
  const told: string[] = [];
  let text = '';
  for await (const piece of body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(piece).toString('utf8');
    told.splice(0, told.length, ...[...text.matchAll(/"event":\{"type":"([^"]+)"/g)].map(([, type]) => type ?? ''));
    if (told.length >= (turn?.trace.steps.length ?? 0)) break;
  }
  stop.abort();
  assert.deepEqual(
    told,
    turn?.trace.steps.map(({ event }) => event.type),
  );
});

test('TRACE-1, TRACE-3: an app and a pairing are traced from their first step, without the code and the device', async () => {
  const [app] = await traces(`machine=app-lifecycle&instance=${it.app.appId}`);
  assert.ok(app);
  assert.deepEqual(
    proven(app).steps.map(({ event }) => event.type),
    ['golive.requested'],
  );
  const { json } = await it.console('POST', '/pairings');
  const { pairing_id, code } = json as { pairing_id: string; code: string };
  const claimed = await client.send('POST', '/v1/pairings/claim', { code });
  assert.equal(claimed.status, 200, claimed.text);
  const [pairing] = await traces(`machine=pairing&instance=${pairing_id}`);
  assert.ok(pairing);
  const kept = JSON.stringify(proven(pairing).steps);
  assert.ok(kept.includes('pairing.claim') && !kept.includes(code) && !kept.includes(DEVICE), kept);
});

test('TRACE-1: codes that make room for others are traced as replaced', async () => {
  const opened: string[] = [];
  for (let n = 0; n <= 10; n++) opened.push(((await it.console('POST', '/pairings')).json as { pairing_id: string }).pairing_id);
  const [pairing] = await traces(`machine=pairing&instance=${opened[0]}`);
  assert.ok(pairing);
  assert.equal(proven(pairing).steps.at(-1)?.event.type, 'pairing.replaced');
});

/** Every file of the data directory, by its path. */
function filesOfData(): string[] {
  const names = readdirSync(it.service.dataDir, { recursive: true, encoding: 'utf8' });
  return names.map((name) => join(it.service.dataDir, name)).filter((path) => statSync(path).isFile());
}

const keptSteps = columns({ steps: stepsText });

/** What all files keep of steps, unpacked: packed ones would hide what is looked for. */
function allSteps(): string {
  const kept = filesOfData().flatMap((path) => {
    // A lock is held by whoever has it, and has no rows.
    if (!path.endsWith('.sqlite') || path.endsWith('lock.sqlite')) return [];
    const db = openReader(path);
    try {
      return ['turn_traces', 'traces', 'move_traces'].flatMap((table) => {
        const isThere = db.statement('SELECT 1 AS n FROM sqlite_schema WHERE name = :table').get({ table }) !== undefined;
        return isThere ? keptSteps.all(db, `FROM ${table}`, {}).map(({ steps }) => steps) : [];
      });
    } finally {
      db.close();
    }
  });
  assert.ok(kept.length > 0);
  return kept.join('\n');
}

test('TRACE-3: nothing that a person wrote and no secret is in a trace, in whichever file', async () => {
  const turnId = randomUUID();
  await client.say(`My address is ${CANARY}`, { turn_id: turnId });
  const { code } = (await it.console('POST', '/pairings')).json as { code: string };
  assert.equal((await client.send('POST', '/v1/pairings/claim', { code })).status, 200);
  assert.ok(!JSON.stringify(await traces(`turn_id=${turnId}`)).includes('canary'));
  const steps = allSteps();
  assert.ok(steps.includes('pairing.claim') && steps.includes('block.completed'));
  for (const word of ['canary', code, DEVICE, it.app.testKey, it.app.liveKey, it.service.operatorToken])
    assert.ok(!steps.includes(word), `${word} is in a trace`);
  for (const path of filesOfData()) assert.ok(!readFileSync(path).includes(CANARY), path);
});

test('TRACE-4: who is erased takes the traces of what they asked along', async () => {
  const person = createClient(it.service.baseUrl, it.app.testKey, 'e'.repeat(32));
  const identified = await person.send('POST', '/v1/identify', { external_user_id: 'ann-to-erase' });
  const { end_user_id: id } = identified.json as { end_user_id: string };
  const [theirs, others] = [randomUUID(), randomUUID()];
  await person.say('Forget this', { turn_id: theirs });
  await client.say('Keep this', { turn_id: others });
  assert.equal((await traces(`turn_id=${theirs}`)).length, 1);
  assert.equal((await it.console('DELETE', `/end-users/${id}`)).status, 200);
  assert.equal((await it.console('GET', `/traces?turn_id=${theirs}`)).status, 404);
  assert.equal((await traces(`turn_id=${others}`)).length, 1);
});

test('TRACE-9: what is not kept is not found, and a query that names nothing is refused', async () => {
  for (const [query, status, code] of [
    [`turn_id=${randomUUID()}`, 404, 'not_found'],
    ['request_id=nothing', 404, 'not_found'],
    ['machine=setup-session&instance=ses_none', 404, 'not_found'],
    ['', 400, 'invalid_request'],
    ['machine=chat-turn&instance=1', 400, 'invalid_request'],
  ] as const) {
    const answer = await it.console('GET', `/traces?${query}`);
    assert.equal(answer.status, status, query);
    assert.ok(answer.text.includes(code), answer.text);
  }
});

test('TRACE-10: coverage counts each event in the state that it came in', async () => {
  await client.say('Hello');
  const { status, json } = await it.console('GET', '/traces/coverage?hours=1');
  assert.equal(status, 200);
  const { cells, complete } = json as unknown as {
    cells: readonly { machine: string; state: string; event: string; count: number }[];
    complete: boolean;
  };
  assert.equal(complete, true);
  const finished = cells.find(
    ({ machine, state, event }) => machine === 'chat-turn' && state === 'answering' && event === 'round.finished',
  );
  assert.ok((finished?.count ?? 0) > 0);
  assert.equal((await it.console('GET', '/traces/coverage?hours=0')).status, 400);
});
