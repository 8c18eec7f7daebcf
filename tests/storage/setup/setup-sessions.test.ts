/** Setup sessions in their rows: how many lines one may have. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  EVENTS_PER_SESSION_MAX,
  type NewSetupEvent,
  readSession,
  readSetupEvents,
  SERVER_EVENTS_SLACK,
  transactions,
} from '../../../storage/setup/setup-sessions.ts';
import { addApp, openFiles } from '../migrations/migrated-files.ts';

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
  assert.deepEqual(
    readSetupEvents(db, sessionId, last - 1, 10).map(({ id }) => id),
    [last - 1, last],
  );
});
