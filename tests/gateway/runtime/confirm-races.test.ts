/** One terminal answer, whatever races. Requests are real, and so is the writer; the clock is the test's. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { invocationDeadlines } from '../../../actors/calls/invocation-deadlines.ts';
import { answerChange } from '../../../actors/calls/invocation-step.ts';
import { readInvocationById } from '../../../storage/conversations/invocations.ts';
import { type AskedRows, EXPIRES_AT_MS, serveAskedRows } from './asked-rows.ts';

const CALLERS = 64;
const ROUNDS = 50;

/** Every third reading is at the end of the time, the others before it: those who answer disagree on whether they are late. */
function edgeOfTime(): () => number {
  let readings = 0;
  return () => EXPIRES_AT_MS - (readings++ % 3 === 0 ? 0 : 1);
}

/** In every other round the first one declines. */
function decisions(id: string, it: AskedRows, round: number) {
  return Array.from({ length: CALLERS }, (_, n) => it.post(id, 'confirm', { decision: (n + round) % 2 === 0 ? 'decline' : 'confirm' }));
}

function assertOneAnswer(answers: readonly { status: number; json: Record<string, unknown> }[], firsts: readonly number[]): string {
  assert.ok(
    answers.every(({ status }) => status === 200),
    JSON.stringify(answers.find(({ status }) => status !== 200)),
  );
  const statuses = new Set(answers.map(({ json }) => json.status));
  assert.equal(statuses.size, 1, `everybody is told the same: ${[...statuses]}`);
  const first = answers.filter(({ json }) => json.already_answered === undefined).length;
  assert.ok(firsts.includes(first), `${first} were told that theirs is the answer`);
  const receipts = new Set(answers.map(({ json }) => json.receipt));
  assert.equal(receipts.size, 1, 'and get the same receipt');
  return String(answers[0]?.json.status);
}

test('CONFIRM-5: 64 confirmations and declines at the moment of expiry have one terminal answer, 50 times', async (t) => {
  const it = await serveAskedRows(t as TestContext, edgeOfTime());
  const outcomes = new Set<string>();
  for (const [round, id] of it.add(ROUNDS).entries()) {
    const status = assertOneAnswer(await Promise.all(decisions(id, it, round)), [1]);
    const { state, card } = it.seen(id);
    assert.deepEqual([state, card], [status, status]);
    outcomes.add(status);
    const late = await it.post(id, 'confirm', { decision: 'confirm' });
    assert.deepEqual([late.json.status, late.json.already_answered], [status, true]);
  }
  assert.deepEqual([...outcomes].sort(), ['confirmed', 'declined', 'expired'], 'each may win');
});

test('CONFIRM-5, CONFIRM-6: the clock that expires cards takes part in the race and does not change an answer', async (t) => {
  const nowMs = edgeOfTime();
  const it = await serveAskedRows(t as TestContext, nowMs);
  const { storage, organisationId } = it.app;
  const clock = invocationDeadlines(storage, () => EXPIRES_AT_MS);
  for (const [round, id] of it.add(ROUNDS).entries()) {
    const answers = decisions(id, it, round);
    const settled = clock.settle(organisationId);
    // When the clock was first, nobody's answer is.
    const status = assertOneAnswer(await Promise.all(answers), [0, 1]);
    await settled;
    assert.deepEqual([it.seen(id).state, it.seen(id).card], [status, status]);
  }
});

test('CONFIRM-13, CONFIRM-16: what was confirmed is what the card showed: a change and confirmations together never confirm unseen values', async (t) => {
  const it = await serveAskedRows(t as TestContext, () => EXPIRES_AT_MS - 1);
  for (const [n, id] of it.add(ROUNDS).entries()) {
    const edit = () => it.post(id, 'edit', { revision: 1, params: { day: 'tuesday' } });
    const confirms = () => Array.from({ length: 8 }, () => it.post(id, 'confirm', { decision: 'confirm' }));
    const [edited, ...answers] =
      n % 2 === 0 ? await Promise.all([edit(), ...confirms()]) : (await Promise.all([...confirms(), edit()])).reverse();
    const { state, revisions, params } = it.seen(id);
    if (edited?.status === 200) assert.deepEqual([edited.json.revision, revisions, params], [2, [2, 2], { day: 'tuesday' }]);
    else assert.deepEqual([edited?.status, state, revisions, params], [400, 'confirmed', [1, 1], { day: 'monday' }]);
    for (const { status } of answers) assert.ok(status === 200 || status === 400, String(status));
    assert.equal(
      state === 'confirmed',
      answers.some(({ status }) => status === 200),
    );
  }
});

test('CONFIRM-6: time is looked at when the answer is read, not when a timer fires', async (t) => {
  let nowMs = EXPIRES_AT_MS - 1;
  const it = await serveAskedRows(t as TestContext, () => nowMs);
  const [inTime, late, changed] = it.add(3) as [string, string, string];
  assert.equal((await it.post(inTime, 'confirm', { decision: 'confirm' })).json.status, 'confirmed');
  nowMs = EXPIRES_AT_MS;
  assert.deepEqual((await it.post(late, 'confirm', { decision: 'confirm' })).json, { status: 'expired' });
  assert.deepEqual((await it.post(late, 'confirm', { decision: 'decline' })).json, { status: 'expired', already_answered: true });
  assert.equal((await it.post(inTime, 'confirm', { decision: 'decline' })).json.status, 'confirmed', 'what was confirmed does not expire');
  const edited = await it.post(changed, 'edit', { revision: 1, params: { day: 'tuesday' } });
  assert.deepEqual([edited.status, it.seen(changed).state, it.seen(changed).card], [400, 'expired', 'expired']);
});

test('CONFIRM-16: while a change is in flight confirm is 400 and decline is allowed; a start puts back what a crash left in flight', async (t) => {
  const it = await serveAskedRows(t as TestContext, () => EXPIRES_AT_MS - 1);
  const [declined, resumed] = it.add(2, 'pending.editing') as [string, string];
  for (const id of [declined, resumed]) {
    const refused = await it.post(id, 'confirm', { decision: 'confirm' });
    assert.deepEqual([refused.status, (refused.json.error as { code: string }).code], [400, 'invalid_request']);
    assert.equal((await it.post(id, 'edit', { revision: 1, params: { day: 'tuesday' } })).status, 400, 'one change at a time');
  }
  assert.deepEqual((await it.post(declined, 'confirm', { decision: 'decline' })).json, { status: 'declined' });
  await it.confirmations.resume(it.app.organisationId);
  assert.deepEqual([it.seen(resumed).state, it.seen(resumed).editState, it.seen(declined).state], ['pending.clean', 'idle', 'declined']);
  assert.equal((await it.post(resumed, 'confirm', { decision: 'confirm' })).json.status, 'confirmed');
});

test('CONFIRM-7: a recorded confirmation is good for a day; the answer stays, and nothing comes of it any more', async (t) => {
  const DAY_MS = 24 * 3_600_000;
  let nowMs = EXPIRES_AT_MS - 1;
  const it = await serveAskedRows(t as TestContext, () => nowMs);
  const { storage, organisationId } = it.app;
  const [id = ''] = it.add(1);
  assert.equal((await it.post(id, 'confirm', { decision: 'confirm' })).json.status, 'confirmed');
  const db = storage.organisation(organisationId);
  const answered = () => {
    const row = readInvocationById(db, id);
    assert.ok(row !== undefined);
    return answerChange(row, { invocation_id: id, status: 'ok', confirmed: true }, true, nowMs).change?.to;
  };
  const clock = invocationDeadlines(storage, () => nowMs);
  nowMs += DAY_MS - 1;
  await clock.settle(organisationId);
  assert.deepEqual([it.seen(id).state, answered()], ['confirmed', 'succeeded']);
  nowMs += 1;
  assert.equal(answered(), 'expired', 'whoever reads it finds it too old');
  await clock.settle(organisationId);
  assert.deepEqual([it.seen(id).state, it.seen(id).card], ['expired', 'confirmed']);
  const again = await it.post(id, 'confirm', { decision: 'decline' });
  assert.deepEqual([again.json.status, again.json.already_answered], ['confirmed', true]);
});
