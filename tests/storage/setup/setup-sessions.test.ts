/** Setup sessions in their rows: how many lines one may have, and how long sessions, codes and tokens are kept. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { transactions as access, hashSecret, mintSetupToken, readToken } from '../../../storage/setup/setup-access.ts';
import {
  EVENTS_PER_SESSION_MAX,
  type NewSetupEvent,
  readSession,
  readSetupEvents,
  SERVER_EVENTS_SLACK,
  transactions,
} from '../../../storage/setup/setup-sessions.ts';
import { each } from '../../support/each.ts';
import { addApp, openApp, openFiles } from '../migrations/migrated-files.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');

test('SETUP-50: a session takes so many lines of its agent and then refuses; the server still says what it did, up to a bound', (t) => {
  const files = openFiles(t, NOW);
  const { db } = files;
  const sessionId = 'ses_1';
  const session = { id: sessionId, appId: addApp(files, 'Shop', NOW), kind: 'setup' as const, state: 'running' };
  transactions.openSetupSession(db, { ...session, snapshot: '{}', panel: '{}', openedAtMs: NOW, expiresAtMs: NOW + 1 });
  const commit = (origin: NewSetupEvent['origin'], count: number) => {
    const revision = readSession(db, sessionId)?.revision ?? 0;
    const line = { step: 'install', status: 'progress', title: 'A line.', detail: null, data: null, origin } as const;
    const change = { state: 'running', snapshot: '{}', panel: '{}', outcome: null, closed: false, detected: null, nowMs: NOW };
    const events = Array.from({ length: count }, () => line);
    const ids = transactions.commitSetupSession(db, { ...change, sessionId, revision, events });
    assert.equal(readSession(db, sessionId)?.revision, revision + 1);
    return ids?.length;
  };
  assert.equal(commit('agent', EVENTS_PER_SESSION_MAX - 1), EVENTS_PER_SESSION_MAX - 1);
  assert.throws(() => commit('agent', 2), { code: 'conflict', message: /10000 events/ });
  assert.equal(commit('agent', 1), 1);
  assert.throws(() => commit('agent', 1), { code: 'conflict' });
  assert.equal(commit('server', SERVER_EVENTS_SLACK - 1), SERVER_EVENTS_SLACK - 1);
  assert.equal(commit('server', 2), 1);
  assert.equal(commit('server', 1), 0);
  const last = EVENTS_PER_SESSION_MAX + SERVER_EVENTS_SLACK;
  assert.deepEqual(each(readSetupEvents(db, sessionId, last - 1, 10), 'id'), [last - 1, last]);
});

test('SETUP-57: an app keeps its last 50 sessions', (t) => {
  const { db, appId } = openApp(t, NOW);
  const change = { snapshot: '{}', panel: '{}', outcome: null, closed: true, detected: null, nowMs: NOW, events: [], revision: 1 };
  const ids = Array.from({ length: 53 }, (_, at) => `ses_${at}`);
  for (const [at, id] of ids.entries()) {
    const times = { openedAtMs: NOW + at, expiresAtMs: NOW + at + 1 };
    assert.ok(transactions.openSetupSession(db, { id, appId, kind: 'setup', state: 'open', snapshot: '{}', panel: '{}', ...times }));
    transactions.commitSetupSession(db, { ...change, sessionId: id, state: 'cancelled' });
  }
  assert.deepEqual(
    ids.slice(-50).filter((id) => readSession(db, id) === undefined),
    [],
  );
  assert.equal(readSession(db, 'ses_0'), undefined);
});

test('SETUP-57: codes and tokens are known for 30 days', (t) => {
  const { control } = openFiles(t, NOW);
  const token = mintSetupToken();
  const session = { sessionId: 'ses_1', organisationId: 'org_1', appId: 'app_1' };
  access.issueFileCode(control, { ...session, codeHash: 'a code', nowMs: NOW });
  assert.equal(access.redeemFileCode(control, { codeHash: 'a code', tokenHash: hashSecret(token), nowMs: NOW }), 'redeemed');
  const days = (count: number) => NOW + count * 24 * 3_600_000;
  for (const [nowMs, told] of [
    [days(30), 'used'],
    [days(30) + 16 * 60_000, 'unknown'],
  ] as const) {
    access.issueFileCode(control, { ...session, sessionId: 'ses_2', codeHash: `of ${nowMs}`, nowMs });
    assert.equal(access.redeemFileCode(control, { codeHash: 'a code', tokenHash: 'another', nowMs }), told);
    assert.equal(readToken(control, token) === undefined, told === 'unknown');
  }
});
