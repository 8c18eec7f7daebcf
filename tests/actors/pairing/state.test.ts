/** Which codes of an app make room for one more, and what becomes of their rows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import { silentAnnouncer } from '../../../actors/announcements.ts';
import { Pairings } from '../../../actors/pairing/pairings.ts';
import { pairingMachine, pairingState, replacedPairings } from '../../../actors/pairing/state.ts';
import { OPEN_PAIRINGS_MAX, type PairingRow, readPairing, readUnclaimed, transactions } from '../../../storage/setup/pairings.ts';
import { addApp, openFiles } from '../../storage/migrations/migrated-files.ts';
import { storeApp } from '../setup/app-in-storage.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');
const CODE = { codeExpiresAtMs: NOW + 1_000, nowMs: NOW };
const CLAIM = { deviceId: 'd', watchedUntilMs: NOW + 2_000, nowMs: NOW };

/** How a row comes to be in each state, and when it is looked at. */
const STATES = {
  open: { claims: false, lookedAtMs: NOW },
  claimed: { claims: true, lookedAtMs: NOW },
  expired: { claims: false, lookedAtMs: NOW + 1_000 },
  over: { claims: true, lookedAtMs: NOW + 2_000 },
} as const;

for (const [state, { claims, lookedAtMs }] of Object.entries(STATES)) {
  test(`PAIRING-5: ${state} × pairing.replaced: the row of the oldest pairing is where the machine says`, (t) => {
    const files = openFiles(t, NOW);
    const appId = addApp(files, 'Shop', NOW);
    const row = (id: string): PairingRow => readPairing(files.db, id) as PairingRow;
    transactions.openPairing(files.db, { ...CODE, id: 'pai_0', appId, codeHash: 'hash_0', replaced: [] });
    if (claims) transactions.claimPairing(files.db, { ...CLAIM, id: 'pai_0', codeExpiresAtMs: CODE.codeExpiresAtMs });
    const code = { codeExpiresAtMs: lookedAtMs + 1_000, nowMs: lookedAtMs };
    for (let n = 1; n < OPEN_PAIRINGS_MAX; n++) {
      transactions.openPairing(files.db, { ...code, id: `pai_${n}`, appId, codeHash: `hash_${n}`, replaced: [] });
    }
    const machine = pairingMachine(row('pai_0'));
    machine.send({ type: 'pairing.expire', nowMs: lookedAtMs });
    assert.equal(machine.state, state);
    const replaced = replacedPairings(readUnclaimed(files.db, appId), lookedAtMs);
    assert.ok(transactions.openPairing(files.db, { ...code, id: 'pai_new', appId, codeHash: 'hash_new', replaced }));
    assert.equal(pairingState(row('pai_0'), lookedAtMs), machine.send({ type: 'pairing.replaced' }).state);
    assert.equal(pairingState(row('pai_1'), lookedAtMs), 'open', 'the others wait on');
  });
}

test('PAIRING-5: pairings that are opened at the same time are never more than may wait', async (t) => {
  const { storage, organisationId, appId } = await storeApp(t, NOW);
  const pairings = new Pairings({
    storage,
    actors: { watchDevice: () => () => {} },
    others: silentAnnouncer,
    log: pino({ level: 'silent' }),
    nowMs: () => NOW,
  });
  t.after(() => pairings.close());
  const app = { id: appId, organisationId };
  const opened = await Promise.all(Array.from({ length: OPEN_PAIRINGS_MAX + 5 }, () => pairings.open(app)));
  const unclaimed = readUnclaimed(storage.organisation(organisationId), appId);
  assert.equal(unclaimed.length, OPEN_PAIRINGS_MAX);
  assert.ok(unclaimed.every(({ id }) => opened.some((one) => one.id === id)));
});
