/** Decisions about the proposals of one app are made one after the other, and not without end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { baseOf } from '../../../actors/configuration/checks.ts';
import { approveProposal, rejectProposal } from '../../../actors/configuration/proposals.ts';
import type { WriteServices } from '../../../actors/configuration/writes.ts';
import { grantedLeases } from '../../../actors/leases.ts';
import type { SetupWrite } from '../../../protocol/setup/writes.ts';
import { readDraft } from '../../../storage/apps/drafts.ts';
import { type Proposal, readProposal } from '../../../storage/setup/proposals.ts';
import { type StoredApp, storeApp } from '../setup/app-in-storage.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');
const WAITING_MAX = 240;

test('PROPOSAL-13: when too many decisions of an app wait one more is rate_limited; those before it are made, and then there is room', async (t) => {
  const { storage, organisationId, appId } = await storeApp(t, NOW);
  const services = { storage, nowMs: () => NOW, leases: grantedLeases } as unknown as WriteServices;
  const input = { id: 'pro_1', appId, sessionId: 'ses_1', kind: 'screens' as const, payload: '{}', base: '', summary: 'Screens.' };
  const fresh = { payloadHash: 'a hash', subjects: [], replaces: [] };
  await storage.write(organisationId, 'addProposal', { ...input, ...fresh, nowMs: NOW });
  const db = storage.organisation(organisationId);
  const proposal = readProposal(db, input.id);
  assert.ok(proposal);
  const reject = async (reason: string) => rejectProposal(services, organisationId, proposal, reason);
  const decisions = Array.from({ length: WAITING_MAX }, (_, n) => reject(`decision ${n}`));
  await assert.rejects(reject('one too many'), { code: 'rate_limited' });
  const outcomes = await Promise.allSettled(decisions);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', ...Array(WAITING_MAX - 1).fill('rejected')],
  );
  assert.equal(readProposal(db, input.id)?.reason, 'decision 0');
  await assert.rejects(reject('once more'), { code: 'conflict' });
});

async function proposed({ storage, organisationId, appId }: StoredApp, write: SetupWrite): Promise<Proposal> {
  const db = storage.organisation(organisationId);
  const input = {
    id: 'pro_1',
    appId,
    sessionId: 'ses_1',
    kind: write.kind,
    payload: JSON.stringify(write),
    base: baseOf(db, appId, write),
    ...{ payloadHash: 'a hash', subjects: [], replaces: [] },
  };
  await storage.write(organisationId, 'addProposal', { ...input, summary: 'A write.', nowMs: NOW });
  const proposal = readProposal(db, input.id);
  assert.ok(proposal);
  return proposal;
}

test('PROPOSAL-14: an approval that was cut off once its write was applied is finished by the next one, and cannot be rejected', async (t) => {
  const app = await storeApp(t, NOW);
  const { storage, organisationId, appId } = app;
  const proposal = await proposed(app, { kind: 'experience', patch: { tone: 'Calm.' } });
  const write: typeof storage.write = async (organisation, name, input) => {
    if (name === 'decideProposal') throw new Error('the disk is full');
    return storage.write(organisation, name, input);
  };
  const failing = {
    storage: { ...storage, organisation: (id: string) => storage.organisation(id), write },
    leases: grantedLeases,
    nowMs: () => NOW,
  };
  await assert.rejects(approveProposal(failing as unknown as WriteServices, organisationId, proposal), /disk is full/);
  const db = storage.organisation(organisationId);
  assert.deepEqual([readProposal(db, proposal.id)?.state, readDraft(db, appId)?.experience?.tone], ['applying', 'Calm.']);
  const services = { storage, nowMs: () => NOW, leases: grantedLeases } as unknown as WriteServices;
  await assert.rejects(rejectProposal(services, organisationId, proposal, null), { code: 'conflict', message: /cut off/ });
  await approveProposal(services, organisationId, proposal);
  assert.equal(readProposal(db, proposal.id)?.state, 'approved');
  await assert.rejects(approveProposal(services, organisationId, proposal), { code: 'conflict', message: /decided before/ });
});

test('PROPOSAL-3: an approval that the write itself refuses leaves the proposal waiting, to be rejected', async (t) => {
  const app = await storeApp(t, NOW);
  const theme = { surface: '#ffffff', onSurface: '#111111', accent: '#0b6e4f', onAccent: '#ffffff', logoAssetId: 'ast_gone' };
  const proposal = await proposed(app, { kind: 'appearance', body: { theme } as Extract<SetupWrite, { kind: 'appearance' }>['body'] });
  const services = { storage: app.storage, nowMs: () => NOW, leases: grantedLeases } as unknown as WriteServices;
  await assert.rejects(approveProposal(services, app.organisationId, proposal), { code: 'invalid_appearance' });
  const db = app.storage.organisation(app.organisationId);
  assert.equal(readProposal(db, proposal.id)?.state, 'pending');
  await rejectProposal(services, app.organisationId, proposal, 'No such logo.');
  assert.equal(readProposal(db, proposal.id)?.state, 'rejected');
});
