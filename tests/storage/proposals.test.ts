/** Proposals in their rows (decisions §3): what is kept, for how long, and how much of it. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { mintId } from '../../src/protocol/ids.ts';
import { findWaiting, listProposals, PENDING_BYTES_MAX, readProposal, readWrite, transactions } from '../../src/storage/proposals.ts';
import { transactions as sessions } from '../../src/storage/setup-sessions.ts';
import { addApp, openFiles } from './migrated-files.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');

function oneApp(t: TestContext) {
  const files = openFiles(t, NOW);
  const appId = addApp(files, 'Shop', NOW);
  const add = (payload: string, sessionId = 'ses_1') => {
    const input = { id: mintId('pro', NOW), appId, sessionId, kind: 'knowledge' as const, payload, base: 'b', summary: '1 item.' };
    return transactions.addProposal(files.db, { ...input, nowMs: NOW });
  };
  return { db: files.db, appId, add };
}

test('decisions §3: a proposal waits until somebody decides, however many sessions came after its own', (t) => {
  const { db, appId, add } = oneApp(t);
  const open = (n: number) => {
    const id = `ses_${n}`;
    const row = { id, appId, kind: 'sync' as const, state: 'running', snapshot: '{}', panel: '{}' };
    sessions.openSetupSession(db, { ...row, openedAtMs: NOW + n, expiresAtMs: NOW + n + 1 });
    const commit = { sessionId: id, revision: 1, state: 'stopped', snapshot: '{}', panel: '{}', outcome: null };
    sessions.commitSetupSession(db, { ...commit, closed: true, events: [], detected: null, nowMs: NOW + n });
  };
  open(0);
  const id = add('{}', 'ses_0');
  for (let n = 1; n <= 60; n++) open(n);
  assert.deepEqual([readProposal(db, id)?.state, readProposal(db, id)?.sessionId], ['pending', 'ses_0']);
});

test('decisions §3: proposals that wait are bounded in bytes; deciding about one makes room', (t) => {
  const { db, appId, add } = oneApp(t);
  const quarter = (n: number) => String(n).padEnd(PENDING_BYTES_MAX / 4, 'x');
  const ids = [1, 2, 3, 4].map((n) => add(quarter(n)));
  assert.throws(() => add('y'), { code: 'conflict', message: /32 MB/ });
  // The same one sent again is no new one.
  assert.equal(add(quarter(2)), ids[1]);
  transactions.decideProposal(db, { id: ids[0] as string, state: 'rejected', reason: null, nowMs: NOW });
  const id = add('y');
  assert.equal(readWrite(db, id), 'y');
  assert.equal(listProposals(db, appId, '', 10).length, 5);
});

test('decisions §3: one that is being applied is no longer rejected, still found, and ends applied or waiting', (t) => {
  const { db, appId, add } = oneApp(t);
  const id = add('{}');
  assert.equal(transactions.beginApplying(db, { id }), true);
  assert.equal(readProposal(db, id)?.state, 'applying');
  assert.equal(findWaiting(db, { appId, sessionId: 'ses_1', kind: 'knowledge', payload: '{}', base: 'b' }), id);
  assert.equal(transactions.decideProposal(db, { id, state: 'rejected', reason: null, nowMs: NOW }), false);
  transactions.leaveApplying(db, { id });
  assert.equal(readProposal(db, id)?.state, 'pending');
  transactions.beginApplying(db, { id });
  assert.equal(transactions.decideProposal(db, { id, state: 'approved', reason: null, nowMs: NOW }), true);
  assert.equal(transactions.beginApplying(db, { id }), false);
});
