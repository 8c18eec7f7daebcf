import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addMonths, transactions } from '../../../storage/billing/credit-purchases.ts';
import { countUsers, creditState, isCreditExhaustedLately, noteBought, noteCharged, usageByApp } from '../../../storage/billing/usage.ts';
import { recordCharge, spentToday } from '../../../storage/billing/usage-ledger.ts';
import type { Channel } from '../../../storage/organisations/organisations.ts';
import { transactions as organisations } from '../../../storage/organisations/organisations.ts';
import { insert } from '../../../storage/sqlite/columns.ts';
import { storeConversation, storeTurn } from '../conversations/stored-turns.ts';
import { addApp, type Files, openFiles } from '../migrations/migrated-files.ts';

const USD = 1_000_000;
const NOON = at('2026-01-05');

function at(text: string): number {
  return Date.parse(`${text}T12:00:00.000Z`);
}

function spend(files: Files, day: string, usd: number, channel = 'live', appId = 'app_a'): void {
  const insert = `INSERT INTO usage_days (app_id, channel, day, turns, conversations, cost_microusd) VALUES (:appId, :channel, :day, 2, 1, :cost)
    ON CONFLICT DO UPDATE SET cost_microusd = cost_microusd + :cost`;
  files.db.statement(insert).run({ appId, channel, day, cost: Math.round(usd * USD) });
}

function buy(files: Files, day: string, usd: number): void {
  transactions.addCredit(files.db, { amountMicroUsd: usd * USD, nowMs: at(day) });
}

/** Plan credit left, purchased credit left, overdrawn; in dollars. */
function left(files: Files, day: string): [number, number, number] {
  const state = creditState(files.control, files.db, files.organisationId, at(day));
  return [state.planLeftMicroUsd / USD, state.purchasedLeftMicroUsd / USD, state.overdrawnMicroUsd / USD];
}

function isExhausted(files: Files, day: string): boolean {
  return creditState(files.control, files.db, files.organisationId, at(day)).exhausted;
}

test('LIMIT-16, LIMIT-17: what a turn and its failed attempts cost is counted once, however often it is written', (t) => {
  const files = openFiles(t, NOON);
  const { db } = files;
  const appId = addApp(files, 'Shop', NOON);
  storeConversation(db, { id: 'cnv', appId, deviceId: '' });
  const turn = storeTurn(db, { appId, conversationId: 'cnv', turnId: 'turn' });
  const cost = { model: 'm', inputTokens: 1, outputTokens: 1 };
  for (const again of [false, true]) {
    for (const [attempt, billed, costMicroUsd] of [
      [1, false, 5],
      [2, false, 20],
      [3, true, 100],
    ] as const) {
      const spentMicroUsd = spentToday(db, appId, NOON);
      recordCharge(db, { turn, attempt, appId, channel: 'live', nowMs: NOON }, { ...cost, billed, costMicroUsd });
      assert.equal(spentToday(db, appId, NOON), spentMicroUsd + (again ? 0 : costMicroUsd));
    }
  }
});

test('LIMIT-21: plan credit resets on the first of the month, test keys never spend', (t) => {
  const files = openFiles(t, at('2026-01-05'));
  assert.deepEqual(left(files, '2026-01-05'), [5, 0, 0]);
  spend(files, '2026-01-10', 3);
  spend(files, '2026-01-10', 100, 'sandbox');
  assert.deepEqual(left(files, '2026-01-31'), [2, 0, 0]);
  assert.deepEqual(left(files, '2026-02-01'), [5, 0, 0]);
});

test('LIMIT-21: plan credit is used before purchased credit, which lasts over months', (t) => {
  const files = openFiles(t, at('2026-01-05'));
  buy(files, '2026-01-05', 20);
  spend(files, '2026-01-10', 4);
  assert.deepEqual(left(files, '2026-01-11'), [1, 20, 0]);
  spend(files, '2026-01-12', 3);
  assert.deepEqual(left(files, '2026-01-13'), [0, 18, 0]);
  assert.deepEqual(left(files, '2026-03-13'), [5, 18, 0]);
});

test('LIMIT-21: what was spent in the month and what failed attempts cost are told apart', (t) => {
  const files = openFiles(t, NOON);
  spend(files, '2026-01-03', 1);
  spend(files, '2026-01-05', 2);
  spend(files, '2025-12-31', 1);
  const failed = `INSERT INTO usage_days (app_id, channel, day, failed_microusd) VALUES ('app_b', 'live', '2026-01-05', ${4 * USD})`;
  files.db.exec(failed);
  const { spentMicroUsd, failedMicroUsd } = creditState(files.control, files.db, files.organisationId, NOON);
  assert.deepEqual([spentMicroUsd / USD, failedMicroUsd / USD], [3, 4]);
});

test('LIMIT-22: purchased credit is valid for 12 months, the purchase that expires soonest is used first', (t) => {
  const files = openFiles(t, at('2026-01-05'));
  buy(files, '2026-01-05', 10);
  buy(files, '2026-06-05', 10);
  spend(files, '2026-06-10', 9);
  assert.deepEqual(left(files, '2026-06-11'), [0, 16, 0]);
  assert.deepEqual(left(files, '2027-01-04'), [5, 16, 0]);
  assert.deepEqual(left(files, '2027-01-06'), [5, 10, 0]);
  assert.deepEqual(left(files, '2027-06-06'), [5, 0, 0]);
});

test('LIMIT-23: what was used below zero is deducted from the next credit, bought or of the plan', (t) => {
  const files = openFiles(t, at('2026-01-05'));
  spend(files, '2026-01-10', 12);
  assert.deepEqual(left(files, '2026-01-11'), [0, 0, 7]);
  assert.equal(isExhausted(files, '2026-01-11'), true);
  assert.deepEqual(left(files, '2026-02-02'), [0, 0, 2]);
  assert.equal(isExhausted(files, '2026-02-02'), true);
  buy(files, '2026-02-03', 10);
  assert.deepEqual(left(files, '2026-02-03'), [0, 8, 0]);
  assert.equal(isExhausted(files, '2026-02-03'), false);
  assert.deepEqual(left(files, '2026-03-01'), [5, 8, 0]);
});

test('LIMIT-23: credit is exhausted at zero, not before', (t) => {
  const files = openFiles(t, at('2026-01-05'));
  spend(files, '2026-01-10', 4.999999);
  assert.equal(isExhausted(files, '2026-01-11'), false);
  spend(files, '2026-01-10', 0.000001);
  assert.equal(isExhausted(files, '2026-01-11'), true);
});

test('LIMIT-24: what is remembered of the credit is exact about what was spent and bought, and a second old about all else', (t) => {
  const files = openFiles(t, at('2026-01-05'));
  const nowMs = at('2026-01-10');
  const exhausted = (atMs = nowMs) => isCreditExhaustedLately(files.control, files.db, files.organisationId, atMs);
  const charge = (usd: number) => {
    spend(files, '2026-01-10', usd);
    noteCharged(files.db, usd * USD);
  };
  assert.equal(exhausted(), false);
  charge(4.999999);
  assert.equal(exhausted(), false);
  charge(0.000001);
  assert.equal(exhausted(), true);
  buy(files, '2026-01-10', 10);
  assert.equal(exhausted(), true);
  assert.equal(exhausted(nowMs + 1_000), false);
  charge(10);
  assert.equal(exhausted(nowMs + 1_000), true);
  buy(files, '2026-01-10', 10);
  noteBought(files.db);
  assert.equal(exhausted(nowMs + 1_000), false);
  // A charge that was read from its row already, and is heard of only then, must not use credit up twice.
  spend(files, '2026-01-10', 6);
  assert.equal(exhausted(nowMs + 2_000), false);
  noteCharged(files.db, 6 * USD);
  assert.equal(exhausted(nowMs + 2_000), false);
});

test('LIMIT-21: a change of plan counts for its month on and leaves the months before as they were', (t) => {
  const files = openFiles(t, at('2026-01-05'));
  const { control, organisationId } = files;
  organisations.patchOrganisation(control, { id: organisationId, plan: 'growth', nowMs: at('2026-01-06') });
  spend(files, '2026-01-10', 40);
  organisations.patchOrganisation(control, { id: organisationId, plan: 'free', nowMs: at('2026-02-06') });
  assert.deepEqual(left(files, '2026-02-07'), [5, 0, 0]);
});

test('LIMIT-24: whatever was bought and spent, nothing is lost or made: left − overdrawn is what came in less what went out', (t) => {
  const files = openFiles(t, at('2026-01-05'));
  const event = fc.record({ day: fc.integer({ min: 1, max: 28 }), usd: fc.integer({ min: 10, max: 60 }), bought: fc.boolean() });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 25 }), (events) => {
      files.db.exec('DELETE FROM usage_days; DELETE FROM credit_purchases');
      let balance = 5;
      for (const { day, usd, bought } of events) {
        const date = `2026-01-${String(day).padStart(2, '0')}`;
        if (bought) buy(files, date, usd);
        else spend(files, date, usd);
        balance += bought ? usd : -usd;
      }
      const [plan, purchased, overdrawn] = left(files, '2026-01-29');
      assert.equal(plan + purchased - overdrawn, balance);
      assert.ok(overdrawn === 0 || plan + purchased === 0);
    }),
  );
});

test('LIMIT-22: twelve months later is the same day, or the last one of its month', () => {
  assert.equal(new Date(addMonths(Date.parse('2027-02-28T08:00:00Z'), 12)).toISOString(), '2028-02-28T08:00:00.000Z');
  assert.equal(new Date(addMonths(Date.parse('2028-02-29T08:00:00Z'), 12)).toISOString(), '2029-02-28T08:00:00.000Z');
  assert.equal(new Date(addMonths(Date.parse('2026-12-31T08:00:00Z'), 2)).toISOString(), '2027-02-28T08:00:00.000Z');
});

test('LIMIT-25: usage is told by app and channel, for one month', (t) => {
  const files = openFiles(t, at('2026-01-05'));
  spend(files, '2026-01-31', 2, 'live', 'app_a');
  spend(files, '2026-01-02', 1, 'live', 'app_a');
  spend(files, '2026-01-02', 9, 'sandbox', 'app_b');
  spend(files, '2026-02-01', 50, 'live', 'app_a');
  // Of app_b's attempts on a test key it is not told.
  files.db.statement("UPDATE usage_days SET failed_microusd = 500000 WHERE day = '2026-01-02'").run();
  assert.deepEqual(usageByApp(files.db, '2026-01'), [
    {
      appId: 'app_a',
      liveMicroUsd: 3 * USD,
      failedMicroUsd: 0.5 * USD,
      liveTurns: 4,
      liveConversations: 2,
      sandboxTurns: 0,
      sandboxConversations: 0,
    },
    { appId: 'app_b', liveMicroUsd: 0, failedMicroUsd: 0, liveTurns: 0, liveConversations: 0, sandboxTurns: 2, sandboxConversations: 1 },
  ]);
});

/** An app, and devices and conversations in it as the test states them. */
function population(files: Files, nowMs: number) {
  const appId = addApp(files, 'Shop', nowMs);
  let conversations = 0;
  return {
    person: (id: string) =>
      insert(files.db, 'end_users', { id, appId, channel: 'live', externalUserId: id, verified: true, createdAtMs: 0, updatedAtMs: 0 }),
    talk(deviceId: string, endUserId: string | null, atMs: number, channel: Channel = 'live') {
      conversations += 1;
      storeConversation(files.db, { id: String(conversations), appId, channel, deviceId, endUserId, atMs });
    },
    device: (deviceId: string, endUserId: string | null, seenAtMs: number | null, channel: Channel = 'live') =>
      insert(files.db, 'devices', { appId, channel, deviceId, seenAtMs, endUserId }),
  };
}

test('LIMIT-33: users are live devices of the last 90 days, a person on two devices is one', (t) => {
  const nowMs = at('2026-06-30');
  const files = openFiles(t, nowMs);
  const { person, talk } = population(files, nowMs);
  person('usr_1');
  talk('d1', 'usr_1', nowMs);
  talk('d2', 'usr_1', nowMs);
  talk('d3', null, nowMs);
  talk('d3', null, nowMs);
  talk('d4', null, at('2026-03-01'));
  talk('d5', null, nowMs, 'sandbox');
  talk('', null, nowMs);
  assert.equal(countUsers(files.db, nowMs), 2);
});

test('LIMIT-33: devices that only opened the app count, as their person where they are bound to one or one talked on them', (t) => {
  const nowMs = at('2026-06-30');
  const files = openFiles(t, nowMs);
  const { person, talk, device } = population(files, nowMs);
  for (const id of ['usr_1', 'usr_2', 'usr_3']) person(id);
  device('d1', 'usr_1', nowMs);
  device('d2', 'usr_1', nowMs);
  device('d3', null, nowMs);
  talk('d3', 'usr_2', nowMs);
  talk('d3', null, nowMs);
  device('d4', null, nowMs);
  device('d5', 'usr_3', at('2026-03-01'));
  device('d6', 'usr_3', null);
  device('d7', null, nowMs, 'sandbox');
  // usr_1 on two devices, usr_2 on d3, and d4 of nobody that is known.
  assert.equal(countUsers(files.db, nowMs), 3);
});
