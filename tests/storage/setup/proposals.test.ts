/** Proposals in their rows: what is kept, for how long, and how much of it. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { mintId } from '../../../protocol/ids.ts';
import {
  findRivals,
  findSame,
  listProposals,
  listVerdicts,
  listWaitingProposals,
  PENDING_BYTES_MAX,
  readProposal,
  readWrite,
  transactions,
} from '../../../storage/setup/proposals.ts';
import { transactions as sessions } from '../../../storage/setup/setup-sessions.ts';
import { each } from '../../support/each.ts';
import { addApp, openFiles } from '../migrations/migrated-files.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');

function oneApp(t: TestContext) {
  const files = openFiles(t, NOW);
  const appId = addApp(files, 'Shop', NOW);
  let added = 0;
  const add = (payload: string, sessionId = 'ses_1', more: { subjects?: string[]; replaces?: string[] } = {}) => {
    added += 1;
    const input = { id: mintId('pro', NOW + added), appId, sessionId, kind: 'knowledge' as const, payload, base: 'b', summary: '1 item.' };
    const { subjects = [], replaces = [] } = more;
    return transactions.addProposal(files.db, { ...input, payloadHash: `hash of ${payload}`, subjects, replaces, nowMs: NOW + added });
  };
  return { db: files.db, appId, add };
}

test('PROPOSAL-12: a proposal waits until somebody decides, however many sessions came after its own', (t) => {
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

test('PROPOSAL-12: proposals that wait are bounded in bytes; deciding about one makes room', (t) => {
  const { db, appId, add } = oneApp(t);
  const quarter = (n: number) => String(n).padEnd(PENDING_BYTES_MAX / 4, 'x');
  const ids = [1, 2, 3, 4].map((n) => add(quarter(n)));
  assert.throws(() => add('y'), { code: 'conflict', message: /32 MB/ });
  // What it replaces no longer counts.
  ids[1] = add('y', 'ses_1', { replaces: [ids[1] as string] });
  add(quarter(2).slice(1));
  transactions.decideProposal(db, { id: ids[0] as string, state: 'rejected', reason: null, nowMs: NOW });
  const id = add('"z"');
  assert.equal(readWrite(db, id), 'z');
  assert.equal(listProposals(db, appId, '', 10).length, 7);
});

test('PROPOSAL-14: a proposal that is being applied is no longer rejected, still found, and ends applied or waiting', (t) => {
  const { db, appId, add } = oneApp(t);
  const id = add('{}');
  assert.equal(transactions.beginApplying(db, { id }), true);
  assert.equal(readProposal(db, id)?.state, 'applying');
  assert.deepEqual(each(findSame(db, { appId, kind: 'knowledge', payloadHash: 'hash of {}' }), 'id'), [id]);
  assert.equal(transactions.decideProposal(db, { id, state: 'rejected', reason: null, nowMs: NOW }), false);
  transactions.leaveApplying(db, { id });
  assert.equal(readProposal(db, id)?.state, 'pending');
  transactions.beginApplying(db, { id });
  assert.equal(transactions.decideProposal(db, { id, state: 'approved', reason: null, nowMs: NOW }), true);
  assert.equal(transactions.beginApplying(db, { id }), false);
});

test('PROPOSAL-6: rivals are those of the same session about any of the same things; what is replaced says by what', (t) => {
  const { db, appId, add } = oneApp(t);
  const first = add('1', 'ses_1', { subjects: ['a', 'b'] });
  const other = add('2', 'ses_2', { subjects: ['a'] });
  const apart = add('3', 'ses_1', { subjects: ['c'] });
  const sought = { appId, sessionId: 'ses_1', kinds: ['knowledge'], subjects: ['b', 'x'] };
  assert.deepEqual(findRivals(db, sought), [first]);
  assert.deepEqual(findRivals(db, { ...sought, kinds: ['actions'] }), []);
  const newer = add('4', 'ses_1', { subjects: ['b', 'x'], replaces: [first] });
  assert.deepEqual([readProposal(db, first)?.state, readProposal(db, first)?.replacedBy], ['replaced', newer]);
  assert.deepEqual(findRivals(db, sought), [newer]);
  assert.deepEqual(each(listWaitingProposals(db, appId), 'id'), [other, apart, newer]);
  transactions.decideProposal(db, { id: other, state: 'rejected', reason: 'No.', nowMs: NOW + 50 });
  transactions.replaceProposals(db, { ids: [apart, other], by: null, nowMs: NOW + 60 });
  assert.deepEqual([readProposal(db, apart)?.state, readProposal(db, other)?.state], ['replaced', 'rejected']);
  assert.deepEqual(
    listVerdicts(db, appId, 50).map(({ id, reason }) => [id, reason]),
    [[other, 'No.']],
  );
});

test('PROPOSAL-12: an agent that corrects itself ever so often pushes no verdict out', (t) => {
  const { db, appId, add } = oneApp(t);
  const decided = add('decided');
  transactions.decideProposal(db, { id: decided, state: 'rejected', reason: 'No.', nowMs: NOW });
  let last = add('0');
  for (let n = 1; n <= 300; n++) last = add(String(n), 'ses_1', { replaces: [last] });
  assert.equal(readProposal(db, decided)?.state, 'rejected');
  assert.ok(listProposals(db, appId, '', 1_000).length < 60);
});
