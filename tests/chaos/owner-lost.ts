/** The owner of a turn is killed, or paused and woken, in the middle of its answer; the client tries again on another node. */
import assert from 'node:assert/strict';
import { conversationOf, intendTurn, newDevice, openReader, type Reader, sendTurn } from '../support/chaos-load.ts';
import type { StreamedEvent } from '../support/client.ts';
import type { ClusterNode } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { type Attempt, completedEnd, type IntendedTurn } from '../support/history.ts';
import { readMetrics } from '../support/process.ts';
import { assertClean, assertWithin, begin, figures, type Ground, outcomes, quantile, type Run, spread } from './figures.ts';

/** About four seconds: what happens to the owner happens in the middle. */
const SLOW = { words: 80, delayMs: 50 };
const QUICK = { words: 2, delayMs: 0 };
/** From the moment that the client knows of it. */
const RETRY_STARTS_WITHIN_MS = 1_000;
/** A loss is noticed within 3 s, and then the turn has to be taken over. */
const TAKEN_OVER_WITHIN_MS = 3_500;
/** A woken owner reads what came meanwhile and finds that nothing of it is its own any more. */
const WOKEN_SETTLES_WITHIN_MS = 30_000;
/** Its reader waits for it however long it sleeps. */
const PATIENT_MS = 60_000;
/** On a machine that is busy with other things an owner may be through with its answer before anything happens to it. */
const MID_STREAM_TRIES = 5;

export interface MidStream {
  readonly turn: IntendedTurn;
  readonly owner: ClusterNode;
  readonly conversationId: string;
  /** At the owner. */
  readonly reader: Reader;
  /** At another node; undefined where there is none. */
  readonly onlooker: Reader | undefined;
}

function hears(wanted: (event: StreamedEvent) => boolean): { heard: Promise<void>; onEvent: (event: StreamedEvent) => void } {
  let tell = () => {};
  const heard = new Promise<void>((resolve) => {
    tell = resolve;
  });
  return { heard, onEvent: (event) => (wanted(event) ? tell() : undefined) };
}

const isDelta = ({ type }: StreamedEvent) => type === 'block.delta';

/** A turn in the middle of its answer. */
export async function answering(run: Run, n: number): Promise<MidStream> {
  for (let attempt = 1; ; attempt++) {
    const mid = await begun(run, n);
    const isMidStream = [mid.reader, mid.onlooker].every((reader) => reader === undefined || reader.attempt.closing === 'open');
    if (isMidStream) return mid;
    const what = JSON.stringify([mid.reader.attempt, mid.onlooker?.attempt]);
    assert.ok(attempt < MID_STREAM_TRIES, `a running turn can be read at ${mid.owner.name} and on any other node: ${what}`);
    await sendTurn(run, mid.turn, { from: 2 });
  }
}

/** A turn that was just begun: in a new conversation, or (every other `n`) in one that another node may have owned. */
async function begun(run: Run, n: number): Promise<MidStream> {
  const { cluster, model, dice, app } = run;
  const device = { deviceId: newDevice(), conversationId: null as string | null, ordinal: 1 };
  if (n % 2 === 1) {
    model.pace(QUICK);
    const before = await sendTurn(run, intendTurn(run, device));
    assert.ok(before !== undefined, `the conversation begins: ${outcomes(run.history)}`);
    device.conversationId = conversationOf(before);
    device.ordinal = 2;
  }
  model.pace(SLOW);
  const owner = dice.pick(cluster.up());
  const turn = intendTurn(run, device);
  const { heard, onEvent } = hears(isDelta);
  const reader = openReader({ ...run, silenceMs: PATIENT_MS }, { node: owner, turn, onEvent });
  await Promise.race([heard, reader.closed]);
  const conversationId = conversationOf(reader.attempt) ?? '';
  if (conversationId !== '') {
    const { name } = cluster.ownerOf(app.organisationId, conversationId) ?? {};
    assert.equal(name, owner.name, 'an idle conversation comes to the node that is asked');
  }
  const others = cluster.up().filter((node) => node !== owner);
  if (others.length === 0) return { turn, owner, conversationId, reader, onlooker: undefined };
  const onlooking = hears(isDelta);
  const onlooker = openReader(
    { ...run, silenceMs: PATIENT_MS },
    { node: dice.pick(others), turn, via: 'attach', onEvent: onlooking.onEvent },
  );
  await Promise.race([onlooking.heard, onlooker.closed]);
  return { turn, owner, conversationId, reader, onlooker };
}

/** When the turn was begun anew, after everything that `before` had heard. */
function beganAnewAtMs(run: Run, before: Attempt, answered: Attempt | undefined): number {
  assert.ok(answered !== undefined, `the retry is answered: ${outcomes(run.history)}`);
  const lastSeq = before.seen.at(-1)?.event.seq ?? 0;
  const starts = run.history.attempts
    .filter(({ turnId, via, number }) => turnId === before.turnId && via === 'send' && number > 1)
    .flatMap(({ seen }) => seen.filter(({ event }) => event.type === 'turn.start' && event.seq > lastSeq));
  const [first] = starts.map(({ atMs }) => atMs).sort((one, other) => one - other);
  assert.ok(first !== undefined, `a new attempt goes on after seq ${lastSeq}`);
  return first;
}

/** Someone who reads elsewhere is told within the time, by the stream's end or by the new answer. Returns after how long. */
async function onlookerToldAfterMs(mid: MidStream, sinceMs: number): Promise<number> {
  if (mid.onlooker === undefined) return 0;
  const { attempt, closed } = mid.onlooker;
  await closed;
  assert.notEqual(attempt.closing, 'silent', `a reader on ${attempt.node} is told that ${mid.owner.name} is gone`);
  // It may go on with the new attempt: what it hears first of that counts.
  const lastSeq = mid.reader.attempt.seen.at(-1)?.event.seq ?? 0;
  const next = attempt.seen.find(({ event, atMs }) => atMs > sinceMs && event.seq > lastSeq);
  return (next?.atMs ?? attempt.closedAtMs) - sinceMs;
}

/** A turn that a dead node had open is answered again on the retry, under the same message id. */
export async function ownerKilled(ground: Ground, rounds: number): Promise<void> {
  const run = await begin(ground);
  const startsAfterMs: number[] = [];
  const toldAfterMs: number[] = [];
  for (let n = 0; n < rounds; n++) {
    const mid = await answering(run, n);
    run.model.pace(QUICK);
    const killedAtMs = performance.now();
    await mid.owner.kill();
    const noticed = await mid.reader.closed;
    assert.equal(noticed.closing, 'broken');
    if (run.cluster.nodes.length === 1) await mid.owner.start();
    const answered = await sendTurn(run, mid.turn, { from: 2, avoid: mid.owner });
    startsAfterMs.push(beganAnewAtMs(run, noticed, answered) - noticed.closedAtMs);
    toldAfterMs.push(await onlookerToldAfterMs(mid, killedAtMs));
    if (mid.owner.state === 'down') await mid.owner.start();
  }
  await assertClean(run);
  const p95 = quantile(startsAfterMs, 0.95);
  figures(
    run,
    'c',
    `${rounds} kills of the owner, new turn.start after ${spread(startsAfterMs)}; readers elsewhere told after ${spread(toldAfterMs)}`,
  );
  if (run.cluster.nodes.length === 1) return;
  assertWithin(run, p95, RETRY_STARTS_WITHIN_MS, 'p95 from notice to turn.start, in ms');
  assertWithin(run, quantile(toldAfterMs, 1), TAKEN_OVER_WITHIN_MS, 'readers elsewhere told, in ms');
}

/** Everything that rows say of a conversation. */
function rowsOf({ cluster, app }: Run, conversationId: string): string {
  const db = cluster.rows(app.organisationId);
  const turns = 'SELECT id FROM turns WHERE conversation_id = @id';
  const queries = [
    'SELECT * FROM conversations WHERE id = @id',
    'SELECT * FROM turns WHERE conversation_id = @id ORDER BY id',
    `SELECT m.* FROM messages m WHERE m.no / 2 IN (${turns}) ORDER BY m.no`,
    `SELECT b.* FROM turns t JOIN blocks b ON b.place BETWEEN t.id * 2048 AND t.id * 2048 + 2047
     WHERE t.conversation_id = @id ORDER BY b.place`,
    'SELECT * FROM invocations WHERE conversation_id = @id ORDER BY id',
    `SELECT * FROM turn_journal WHERE turn IN (${turns}) ORDER BY turn, first_seq`,
    `SELECT * FROM charges WHERE turn IN (${turns}) ORDER BY turn`,
  ];
  return JSON.stringify(queries.map((sql) => db.prepare(sql).all({ id: conversationId })));
}

/** A node that lost the conversation while it slept changes no row and acknowledges nothing when it wakes; then it serves again. */
export async function wake(run: Run, { owner, reader, conversationId, turn }: MidStream): Promise<void> {
  const before = rowsOf(run, conversationId);
  // Stopped inside a commit it was killed, because nobody could write behind its lock.
  if (owner.state === 'down') return owner.start();
  owner.resume();
  const isTold = () => reader.attempt.closing !== 'open';
  await eventually(isTold, WOKEN_SETTLES_WITHIN_MS, () => `the reader of ${owner.name} is told`);
  assert.equal(completedEnd(reader.attempt), undefined, `${owner.name} acknowledges nothing that is not its own`);
  const isIdle = async () => (await readMetrics(owner.baseUrl)).get('assistant_turns_running') === 0;
  await eventually(isIdle, WOKEN_SETTLES_WITHIN_MS, () => `${owner.name} runs no turn any more`);
  assert.equal(rowsOf(run, conversationId), before, `${owner.name} changed nothing when it woke`);
  const next = intendTurn(run, { deviceId: turn.deviceId, conversationId, ordinal: turn.ordinal + 1 });
  const answered = await sendTurn(run, next, { first: owner });
  assert.ok(answered !== undefined);
  assertWithin(run, answered.number, 1, `tries until ${owner.name} serves again`);
}

/** Every write of an owner checks the epoch, so a node that lost it while it slept cannot commit or acknowledge. */
export async function ownerPaused(ground: Ground, rounds: number): Promise<void> {
  const run = await begin(ground);
  const takenAfterMs: number[] = [];
  const toldAfterMs: number[] = [];
  for (let n = 0; n < rounds; n++) {
    const mid = await answering(run, n);
    run.model.pace(QUICK);
    mid.owner.pause();
    const pausedAtMs = performance.now();
    // What it has sent already is still to be read.
    const answered = await sendTurn(run, mid.turn, { from: 2, avoid: mid.owner });
    takenAfterMs.push(beganAnewAtMs(run, mid.reader.attempt, answered) - pausedAtMs);
    toldAfterMs.push(await onlookerToldAfterMs(mid, pausedAtMs));
    await wake(run, mid);
  }
  await assertClean(run);
  figures(
    run,
    'd',
    `${rounds} pauses of the owner, taken over after ${spread(takenAfterMs)}; readers elsewhere told after ${spread(toldAfterMs)}`,
  );
  assertWithin(run, quantile(takenAfterMs, 1), TAKEN_OVER_WITHIN_MS, 'taken over, in ms');
  assertWithin(run, quantile(toldAfterMs, 1), TAKEN_OVER_WITHIN_MS, 'readers elsewhere told, in ms');
}
